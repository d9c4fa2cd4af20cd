/// The threads of a Pipeline: how they start, look for work, sleep and end.
#include <algorithm>
#include <utility>

#include "search/pipeline.h"

namespace pyengine {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(5);

}  // namespace

void Pipeline::start_threads(int workers) {
  // workers_[i + 1] is used by threads_[i], which may be the one that cannot be had.
  while (static_cast<int>(threads_.size()) < workers - 1) {
    const std::size_t index = threads_.size() + 1;
    if (workers_.size() <= index) workers_.push_back(std::make_unique<Worker>());
    threads_.emplace_back([this, index] { worker_thread(index); });
  }
  // One more than it serves at once: the next batch is handed over before the device is done.
  const int servers = traits_.device_batches > 0 ? traits_.device_batches + 1 : 0;
  while (static_cast<int>(device_threads_.size()) < servers) {
    device_threads_.emplace_back([this] { device_thread(); });
  }
}

void Pipeline::worker_thread(std::size_t index) {
  std::uint64_t last_run = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] {
      return closing_ ||
          (running_ && run_number_ != last_run && static_cast<int>(index) <= active_);
    });
    if (closing_) return;
    last_run = run_number_;
    Worker& worker = *workers_[index];
    lock.unlock();
    work(worker, false);
    lock.lock();
    --working_;
    ended_.notify_all();
  }
}

void Pipeline::device_thread() {
  std::unique_lock lock(mutex_);
  for (;;) {
    served_.wait(lock, [&] { return closing_ || !ready_.empty(); });
    if (closing_) return;
    Slot* slot = ready_.front();
    ready_.pop_front();
    ++judging_;
    lock.unlock();
    judge(*slot);
    lock.lock();
    --judging_;
    judged_.push_back(slot);
    ++events_;
    if (sleepers_ != 0) changed_.notify_one();  // one slot, one worker
  }
}

/// Before anything of a run has begun: positions change under a succession.
void Pipeline::prepare_worker(Worker& worker, const TreeSearch& first) {
  worker.last = nullptr;
  if (!worker.walker) worker.walker = make_walker(first.root().position());
  worker.selector.configure(first.config());
  if (worker.allocator.arena() != first.tree().shared_arena()) {
    worker.allocator = Allocator(first.tree().shared_arena());
  }
}

void Pipeline::work(Worker& worker, bool caller) {
  for (;;) {
    std::uint64_t seen = 0;
    {
      // Under the mutex nobody enters a search: what over() reads piece by piece is one state.
      const std::lock_guard lock(mutex_);
      if (over()) break;
      seen = events_;
    }
    bool busy = true;
    try {
      if (caller) poll();
      busy = step(worker, caller);
    } catch (...) {
      fail(std::current_exception());
    }
    if (!busy) wait(seen, caller);
  }
  signal();
}

/// Ends the run once every root is judged: a result without a move would be of no use.
bool Pipeline::end_early(RunEnd end) {
  const std::lock_guard lock(mutex_);
  closing_searches_.store(true, std::memory_order_relaxed);
  bool judged = true;
  for (TreeSearch* search : searches_) {
    if (search->root_ready()) search->close();
    judged = judged && (search->root_ready() || search->closed());
  }
  if (end_ == RunEnd::completed) end_ = end;
  if (judged) ending_.store(true, std::memory_order_relaxed);
  return judged;
}

void Pipeline::poll() {
  if (ending_.load(std::memory_order_relaxed)) return;
  const bool stop = host_stops_ || options_.stop->load(std::memory_order_relaxed);
  if (stop && end_early(RunEnd::stopped)) return;
  const Clock::time_point now = Clock::now();
  if (options_.deadline && now >= *options_.deadline && end_early(RunEnd::deadline)) return;
  if (now - last_poll_ < kPollEvery) return;
  last_poll_ = now;
  if (!host_->poll()) host_stops_ = true;
}

void Pipeline::wait(std::uint64_t seen, bool caller) {
  const Clock::time_point begun = Clock::now();
  std::unique_lock lock(mutex_);
  const auto news = [&] { return events_ != seen; };
  ++sleepers_;
  if (caller) {
    auto until = begun + kPollEvery;
    if (options_.deadline) until = std::min(until, *options_.deadline);
    changed_.wait_until(lock, until, news);
  } else {
    changed_.wait(lock, news);
  }
  --sleepers_;
  lock.unlock();
  const auto waited = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begun);
  waited_ns_.fetch_add(static_cast<std::uint64_t>(waited.count()), std::memory_order_relaxed);
}

}  // namespace pyengine
