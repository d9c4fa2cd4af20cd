/// How many nodes to search between two clock checks: about a millisecond's worth, since a node
/// takes from 50 ns (Connect Four) to a millisecond (m,n,k games on 19x19).
#pragma once

#include <algorithm>
#include <chrono>

namespace pyengine::alphabeta {

class PollInterval {
 public:
  /// Called when the last interval is over; returns the next one.
  int next() noexcept {
    const Clock::time_point now = Clock::now();
    const Clock::duration passed = now - last_;
    last_ = now;
    if (passed > kLong) {
      nodes_ = std::max(1, nodes_ / 8);
    } else if (passed < kBrief) {
      nodes_ = std::min(2 * nodes_, kMost);
    }
    return nodes_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kBrief = std::chrono::microseconds(500);
  static constexpr Clock::duration kLong = std::chrono::milliseconds(2);
  static constexpr int kMost = 1024;

  int nodes_ = 8;
  Clock::time_point last_ = Clock::now();
};

}  // namespace pyengine::alphabeta
