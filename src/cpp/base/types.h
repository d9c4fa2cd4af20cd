/// Basic types: actions, players, outcomes, sets of board points.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bits.h"

namespace pyengine {

using Action = std::int32_t;     ///< 0 .. num_actions-1, or kNoAction
using ActionId = std::uint16_t;  ///< an Action as stored in trees and lists
inline constexpr Action kNoAction = -1;
/// Most actions of a game. A node counts its moves in 16 bits, so the limit is 65,535 although an
/// ActionId has one more value.
inline constexpr int kMaxActions = (1 << 16) - 1;

/// The outcome of a game in [-1, 1] for the first player; negate it for the second player.
struct Outcome {
  float first = 0.0F;
  [[nodiscard]] float for_player(int player) const noexcept {
    return player == 0 ? first : 0.0F - first;
  }
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// The legal actions of a position in ascending order. clear() keeps the memory for reuse.
class ActionList {
 public:
  void clear() noexcept { size_ = 0; }
  void push_back(Action action) { *extend(1) = static_cast<ActionId>(action); }
  /// Appends `count` uninitialised actions and returns a pointer to them.
  ActionId* extend(int count) {
    const int needed = size_ + count;
    if (needed > capacity_) grow(needed);
    ActionId* room = actions_.get() + size_;
    size_ = needed;
    return room;
  }
  /// Truncates the list to `size` actions, after an extend() that was too large.
  void truncate(int size) noexcept { size_ = size; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const ActionId* data() const noexcept { return actions_.get(); }
  [[nodiscard]] const ActionId* begin() const noexcept { return data(); }
  [[nodiscard]] const ActionId* end() const noexcept { return data() + size_; }
  [[nodiscard]] ActionId operator[](int i) const noexcept { return actions_[i]; }

 private:
  void grow(int needed) {
    const int capacity = std::max(64, std::max(needed, 2 * capacity_));
    auto larger = std::make_unique_for_overwrite<ActionId[]>(static_cast<std::size_t>(capacity));
    std::copy_n(actions_.get(), std::min(size_, needed), larger.get());
    actions_ = std::move(larger);
    capacity_ = capacity;
  }
  std::unique_ptr<ActionId[]> actions_;
  int size_ = 0;
  int capacity_ = 0;
};

inline constexpr int kMaxSide = 20;  ///< of a board: Gomocup plays Gomoku on 20x20
inline constexpr int kMaxPoints = kMaxSide * kMaxSide;

/// A set of board points, row-major from the top left: bit p = row * columns + column.
struct BoardBits {
  static constexpr int kWords = (kMaxPoints + 63) / 64;
  std::array<std::uint64_t, kWords> words{};

  [[nodiscard]] bool test(int point) const noexcept {
    return ((words[static_cast<unsigned>(point) / 64] >> (static_cast<unsigned>(point) % 64)) &
            1U) != 0;
  }
  void set(int point) noexcept {
    words[static_cast<unsigned>(point) / 64] |= std::uint64_t{1}
        << (static_cast<unsigned>(point) % 64);
  }
  void reset(int point) noexcept {
    words[static_cast<unsigned>(point) / 64] &=
        ~(std::uint64_t{1} << (static_cast<unsigned>(point) % 64));
  }
  [[nodiscard]] int count() const noexcept {
    int total = 0;
    for (const std::uint64_t word : words) total += count_bits(word);
    return total;
  }
  [[nodiscard]] bool any() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    return all != 0;
  }
  /// Calls `visit(point)` for each point in ascending order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (int w = 0; w < kWords; ++w) {
      for (std::uint64_t rest = words[static_cast<unsigned>(w)]; rest != 0; rest &= rest - 1) {
        visit(w * 64 + std::countr_zero(rest));
      }
    }
  }
  BoardBits& operator|=(const BoardBits& other) noexcept {
    for (unsigned w = 0; w < kWords; ++w) words[w] |= other.words[w];
    return *this;
  }
  BoardBits& operator&=(const BoardBits& other) noexcept {
    for (unsigned w = 0; w < kWords; ++w) words[w] &= other.words[w];
    return *this;
  }
  /// Removes the points of `other`.
  BoardBits& operator-=(const BoardBits& other) noexcept {
    for (unsigned w = 0; w < kWords; ++w) words[w] &= ~other.words[w];
    return *this;
  }
  friend BoardBits operator|(BoardBits a, const BoardBits& b) noexcept { return a |= b; }
  friend BoardBits operator&(BoardBits a, const BoardBits& b) noexcept { return a &= b; }
  friend BoardBits operator-(BoardBits a, const BoardBits& b) noexcept { return a -= b; }
  friend bool operator==(const BoardBits&, const BoardBits&) = default;
};

}  // namespace pyengine
