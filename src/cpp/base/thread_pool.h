/// The thread pool of the process, shared by all runs.
///
/// A run opens a crew, and threads of the pool join it while it is open:
///
///   idle ──open()──▶ a place in a crew ──work(place)──▶ returns ──▶ another crew, or idle
///
/// The owner of a crew must not depend on optional members: it does their work if they never join.
/// A free thread joins the crew with the fewest members among those below their target. If all
/// threads are busy, a larger crew is asked to release one, so that competing runs get equal
/// shares.
///
/// The pool creates threads on demand and never ends them: libraries keep state per thread (ONNX
/// Runtime a CUDA context), and destroying it at an arbitrary moment is not safe.
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
  /// Whether the run depends on its members.
  enum class Need : std::uint8_t { optional, essential };
  /// The work of a member at its place, which is exclusive. Returns whether others may take the
  /// place afterwards; false closes the crew to new members. Must not throw.
  using Work = std::function<bool(std::size_t place)>;

  Crew(Work work, Need need) : work_(std::move(work)), need_(need) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  /// Closes the crew.
  ~Crew() { close(); }

  /// Sets the target to `members` threads, at least one, in places [0, members). Throws
  /// std::system_error or std::bad_alloc if an essential thread cannot be created. An optional crew
  /// may get fewer threads, or none.
  void open(int members);
  /// Stops new members from joining and waits until all members have left.
  void close() noexcept;
  /// Called by members between two pieces of work. True asks the member to return now, because
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

  ThreadPool* pool_ = nullptr;  ///< whose list contains this crew
  // Guarded by the pool's mutex:
  int wanted_ = 0;  ///< 0 = closed
  int members_ = 0;
  std::uint64_t openings_ = 0;
  std::vector<char> taken_;  ///< by place
  std::condition_variable left_;
};

/// Number of threads in the pool, including idle ones.
[[nodiscard]] int pool_threads();

}  // namespace pyengine
