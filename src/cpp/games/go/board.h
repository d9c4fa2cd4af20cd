/// Stones and chains of Go: the effect of a play on the board, without ko and turns.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "games/go/geometry.h"

namespace pyengine {

/// A trivially copyable board of up to MaxSide x MaxSide points.
///
/// Each stone knows its chain, a chain is a ring of stones, and each chain counts its open sides:
/// pairs of a stone and an adjacent empty point. (A liberty shared by two stones of the chain
/// counts twice. This is sufficient for every rule and needs no search when a stone is added or
/// removed.)
template <int MaxSide>
class GoBoard {
 public:
  static constexpr int kPoints = MaxSide * MaxSide;
  static constexpr int kWords = (kPoints + 63) / 64;
  using Points = PointSet<kWords>;

  /// The effect of a play: see preview().
  struct Preview {
    std::uint64_t key = 0;  ///< board_key() after the play
    int stones = 0;         ///< number of stones after the play
  };

  GoBoard() noexcept { chain_.fill(kEmpty); }

  [[nodiscard]] bool empty(unsigned point) const noexcept { return chain_[point] == kEmpty; }
  [[nodiscard]] const Points& stones(int player) const noexcept {
    return stones_[static_cast<unsigned>(player)];
  }
  [[nodiscard]] int num_stones() const noexcept { return num_stones_; }
  /// Hash of the stones.
  [[nodiscard]] std::uint64_t board_key() const noexcept { return key_; }

  [[nodiscard]] bool has_empty_beside(unsigned point, const GoGeometry& geometry) const noexcept {
    for (const unsigned p : geometry.beside[point]) {
      if (empty(p)) return true;
    }
    return false;
  }

  /// Whether a stone on the empty point would have a liberty, possibly after captures.
  [[nodiscard]] bool can_live(unsigned point, int player,
                              const GoGeometry& geometry) const noexcept {
    const PointsAround& around = geometry.beside[point];
    for (const unsigned p : around) {
      const unsigned chain = chain_[p];
      if (chain == kEmpty) return true;
      if (last_liberty(chain, around) != (static_cast<int>(chain & 1U) == player)) return true;
    }
    return false;
  }

  /// Whether a stone on the empty point would capture a chain.
  [[nodiscard]] bool captures(unsigned point, int player,
                              const GoGeometry& geometry) const noexcept {
    const PointsAround& around = geometry.beside[point];
    for (const unsigned p : around) {
      const unsigned chain = chain_[p];
      if (chain == kEmpty || static_cast<int>(chain & 1U) == player) continue;
      if (last_liberty(chain, around)) return true;
    }
    return false;
  }

  /// Whether the player has a stone adjacent to the point.
  [[nodiscard]] bool has_friend_beside(unsigned point, int player,
                                       const GoGeometry& geometry) const noexcept {
    for (const unsigned p : geometry.beside[point]) {
      if (!empty(p) && static_cast<int>(chain_[p] & 1U) == player) return true;
    }
    return false;
  }

  /// The board after play(), for a point with `lives` = can_live().
  [[nodiscard]] Preview preview(unsigned point, int player, bool lives,
                                const GoGeometry& geometry) const noexcept {
    const auto mover = static_cast<unsigned>(player);
    Preview after{key_ ^ kGoKeys.stone[mover][point], num_stones_ + 1};
    const PointsAround& around = geometry.beside[point];
    if (!lives) remove_from(after, point, mover);  // the stone itself; then its own chains
    const unsigned loser = lives ? 1U - mover : mover;
    for (unsigned i = 0; i < around.count; ++i) {
      const unsigned chain = chain_[around.points[i]];
      if (chain == kEmpty || (chain & 1U) != loser || seen_before(chain, around, i)) continue;
      if (lives && !last_liberty(chain, around)) continue;
      for_chain(around.points[i], [&](unsigned stone) { remove_from(after, stone, loser); });
    }
    return after;
  }

  /// Places a stone on an empty point and removes chains without liberties: the opponent's, or else
  /// the stone's own. Returns the number of removed stones, which are added to `removed`; it
  /// contains a player's own stones exactly if the point is empty afterwards.
  int play(unsigned point, int player, const GoGeometry& geometry, Points& removed) noexcept {
    put(point, static_cast<unsigned>(player), geometry);
    int taken = 0;
    for (const unsigned p : geometry.beside[point]) {
      const unsigned chain = chain_[p];
      if (chain == kEmpty) continue;
      if (static_cast<int>(chain & 1U) == player) {
        join(p, point);
      } else if (open_[chain >> 1] == 0) {
        taken += remove_chain(p, geometry, removed);
      }
    }
    if (open_[chain_[point] >> 1] == 0) taken += remove_chain(point, geometry, removed);
    return taken;
  }

  /// Open sides of a stone's chain: between one and four times its liberties.
  [[nodiscard]] int open_sides(unsigned stone) const noexcept { return open_[chain_[stone] >> 1]; }

  /// The stone that identifies the chain, and the next stone in the chain's ring.
  [[nodiscard]] unsigned chain_name(unsigned stone) const noexcept { return chain_[stone] >> 1; }
  [[nodiscard]] unsigned next_of_chain(unsigned stone) const noexcept { return next_[stone]; }

  /// Calls `visit(point)` for each stone of the chain of `stone`; `visit` may remove the stone.
  template <class Visit>
  void for_chain(unsigned stone, Visit&& visit) const {
    unsigned p = stone;
    do {
      const unsigned following = next_[p];
      visit(p);
      p = following;
    } while (p != stone);
  }

 private:
  static constexpr std::uint16_t kEmpty = 0xFFFF;

  /// Whether the point is the only liberty of an adjacent chain in `around`.
  [[nodiscard]] bool last_liberty(unsigned chain, const PointsAround& around) const noexcept {
    const unsigned open = open_[chain >> 1];
    if (open > around.count) return false;
    unsigned sides = 0;
    for (const unsigned p : around) sides += chain_[p] == chain ? 1U : 0U;
    return open == sides;
  }

  [[nodiscard]] bool seen_before(unsigned chain, const PointsAround& around,
                                 unsigned i) const noexcept {
    for (unsigned j = 0; j < i; ++j) {
      if (chain_[around.points[j]] == chain) return true;
    }
    return false;
  }

  static void remove_from(Preview& after, unsigned point, unsigned player) noexcept {
    after.key ^= kGoKeys.stone[player][point];
    --after.stones;
  }

  void put(unsigned point, unsigned player, const GoGeometry& geometry) noexcept {
    std::uint16_t open = 0;
    for (const unsigned p : geometry.beside[point]) {
      if (empty(p)) {
        ++open;
      } else {
        --open_[chain_[p] >> 1];
      }
    }
    chain_[point] = static_cast<std::uint16_t>(point << 1 | player);
    next_[point] = static_cast<std::uint16_t>(point);
    open_[point] = open;
    stones_[player].set(point);
    key_ ^= kGoKeys.stone[player][point];
    ++num_stones_;
  }

  /// Merges the chains of two stones. The smaller one is renamed: both are walked in step until one
  /// ends.
  void join(unsigned a, unsigned b) noexcept {
    if (chain_[a] == chain_[b]) return;
    unsigned i = next_[a];
    unsigned j = next_[b];
    while (i != a && j != b) {
      i = next_[i];
      j = next_[j];
    }
    if (j != b) std::swap(a, b);
    const std::uint16_t name = chain_[a];
    open_[name >> 1] = static_cast<std::uint16_t>(open_[name >> 1] + open_[chain_[b] >> 1]);
    for_chain(b, [&](unsigned stone) { chain_[stone] = name; });
    std::swap(next_[a], next_[b]);
  }

  int remove_chain(unsigned stone, const GoGeometry& geometry, Points& removed) noexcept {
    const unsigned player = chain_[stone] & 1U;
    int taken = 0;
    for_chain(stone, [&](unsigned point) {
      chain_[point] = kEmpty;
      stones_[player].reset(point);
      removed.set(point);
      key_ ^= kGoKeys.stone[player][point];
      for (const unsigned p : geometry.beside[point]) {
        if (!empty(p) && (chain_[p] & 1U) != player) ++open_[chain_[p] >> 1];
      }
      ++taken;
    });
    num_stones_ -= taken;
    return taken;
  }

  std::array<Points, 2> stones_{};
  std::uint64_t key_ = 0;
  int num_stones_ = 0;
  std::array<std::uint16_t, kPoints> chain_;   ///< kEmpty, or 2 * (name of the chain) + player
  std::array<std::uint16_t, kPoints> next_{};  ///< of a stone: the next one in its chain's ring
  std::array<std::uint16_t, kPoints> open_{};  ///< [name of a chain] = open sides
};

static_assert(std::is_trivially_copyable_v<GoBoard<19>>);

}  // namespace pyengine
