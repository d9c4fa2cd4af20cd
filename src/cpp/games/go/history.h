/// The earlier positions of a game, which superko forbids to restore.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pyengine {

/// A set of 64-bit position keys, listed by the number of stones on the board: a look-up compares
/// only positions with as many stones, of which there are few, often none.
///
/// One array holds both tables, so that a copy of a game is one small memcpy:
///   slot i: key and `previous` of the i-th position; `latest` = newest position with i stones.
/// A play adds one position and at most one stone, so the tables grow together.
class GoHistory {
 public:
  [[nodiscard]] bool any_with(int stones) const noexcept {
    return static_cast<std::size_t>(stones) < slots_.size() &&
        slots_[static_cast<std::size_t>(stones)].latest != kNone;
  }

  [[nodiscard]] bool contains(std::uint64_t key, int stones) const noexcept {
    if (static_cast<std::size_t>(stones) >= slots_.size()) return false;
    std::uint32_t i = slots_[static_cast<std::size_t>(stones)].latest;
    while (i != kNone && slots_[i].key != key) i = slots_[i].previous;
    return i != kNone;
  }

  /// Room for one more position with at most `stones` stones.
  void make_room(int stones) {
    const std::size_t needed = std::max<std::size_t>(static_cast<std::size_t>(stones), used_) + 1;
    if (slots_.size() < needed) slots_.resize(needed);
  }

  /// Assumes that the position is not there yet, and that there is room.
  void add(std::uint64_t key, int stones) noexcept {
    const auto count = static_cast<std::size_t>(stones);
    slots_[used_].key = key;
    slots_[used_].previous = slots_[count].latest;
    slots_[count].latest = used_++;
  }

  /// Equal as sets: the order in which positions came about has no bearing on what is forbidden.
  friend bool operator==(const GoHistory& a, const GoHistory& b) {
    return a.used_ == b.used_ && a.sorted_keys() == b.sorted_keys();
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t previous = kNone;  ///< older position with as many stones
    std::uint32_t latest = kNone;
  };

  [[nodiscard]] std::vector<std::uint64_t> sorted_keys() const {
    std::vector<std::uint64_t> keys(used_);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = slots_[i].key;
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  std::vector<Slot> slots_;
  std::uint32_t used_ = 0;  ///< positions in the set
};

}  // namespace pyengine
