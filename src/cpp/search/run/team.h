/// Who works and who sleeps: the threads that the process lends to a run, the one mutex of the run,
/// and the sleep of those that find nothing to do.
///
/// Invariant: a worker looks for work and falls asleep in one pass through the mutex, and whoever
/// makes work wakes a sleeper in the pass in which it makes it; so no work is overlooked. One
/// worker at most is on its way awake. It wakes the next one if it finds more than it takes: so
/// wake-ups follow the work, not the number of threads.
///
/// Knows nothing of searches and batches: what the threads do is given as functions.
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
  /// A hold on the mutex, counted: passes are what threads wait for each other. A thread that is
  /// woken within it is called after it, as it would only wait for the mutex.
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

  /// Helper i >= 1 runs `work(i)`, the caller being worker 0. It returns whether the work goes on:
  /// it ends, or another needs the thread more. A server runs `serve()`.
  Team(std::function<bool(std::size_t)> work, std::function<void()> serve);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() { close(); }

  [[nodiscard]] Pass pass() { return Pass(*this); }

  // --- threads
  /// So many servers from now on. Throws std::system_error where a thread cannot be had.
  void open_servers(int servers) { servers_.open(servers); }
  /// Up to so many helpers begin to work, as threads are free, the caller with them. Within a pass.
  void begin_run(int helpers);
  /// Waits until the helpers have left. Not within a pass.
  void end_run();
  /// Asked by a helper within a pass in which it does not sleep: whether it is to leave at once.
  [[nodiscard]] bool lets_one_go() noexcept { return helpers_.lets_one_go(); }
  /// Waits until all threads have left; not during a run.
  void close();

  // --- sleep; within a pass
  void sleep(Pass& pass);
  /// The calling thread's, which wakes by itself as well.
  void sleep_until(Pass& pass, Clock::time_point until);
  /// False where the server is to leave: the team closes, or has not run for a while.
  [[nodiscard]] bool sleep_as_server(Pass& pass);
  /// A worker sleeps and none is on its way awake.
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

  // --- counters since this object was made
  [[nodiscard]] std::uint64_t passes() const noexcept { return passes_; }
  [[nodiscard]] std::uint64_t wake_ups() const noexcept { return wake_ups_; }
  /// Nanoseconds that workers slept. At any time, from any thread.
  [[nodiscard]] std::uint64_t slept_ns() const noexcept {
    return slept_ns_.load(std::memory_order_relaxed);
  }

 private:
  /// Threads that are to be called.
  struct Calls {
    bool worker = false;
    bool caller = false;
    bool server = false;
    bool all = false;  ///< that work and sleep
  };

  void call(const Calls& due) noexcept;
  void count_sleep(Clock::time_point begun) noexcept;

  mutable std::mutex mutex_;
  std::uint64_t passes_ = 0;
  std::uint64_t wake_ups_ = 0;
  Calls calls_;  ///< of the pass under way

  std::condition_variable worker_called_;  ///< sleeping helpers
  std::condition_variable caller_called_;
  std::condition_variable server_called_;

  int asleep_ = 0;       ///< helpers
  bool waking_ = false;  ///< one of them was woken and does not know it yet
  bool caller_asleep_ = false;
  bool caller_waking_ = false;
  int servers_asleep_ = 0;
  bool server_waking_ = false;
  std::uint64_t calls_for_all_ = 0;  ///< of wake_all()

  bool running_ = false;
  bool closing_ = false;
  std::atomic<std::uint64_t> slept_ns_{0};

  Crew helpers_;
  Crew servers_;  ///< they stay for a while after a run: the next one finds them awake to it
};

}  // namespace pyengine
