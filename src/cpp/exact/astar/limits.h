/// What ends a path search early: memory, time, and whoever called.
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

/// What a search has done so far.
struct Counts {
  std::uint64_t expanded = 0;   ///< nodes whose successors were made, each time it was done
  std::uint64_t generated = 0;  ///< successors that were made, known ones included
  std::uint64_t reopened = 0;   ///< closed nodes that a cheaper path opened again
};

/// Thrown where a limit is reached; run() of a search turns it into its result.
class Stopped final : public std::exception {
 public:
  explicit Stopped(StopReason reason) noexcept : reason_(reason) {}
  [[nodiscard]] StopReason reason() const noexcept { return reason_; }
  [[nodiscard]] const char* what() const noexcept override { return to_string(reason_); }

 private:
  StopReason reason_;
};

/// The limits of one call. One thread.
class Limits {
 public:
  /// Called about every 20 ms; false stops the search, and it may throw.
  using Poll = std::function<bool(const Counts&)>;

  /// An expansion of a puzzle takes 30 ns: between looks at the clock there pass some 8 us.
  static constexpr std::uint32_t kTicks = 256;

  /// `seconds`: from now on. `ticks`: expansions between two looks at the clock.
  Limits(std::uint64_t memory_bytes, std::optional<double> seconds, Poll poll,
         std::uint32_t ticks = kTicks);

  /// Called for each expansion. Throws Stopped, and what the poll throws.
  void tick(const Counts& counts) {
    if (--ticks_left_ > 0) [[likely]]
      return;
    ticks_left_ = ticks_;
    check(counts);
  }
  /// Looks at once whether the search is to end.
  void check(const Counts& counts);
  /// Looks at the clock alone. Throws Stopped.
  void check_time() const;
  /// Counts memory that is about to be taken. Throws Stopped where it is beyond the cap.
  void charge(std::uint64_t bytes) {
    if (bytes > memory_ - held_) throw Stopped(StopReason::memory);
    held_ += bytes;
  }
  void release(std::uint64_t bytes) noexcept { held_ -= bytes; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return held_; }
  [[nodiscard]] double elapsed() const;  ///< seconds
  /// The same deadline and polls, for a search that begins when the memory of this one is free.
  [[nodiscard]] Limits emptied() const;

 private:
  using Clock = std::chrono::steady_clock;
  std::uint64_t memory_;
  std::uint64_t held_ = 0;  ///< bytes
  std::uint32_t ticks_;
  std::uint32_t ticks_left_ = ticks_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point last_poll_ = begun_;
  std::optional<Clock::time_point> deadline_;
  Poll poll_;
};

}  // namespace pyengine::astar
