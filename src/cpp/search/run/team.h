/// The threads that the process lends to a run, the run's only mutex, and the sleep of threads
/// without work.
///
/// Invariant: a worker checks for work and falls asleep in one pass through the mutex, and a thread
/// that creates work wakes a sleeper in the same pass; so no work is overlooked. At most one worker
/// is waking up at a time. It wakes the next one if there is more work than it takes, so the number
/// of wake-ups depends on the work and not on the number of threads.
///
/// Independent of searches and batches: the work is passed as functions.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "base/thread_pool.h"

namespace pyengine {

using Clock = std::chrono::steady_clock;

class Team {
 public:
  /// A lock on the mutex that is counted. A thread that is woken during a pass is notified when the
  /// pass ends, because it would only wait for the mutex.
  class Pass {
   public:
    explicit Pass(Team& team) : team_(team), lock_(team.mutex_) { ++team.passes_; }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() {
      if (lock_.owns_lock()) unlock();
    }
    void lock() {
      lock_.lock();
      ++team_.passes_;
    }
    void unlock() noexcept {
      const Calls due = std::exchange(team_.calls_, {});
      lock_.unlock();
      team_.call(due);
    }

   private:
    friend class Team;
    Team& team_;
    std::unique_lock<std::mutex> lock_;
  };

  /// Helper i >= 1 runs `work(i)`; the caller is worker 0. `work` returns whether the helper leaves
  /// because another run needs the thread. A server runs `serve()`.
  Team(std::function<bool(std::size_t)> work, std::function<void()> serve);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() { close(); }

  [[nodiscard]] Pass pass() { return Pass(*this); }

  // --- threads
  /// Sets the number of servers. Throws std::system_error if a thread cannot be started.
  void open_servers(int servers) { servers_.open(servers); }
  /// Starts up to `helpers` helpers beside the caller, as threads become free. Call within a pass.
  void begin_run(int helpers);
  /// Waits until the helpers have left. Must not be called within a pass.
  void end_run();
  /// Whether the calling helper should leave. Call within a pass in which it does not sleep.
  [[nodiscard]] bool lets_one_go() noexcept { return helpers_.lets_one_go(); }
  /// Waits until all threads have left. Must not be called during a run.
  void close();

  // --- sleep; within a pass
  void sleep(Pass& pass);
  /// For the calling thread, which also wakes by itself.
  void sleep_until(Pass& pass, Clock::time_point until);
  /// Returns false if the server should leave: the team is closing, or has been idle for a while.
  [[nodiscard]] bool sleep_as_server(Pass& pass);
  /// Whether a worker is asleep and none is waking up.
  [[nodiscard]] bool can_wake_worker() const noexcept { return asleep_ != 0 && !waking_; }
  [[nodiscard]] bool worker_wakes() const noexcept { return waking_; }
  [[nodiscard]] bool can_wake_caller() const noexcept { return caller_asleep_ && !caller_waking_; }
  [[nodiscard]] bool can_wake_server() const noexcept {
    return servers_asleep_ != 0 && !server_waking_;
  }
  void wake_worker() noexcept;
  void wake_caller() noexcept;
  void wake_server() noexcept;
  void wake_all() noexcept;

  // --- counters since construction
  [[nodiscard]] std::uint64_t passes() const noexcept { return passes_; }
  [[nodiscard]] std::uint64_t wake_ups() const noexcept { return wake_ups_; }
  /// Total nanoseconds that workers slept. Callable at any time from any thread.
  [[nodiscard]] std::uint64_t slept_ns() const noexcept {
    return slept_ns_.load(std::memory_order_relaxed);
  }

 private:
  /// Threads to notify at the end of the pass.
  struct Calls {
    bool worker = false;
    bool caller = false;
    bool server = false;
    bool all = false;  ///< workers and servers
  };

  void call(const Calls& due) noexcept;
  void count_sleep(Clock::time_point start_time) noexcept;

  mutable std::mutex mutex_;
  std::uint64_t passes_ = 0;
  std::uint64_t wake_ups_ = 0;
  Calls calls_;  ///< made in the current pass

  std::condition_variable worker_called_;  ///< sleeping helpers
  std::condition_variable caller_called_;
  std::condition_variable server_called_;

  int asleep_ = 0;       ///< helpers
  bool waking_ = false;  ///< one of them was notified and has not woken up yet
  bool caller_asleep_ = false;
  bool caller_waking_ = false;
  int servers_asleep_ = 0;
  bool server_waking_ = false;
  std::uint64_t calls_for_all_ = 0;  ///< number of wake_all() calls

  bool running_ = false;
  bool closing_ = false;
  std::atomic<std::uint64_t> slept_ns_{0};

  Crew helpers_;
  Crew servers_;  ///< stay for a while after a run, so that the next run finds them awake
};

}  // namespace pyengine
