/// The earlier positions of a game, which superko forbids to repeat.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pyengine {

/// A set of 64-bit position keys: a chained hash table, plus the number of positions with each
/// number of stones. A lookup for a number of stones that no position has ends immediately, which
/// is the common case. Assignment between histories that differ only in their last few positions,
/// such as those of a walk and its root, undoes and adds these positions without reading the rest.
/// One array holds all tables, so a copy is a single memcpy. A play adds one position and at most
/// one stone, so the tables grow together.
class GoHistory {
 public:
  GoHistory() = default;
  GoHistory(const GoHistory&) = default;
  GoHistory(GoHistory&&) noexcept = default;
  GoHistory& operator=(const GoHistory& other) {
    if ((used_ | other.used_) == 0) return *this;  // without superko
    if (this != &other && !follow(other)) {
      slots_ = other.slots_;
      used_ = other.used_;
      mask_ = other.mask_;
    }
    return *this;
  }
  GoHistory& operator=(GoHistory&&) noexcept = default;
  ~GoHistory() = default;

  [[nodiscard]] bool any_with(int stones) const noexcept {
    const auto count = static_cast<std::size_t>(stones);
    return count < slots_.size() && slots_[count].with != 0;
  }

  [[nodiscard]] bool contains(std::uint64_t key, int stones) const noexcept {
    if (!any_with(stones)) return false;
    std::uint32_t i = slots_[key & mask_].latest;
    while (i != kNone && slots_[i].key != key) i = slots_[i].previous;
    return i != kNone;
  }

  /// Ensures space for one more position with at most `stones` stones.
  void make_room(int stones) {
    const std::size_t needed = std::max<std::size_t>(static_cast<std::size_t>(stones), used_) + 1;
    if (slots_.size() < needed) [[unlikely]]
      grow(needed);
  }

  /// Requires that the position is new and that there is space.
  void add(std::uint64_t key, int stones) noexcept {
    Slot& slot = slots_[used_];
    slot.key = key;
    slot.sum = sum(used_) + key * (key | 1);  // a sum of squares, so XORed keys cannot cancel
    slot.stones = static_cast<std::uint32_t>(stones);
    ++slots_[slot.stones].with;
    link(used_++);
  }

  /// A hash of the set.
  [[nodiscard]] std::uint64_t set_key() const noexcept { return sum(used_); }
  /// A hash of the set as it was after the last play that removed a stone. (A pass under
  /// situational superko counts as one: the set is then larger than necessary.)
  [[nodiscard]] std::uint64_t set_key_at_last_removal() const noexcept {
    std::uint32_t count = used_;
    while (count > 1 && slots_[count - 1].stones > slots_[count - 2].stones) --count;
    return sum(count);
  }

  /// Set equality: the order of positions does not affect what is forbidden.
  friend bool operator==(const GoHistory& a, const GoHistory& b) {
    return a.used_ == b.used_ && a.sum(a.used_) == b.sum(b.used_) &&
        a.sorted_keys() == b.sorted_keys();
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  struct Slot {
    std::uint64_t key = 0;           ///< key of the i-th position
    std::uint64_t sum = 0;           ///< sum of squared keys up to the i-th: identifies the set
    std::uint32_t stones = 0;        ///< stones of the i-th position
    std::uint32_t previous = kNone;  ///< older position in the same chain
    std::uint32_t latest = kNone;    ///< newest position of chain i
    std::uint32_t with = 0;          ///< number of positions with i stones
  };

  /// Identifies the set of the first `count` positions.
  [[nodiscard]] std::uint64_t sum(std::uint32_t count) const noexcept {
    return count == 0 ? 0 : slots_[count - 1].sum;
  }

  void link(std::uint32_t place) noexcept {
    std::uint32_t& latest = slots_[slots_[place].key & mask_].latest;
    slots_[place].previous = latest;
    latest = place;
  }

  void take_back() noexcept {
    const Slot& slot = slots_[--used_];
    slots_[slot.key & mask_].latest = slot.previous;
    --slots_[slot.stones].with;
  }

  void grow(std::size_t size) {
    slots_.resize(size);
    const std::uint64_t mask = std::bit_floor(size) - 1;
    if (mask == mask_) return;
    mask_ = mask;
    for (Slot& slot : slots_) slot.latest = kNone;
    for (std::uint32_t i = 0; i < used_; ++i) link(i);
  }

  /// Becomes `other` by changing the last positions; returns false and changes nothing if a copy is
  /// cheaper.
  bool follow(const GoHistory& other) {
    const std::uint32_t most = kFew + other.used_ / 16;
    std::uint32_t same = std::min(used_, other.used_);
    const std::uint32_t all = std::max(used_, other.used_);
    while (same > 0 && sum(same) != other.sum(same)) {
      if (all - --same > most) return false;
    }
    if (all - same > most) return false;
    if (slots_.size() < other.slots_.size()) grow(other.slots_.size());
    while (used_ > same) take_back();
    while (used_ < other.used_) {
      add(other.slots_[used_].key, static_cast<int>(other.slots_[used_].stones));
    }
    return true;
  }

  [[nodiscard]] std::vector<std::uint64_t> sorted_keys() const {
    std::vector<std::uint64_t> keys(used_);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = slots_[i].key;
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  static constexpr std::uint32_t kFew = 16;  ///< positions

  std::vector<Slot> slots_;
  std::uint32_t used_ = 0;  ///< number of positions in the set
  std::uint64_t mask_ = 0;  ///< maps a key to its chain
};

}  // namespace pyengine
