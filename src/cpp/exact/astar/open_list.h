/// Open lists: what is expanded next. Least f first; ties go to goals, then to the larger g.
///
/// A node that gets a cheaper path is pushed again; the search drops the older entry when it meets
/// it, which is faster than moving it inside the list.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact/astar/nodes.h"

namespace pyengine::astar {

/// A 4-ary heap: half the levels of a binary one, and the children of an entry share cache lines.
template <class Key, class Cost>
class HeapQueue {
 public:
  struct Entry {
    Key f;
    Cost g;
    NodeId node;
    bool goal;
  };

  explicit HeapQueue(Limits& limits) : limits_(limits) {}
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }

  void push(const Entry& entry) {
    push_charged(heap_, entry, limits_);
    std::size_t at = heap_.size() - 1;
    while (at > 0) {
      const std::size_t above = (at - 1) / kArity;
      if (!before(entry, heap_[above])) break;
      heap_[at] = heap_[above];
      at = above;
    }
    heap_[at] = entry;
  }

  Entry pop() {
    const Entry first = heap_.front();
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

 private:
  static constexpr std::size_t kArity = 4;

  static bool before(const Entry& a, const Entry& b) noexcept {
    if (a.f != b.f) return a.f < b.f;
    if (a.goal != b.goal) return a.goal;
    return a.g > b.g;
  }

  /// Puts an entry where the first one was.
  void sink(const Entry& entry) noexcept {
    const std::size_t size = heap_.size();
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = kArity * at + 1;
      if (first >= size) break;
      std::size_t best = first;
      for (std::size_t i = first + 1; i < std::min(first + kArity, size); ++i) {
        if (before(heap_[i], heap_[best])) best = i;
      }
      if (!before(heap_[best], entry)) break;
      heap_[at] = heap_[best];
      at = best;
    }
    heap_[at] = entry;
  }

  Limits& limits_;
  std::vector<Entry> heap_;
};

/// For unit costs and a consistent heuristic that is 0 at goals alone, or everywhere: a successor's
/// f is its parent's, or 1 or 2 more, so that a ring of four lists holds everything. A list is
/// sorted once, when its turn comes; what is pushed to it after that has a larger g than all it
/// holds, and belongs at its end.
class BucketQueue {
 public:
  struct Entry {
    std::int32_t f;
    std::int32_t g;
    NodeId node;
    bool goal;
  };

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

  /// Goal, g, node: a number that is larger for what comes earlier.
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
  std::int32_t current_ = kNone;  ///< f of what pop() takes next, or less
  std::size_t size_ = 0;
};

}  // namespace pyengine::astar
