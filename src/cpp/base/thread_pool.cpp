#include "base/thread_pool.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "base/process.h"

namespace pyengine {
namespace {

/// Members of optional crews, enough for one run on any common machine. More threads would only
/// compete for cores.
int most_optional() noexcept {
  constexpr unsigned kLeast = 64;
  constexpr unsigned kPerCore = 4;
  return static_cast<int>(std::max(kLeast, kPerCore * std::thread::hardware_concurrency()));
}

}  // namespace

/// One mutex guards all crews. It is held for a few instructions, once or twice per thread of a
/// run, and never while another lock is held or other code is called.
class ThreadPool {
 public:
  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() = default;

  /// A forked child gets a new pool. The pool is never destroyed, because its threads stay idle
  /// until the process exits.
  static ThreadPool& of_process() {
    static auto& pools = *new OfProcess<ThreadPool>;
    return pools.get();
  }

  void open(Crew& crew, int members) {
    const std::lock_guard lock(mutex_);
    try {
      const auto places = static_cast<std::size_t>(members);
      if (crew.taken_.size() < places) crew.taken_.resize(places, 0);
      if (std::find(open_.begin(), open_.end(), &crew) == open_.end()) open_.push_back(&crew);
      crew.wanted_ = members;
      ++crew.openings_;
      make_threads();
    } catch (...) {
      withdraw(crew);
      throw;
    }
    for (int called = crew.short_of(); called > 0 && !idle_.empty(); --called) call_last();
    balance();
  }

  void close(Crew& crew) noexcept {
    std::unique_lock lock(mutex_);
    withdraw(crew);
    crew.left_.wait(lock, [&] { return crew.members_ == 0; });
  }

  [[nodiscard]] int threads() {
    const std::lock_guard lock(mutex_);
    return threads_;
  }

 private:
  struct Idle {
    std::condition_variable condition;
    bool called = false;
  };

  // --- all of these require the mutex
  /// Creates the threads that open crews lack, up to the limit. Throws std::system_error if an
  /// essential one cannot be created.
  void make_threads() {
    int required = members_;
    int essential = members_;
    int most = most_;
    for (const Crew* crew : open_) {
      required += crew->short_of();
      if (crew->need_ == Crew::Need::optional) continue;
      essential += crew->short_of();
      most += crew->wanted_;
    }
    const int useful = std::max(essential, std::min(required, most));
    try {
      while (threads_ < useful) make_thread();
    } catch (const std::exception&) {
      if (threads_ < essential) throw;
    }
  }

  void make_thread() {
    idle_.reserve(static_cast<std::size_t>(threads_) + 1);
    std::thread([this] { live(); }).detach();
    ++threads_;
  }

  /// The thread that became idle last, because its caches are warm.
  void call_last() noexcept {
    Idle* last = idle_.back();
    idle_.pop_back();
    last->called = true;
    last->condition.notify_one();
  }

  void withdraw(Crew& crew) noexcept {
    crew.wanted_ = 0;
    std::erase(open_, &crew);
    take_back_request(crew);
  }

  void live() {
    Idle idle;
    std::unique_lock lock(mutex_);
    for (;;) {
      while (Crew* crew = neediest()) serve(*crew, lock);
      idle.called = false;
      idle_.push_back(&idle);
      idle.condition.wait(lock, [&] { return idle.called; });
    }
  }

  /// The crew to join: one with essential members first, else the one with the fewest members;
  /// nullptr if no crew lacks members.
  [[nodiscard]] Crew* neediest() const noexcept {
    const auto before = [](const Crew* one, const Crew* other) {
      if (one->need_ != other->need_) return one->need_ == Crew::Need::essential;
      return one->members_ < other->members_;
    };
    Crew* best = nullptr;
    for (Crew* crew : open_) {
      if (crew->short_of() > 0 && (best == nullptr || before(crew, best))) best = crew;
    }
    return best;
  }

  void serve(Crew& crew, std::unique_lock<std::mutex>& lock) noexcept {
    const auto place = std::find(crew.taken_.begin(), crew.taken_.end(), 0);
    const std::uint64_t opening = crew.openings_;
    *place = 1;
    ++crew.members_;
    ++members_;
    balance();
    const auto index = static_cast<std::size_t>(place - crew.taken_.begin());
    lock.unlock();
    const bool goes_on = crew.work_(index);
    lock.lock();
    crew.taken_[index] = 0;
    --crew.members_;
    --members_;
    take_back_request(crew);
    if (!goes_on && crew.openings_ == opening) withdraw(crew);
    if (crew.members_ == 0)
      crew.left_.notify_all();  // under the mutex, since the crew may be destroyed next
  }

  /// If no thread is free for a crew that lacks members, asks a larger crew to release one. Only
  /// one request is pending at a time; the released thread makes the next one.
  void balance() noexcept {
    if (asked_ != nullptr || threads_ > members_) return;
    const Crew* poorest = neediest();
    if (poorest == nullptr) return;
    for (Crew* crew : open_) {
      if (crew->need_ == Crew::Need::essential) continue;
      if (asked_ == nullptr || crew->members_ > asked_->members_) asked_ = crew;
    }
    if (asked_ == nullptr) return;
    if (asked_->members_ <= poorest->members_ + 1) {
      asked_ = nullptr;
      return;
    }
    asked_->lets_go_.store(true, std::memory_order_relaxed);
  }

  void take_back_request(Crew& crew) noexcept {
    if (asked_ != &crew) return;
    asked_ = nullptr;
    crew.lets_go_.store(false, std::memory_order_relaxed);
  }

  const int most_ = most_optional();
  std::mutex mutex_;
  int threads_ = 0;
  int members_ = 0;          ///< of all crews
  std::vector<Idle*> idle_;  ///< most recently active last
  std::vector<Crew*> open_;  ///< crews
  Crew* asked_ = nullptr;    ///< to release a member
};

void Crew::open(int members) {
  try {
    pool_ = &ThreadPool::of_process();
    pool_->open(*this, members);
  } catch (const std::exception&) {
    if (need_ == Need::essential) throw;
  }
}

void Crew::close() noexcept {
  if (pool_ != nullptr) pool_->close(*this);
}

int pool_threads() { return ThreadPool::of_process().threads(); }

}  // namespace pyengine
