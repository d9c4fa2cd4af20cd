/// The threads of the process, which many runs share.
///
/// A run opens a crew, and threads of the pool join it while it is open:
///
///   idle ──open()──▶ a place of the crew ──work(place)──▶ it returns ──▶ another crew, or idle
///
/// Whoever opens a crew never depends on its members, unless they are essential: a run's own thread
/// does what they would do. A thread that is free joins the crew with the fewest members among
/// those that are short of some. Where all threads are taken, a crew with more members than another
/// is asked to let one go: so runs that compete have equal shares.
///
/// The pool makes threads as they are needed and keeps them. It never ends one: libraries keep
/// state per thread (ONNX Runtime a context of CUDA), whose destruction would fall at any moment.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace pyengine {

class ThreadPool;

class Crew {
 public:
  /// Whether the work needs its members, or would be done without them.
  enum class Need : std::uint8_t { optional, essential };
  /// What a member does at its place, which no other member has meanwhile. Returns whether others
  /// may take the place; false closes the crew to further members. Must not throw.
  using Work = std::function<bool(std::size_t place)>;

  Crew(Work work, Need need) : work_(std::move(work)), need_(need) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  /// Closes the crew.
  ~Crew() { close(); }

  /// Up to so many threads are members from now on, at least one, in places [0, members). Throws
  /// std::system_error or std::bad_alloc where an essential one cannot be had; of an optional crew
  /// they may be fewer, or none.
  void open(int members);
  /// Nobody joins any more. Returns when all members have left.
  void close() noexcept;
  /// Asked by members between two pieces of work: true for one that is to return true now, since
  /// another crew needs it more.
  [[nodiscard]] bool lets_one_go() noexcept {
    return lets_go_.load(std::memory_order_relaxed) &&
        lets_go_.exchange(false, std::memory_order_relaxed);
  }

 private:
  friend class ThreadPool;
  [[nodiscard]] int short_of() const noexcept {
    return wanted_ > members_ ? wanted_ - members_ : 0;
  }

  const Work work_;
  const Need need_;
  std::atomic<bool> lets_go_{false};

  ThreadPool* pool_ = nullptr;  ///< which has it in its list
  // Guarded by the pool's mutex.
  int wanted_ = 0;  ///< 0 = closed
  int members_ = 0;
  std::uint64_t openings_ = 0;
  std::vector<char> taken_;  ///< places
  std::condition_variable left_;
};

/// Threads of the pool in this process, those that are idle included.
[[nodiscard]] int pool_threads();

}  // namespace pyengine
