/// Detects what ends a run before its budgets are spent: the stop flag, a deadline or the host.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "search/run/team.h"

namespace pyengine {

/// The caller's side of a run. poll() is called on the calling thread about every 5 ms, except
/// while that thread evaluates. It returns false to stop the run. If it throws, the run stops and
/// the exception is passed on.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;
  virtual bool poll() = 0;
};

/// Why a run ended early, if it did.
enum class RunEnd : std::uint8_t { completed, deadline, stopped };

/// Watches one run, on its calling thread.
class Watch {
 public:
  Watch(Host& host, const std::atomic<bool>& stop, std::optional<Clock::time_point> deadline)
      : host_(host), stop_(stop), deadline_(deadline), last_poll_(Clock::now()) {}

  /// Why the run should end now; nullopt if it should continue.
  [[nodiscard]] std::optional<RunEnd> due() const noexcept {
    if (host_stops_ || stop_.load(std::memory_order_relaxed)) return RunEnd::stopped;
    if (deadline_ && Clock::now() >= *deadline_) return RunEnd::deadline;
    return std::nullopt;
  }
  /// Polls the host when it is due. Passes on its exceptions.
  void poll_host() {
    const Clock::time_point now = Clock::now();
    if (now - last_poll_ < kPollEvery) return;
    last_poll_ = now;
    if (!host_.poll()) host_stops_ = true;
  }
  /// The latest time of the next check.
  [[nodiscard]] Clock::time_point next_look() const noexcept {
    const Clock::time_point next = Clock::now() + kPollEvery;
    return deadline_ ? std::min(next, *deadline_) : next;
  }

 private:
  static constexpr auto kPollEvery = std::chrono::milliseconds(5);

  Host& host_;
  const std::atomic<bool>& stop_;
  const std::optional<Clock::time_point> deadline_;
  Clock::time_point last_poll_;
  bool host_stops_ = false;
};

}  // namespace pyengine
