/// The open list of searches with unit costs.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact/astar/open_list.h"

namespace pyengine::astar {

/// For unit costs and a consistent heuristic that is 0 only at goals, or everywhere: a successor's
/// f is its parent's, or 1 or 2 more, so a ring of four lists holds everything. A list is sorted
/// once, when it is reached; later additions have a larger g than all its elements and belong at
/// its end.
class BucketQueue {
 public:
  using Entry = astar::Entry<std::int32_t, std::int32_t>;

  explicit BucketQueue(Limits& limits) : limits_(limits) {}
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  void push(const Entry& entry) {
    if (current_ == kNone) current_ = entry.f;
    assert(entry.f >= current_ && entry.f - current_ < kBuckets);
    push_charged(bucket(entry.f), packed(entry), limits_);
    ++size_;
  }

  Entry pop() {
    while (bucket(current_).empty()) {
      ++current_;
      sort(bucket(current_));
    }
    std::vector<std::uint64_t>& list = bucket(current_);
    const std::uint64_t word = list.back();
    list.pop_back();
    --size_;
    return {current_, static_cast<std::int32_t>((word & ~kGoal) >> 32U),
            static_cast<NodeId>(word & 0xFFFFFFFFU), (word & kGoal) != 0};
  }

 private:
  static constexpr std::int32_t kBuckets = 4;
  static constexpr std::int32_t kNone = -1;
  static constexpr std::uint64_t kGoal = std::uint64_t{1} << 63U;

  /// Goal flag, g and node in one number that is larger for entries that come earlier.
  static std::uint64_t packed(const Entry& entry) noexcept {
    return (entry.goal ? kGoal : 0) | (static_cast<std::uint64_t>(entry.g) << 32U) | entry.node;
  }
  static void sort(std::vector<std::uint64_t>& list) {
    const auto rank = [](std::uint64_t word) { return word >> 32U; };
    if (!std::ranges::is_sorted(list, {}, rank)) std::ranges::sort(list, {}, rank);
  }
  [[nodiscard]] std::vector<std::uint64_t>& bucket(std::int32_t f) noexcept {
    return buckets_[static_cast<std::uint32_t>(f) % kBuckets];
  }

  Limits& limits_;
  std::array<std::vector<std::uint64_t>, kBuckets> buckets_;
  std::int32_t current_ = kNone;  ///< a lower bound of the f that pop() returns next
  std::size_t size_ = 0;
};

}  // namespace pyengine::astar
