/// Limits that end a path search early: memory, time, and the caller.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>

namespace pyengine::astar {

/// Why a search ended.
enum class StopReason : std::uint8_t { found, exhausted, seconds, memory, stopped };
[[nodiscard]] const char* to_string(StopReason reason) noexcept;

/// Counters of a search so far.
struct Counts {
  std::uint64_t expanded = 0;   ///< nodes whose successors were generated, counted every time
  std::uint64_t generated = 0;  ///< generated successors, including known ones
  std::uint64_t reopened = 0;   ///< closed nodes reopened by a cheaper path
};

/// Thrown when a limit is reached; a search's run() turns it into its result.
class Stopped final : public std::exception {
 public:
  explicit Stopped(StopReason reason) noexcept : reason_(reason) {}
  [[nodiscard]] StopReason reason() const noexcept { return reason_; }
  [[nodiscard]] const char* what() const noexcept override { return to_string(reason_); }

 private:
  StopReason reason_;
};

/// The limits of one call. For one thread.
class Limits {
 public:
  /// Called about every 20 ms; false stops the search. It may throw.
  using Poll = std::function<bool(const Counts&)>;

  /// Expanding a puzzle node takes 30 ns, so the clock is checked about every 8 us.
  static constexpr std::uint32_t kTicks = 256;

  /// `seconds`: from now on. `ticks`: expansions between two clock checks.
  Limits(std::uint64_t memory_bytes, std::optional<double> seconds, Poll poll,
         std::uint32_t ticks = kTicks);

  /// Called for each expansion. Throws Stopped; the poll may throw too.
  void tick(const Counts& counts) {
    if (--ticks_left_ > 0) [[likely]]
      return;
    ticks_left_ = ticks_;
    check(counts);
  }
  /// Checks immediately whether the search must end.
  void check(const Counts& counts);
  /// Checks only the clock. Throws Stopped.
  void check_time() const;
  /// Accounts for memory that is about to be allocated. Throws Stopped if it exceeds the limit.
  void charge(std::uint64_t bytes) {
    if (bytes > memory_ - held_) throw Stopped(StopReason::memory);
    held_ += bytes;
  }
  void release(std::uint64_t bytes) noexcept { held_ -= bytes; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return held_; }
  [[nodiscard]] double elapsed() const;  ///< seconds
  /// The same deadline and polls, for a search that starts after this one has freed its memory.
  [[nodiscard]] Limits emptied() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::uint64_t memory_;
  std::uint64_t held_ = 0;  ///< in bytes
  std::uint32_t ticks_;
  std::uint32_t ticks_left_ = ticks_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point last_poll_ = begun_;
  std::optional<Clock::time_point> deadline_;
  Poll poll_;
};

}  // namespace pyengine::astar
