/// Open lists: the nodes to expand, by least f; ties go to goals, then to the larger g.
///
/// A node that gets a cheaper path is pushed again, and its older entry is skipped later, which is
/// faster than moving it within the list.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "exact/astar/nodes.h"
#include "exact/astar/piles.h"

namespace pyengine::astar {

/// A node waiting to be expanded.
template <class Key, class Cost>
struct Entry {
  Key f;
  Cost g;
  NodeId node;
  bool goal;
};

/// A non-negative number and a goal flag in one word that is smaller for entries that come earlier.
/// Neither doubles nor integers use their sign bit here.
template <class Number>
[[nodiscard]] constexpr std::uint64_t packed(Number number, bool goal) noexcept {
  std::uint64_t word = 0;
  if constexpr (std::is_floating_point_v<Number>) {
    static_assert(std::numeric_limits<double>::is_iec559);
    word = std::bit_cast<std::uint64_t>(double{number});
  } else {
    word = static_cast<std::uint64_t>(number);
  }
  return (word << 1U) | (goal ? 0U : 1U);
}
template <class Number>
[[nodiscard]] constexpr Number unpacked(std::uint64_t word) noexcept {
  if constexpr (std::is_floating_point_v<Number>) {
    return std::bit_cast<double>(word >> 1U);
  } else {
    return static_cast<Number>(word >> 1U);
  }
}

/// A heap entry. Comparisons are branchless because their results are unpredictable.
template <class Key, class Cost>
struct Item {
  using Entry = astar::Entry<Key, Cost>;
  std::uint64_t key;  ///< f and goal
  Cost g;
  NodeId node;

  Item() = default;
  explicit Item(const Entry& entry) noexcept
      : key(packed(entry.f, entry.goal)), g(entry.g), node(entry.node) {}
  [[nodiscard]] Entry entry() const noexcept { return {unpacked<Key>(key), g, node, key % 2 == 0}; }
  [[nodiscard]] std::uint64_t rank() const noexcept { return key >> 1U; }
  [[nodiscard]] bool before(const Item& other) const noexcept {
    const auto less = static_cast<unsigned>(key < other.key);
    const auto equal = static_cast<unsigned>(key == other.key);
    return (less | (equal & static_cast<unsigned>(g > other.g))) != 0;
  }
};

/// The same for f = g: 16 bytes, four to a cache line.
template <class Cost>
struct CostItem {
  using Entry = astar::Entry<Cost, Cost>;
  std::uint64_t key;  ///< g and goal
  NodeId node;

  CostItem() = default;
  explicit CostItem(const Entry& entry) noexcept
      : key(packed(entry.g, entry.goal)), node(entry.node) {}
  [[nodiscard]] Entry entry() const noexcept {
    const Cost g = unpacked<Cost>(key);
    return {g, g, node, key % 2 == 0};
  }
  [[nodiscard]] std::uint64_t rank() const noexcept { return key >> 1U; }
  [[nodiscard]] bool before(const CostItem& other) const noexcept { return key < other.key; }
};

/// A 4-ary heap: half the levels of a binary one, and sibling entries share cache lines.
template <class Item>
class Heap {
 public:
  explicit Heap(Limits& limits) : limits_(limits) {}
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  /// The first item and its children.
  [[nodiscard]] std::span<const Item> top() const noexcept {
    return std::span(items_).first(std::min(items_.size(), kArity + 1));
  }

  void push(const Item& item) {
    append(item);
    std::size_t at = items_.size() - 1;
    while (at > 0) {
      const std::size_t above = (at - 1) / kArity;
      if (!item.before(items_[above])) break;
      items_[at] = items_[above];
      at = above;
    }
    items_[at] = item;
  }

  Item pop() {
    const Item first = items_.front();
    const Item last = items_.back();
    items_.pop_back();
    if (!items_.empty()) sink(last, 0);
    return first;
  }

  /// Appends without ordering; call order() afterwards.
  void append(const Item& item) { push_charged(items_, item, limits_); }
  void order() noexcept {
    for (std::size_t at = (items_.size() + kArity - 2) / kArity; at-- > 0;) {
      sink(Item(items_[at]), at);
    }
  }

 private:
  static constexpr std::size_t kArity = 4;

  /// Moves an item to index `at` or below it.
  void sink(const Item& item, std::size_t at) noexcept {
    while (kArity * at + 1 < items_.size()) {
      const std::size_t best = best_child(at);
      if (!items_[best].before(item)) break;
      items_[at] = items_[best];
      at = best;
    }
    items_[at] = item;
  }

  /// The best of four children in two branchless rounds, because the winner is unpredictable.
  [[nodiscard]] std::size_t best_child(std::size_t at) const noexcept {
    const std::size_t first = kArity * at + 1;
    const auto wins = [&](std::size_t a, std::size_t b) {
      return static_cast<std::size_t>(items_[a].before(items_[b]));
    };
    if (first + kArity <= items_.size()) {
      const std::size_t left = first + wins(first + 1, first);
      const std::size_t right = first + 2 + wins(first + 3, first + 2);
      return left + (right - left) * wins(right, left);
    }
    std::size_t best = first;
    for (std::size_t i = first + 1; i < items_.size(); ++i) best += (i - best) * wins(i, best);
    return best;
  }

  Limits& limits_;
  std::vector<Item> items_;
};

/// A heap of the next entries and piles of later ones, which are processed when they are reached:
/// most entries are moved a few times through nearby memory instead of through all levels of a heap
/// much larger than the caches. Entries of rank below `limit_` are in the heap. Any other is in the
/// pile of the highest bit in which its rank differs from `base_`, a lower bound of all ranks in
/// piles: entries of a pile come before those of higher piles. Ranks may decrease. Source of the
/// piles: Ahuja, Mehlhorn, Orlin, Tarjan 1990 (radix heap).
template <class Item>
class RadixQueue {
 public:
  using Entry = typename Item::Entry;

  explicit RadixQueue(Limits& limits) : next_(limits), later_(limits) {}
  [[nodiscard]] bool empty() const noexcept { return next_.empty() && later_.empty(); }

  void push(const Entry& entry) {
    const Item item(entry);
    if (item.rank() < limit_) {
      next_.push(item);
    } else {
      put_off(item);
    }
  }

  Entry pop() {
    if (next_.empty()) refill();
    return next_.pop().entry();
  }

  /// The entry that pop() returns next unless a smaller one is pushed, and a candidate after it.
  [[nodiscard]] std::span<const Item> ahead() const noexcept { return next_.top(); }

 private:
  /// Number of entries per refill of the heap; a larger heap has more levels.
  static constexpr std::size_t kTogether = 32;

  void put_off(const Item& item) { later_.push(std::bit_width(item.rank() ^ base_), item); }

  void refill() {
    while (!later_.empty()) {
      const int index = later_.least();
      // All ranks of pile 0 are equal.
      if (next_.size() + later_.size(index) <= kTogether || (index == 0 && next_.empty())) {
        later_.drain(index, [&](const Item& item) { next_.append(item); });
        limit_ = ((base_ >> index) + 1) << index;
      } else if (next_.empty()) {
        spread(index);
      } else {
        break;
      }
    }
    next_.order();
  }

  /// Distributes a pile's entries among lower piles.
  void spread(int index) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    later_.for_each(index, [&](const Item& item) { least = std::min(least, item.rank()); });
    base_ = least;
    later_.drain(index, [&](const Item& item) { put_off(item); });
  }

  Heap<Item> next_;
  Piles<Item> later_;
  std::uint64_t base_ = 0;
  std::uint64_t limit_ = 0;
};

}  // namespace pyengine::astar
