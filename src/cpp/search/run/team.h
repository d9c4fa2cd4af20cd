/// Who works and who sleeps: threads that are kept from run to run, the one mutex of a run, and the
/// sleep of those that find nothing to do.
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
#include <thread>
#include <utility>
#include <vector>

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

  Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() { close(); }

  [[nodiscard]] Pass pass() { return Pass(*this); }

  // --- threads
  /// At least so many helpers of the caller, who is worker 0; helper i runs `work(i)` once a run,
  /// i >= 1. Throws std::system_error where a thread cannot be had; those that there are stay.
  void hire(int helpers, const std::function<void(std::size_t)>& work);
  /// At least so many servers, each of which runs `serve()` until closing().
  void hire_servers(int servers, const std::function<void()>& serve);
  /// The first `helpers` begin to work, the caller with them. Within a pass.
  void begin_run(int helpers);
  /// Waits until they have left work(). Within a pass.
  void end_run(Pass& pass);
  /// Within a pass.
  [[nodiscard]] bool closing() const noexcept { return closing_; }
  /// Ends and joins all threads; not during a run.
  void close();

  // --- sleep; within a pass
  void sleep(Pass& pass);
  /// The calling thread's, which wakes by itself as well.
  void sleep_until(Pass& pass, Clock::time_point until);
  void sleep_as_server(Pass& pass);
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
    bool helpers = false;  ///< to a run
    bool all = false;      ///< that work and sleep
  };

  void help(std::size_t index, const std::function<void(std::size_t)>& work);
  void call(const Calls& due) noexcept;
  template <class Woken>
  void wait(Pass& pass, std::condition_variable& condition, const Woken& woken);
  void count_sleep(Clock::time_point begun) noexcept;

  mutable std::mutex mutex_;
  std::uint64_t passes_ = 0;
  std::uint64_t wake_ups_ = 0;
  Calls calls_;  ///< of the pass under way

  std::condition_variable workers_;  ///< sleeping helpers
  std::condition_variable caller_;
  std::condition_variable servers_;
  std::condition_variable started_;  ///< helpers wait for a run
  std::condition_variable ended_;    ///< the caller waits for helpers

  int asleep_ = 0;       ///< helpers
  bool waking_ = false;  ///< one of them was woken and does not know it yet
  bool caller_asleep_ = false;
  bool caller_waking_ = false;
  int servers_asleep_ = 0;
  bool server_waking_ = false;
  std::uint64_t calls_for_all_ = 0;  ///< of wake_all()

  std::vector<std::thread> helpers_;
  std::vector<std::thread> server_threads_;
  std::uint64_t run_ = 0;  ///< number
  int active_ = 0;         ///< helpers to take part in the run
  int working_ = 0;        ///< helpers still in it
  bool closing_ = false;
  std::atomic<std::uint64_t> slept_ns_{0};
};

}  // namespace pyengine
