/// Boards on which stones are placed and never move: m,n,k and Gomoku.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "games/common/hashing.h"
#include "games/common/key_hash.h"
#include "games/game.h"

namespace pyengine {

/// The winning row lengths.
struct WinningLength {
  int least = 5;
  int most = std::numeric_limits<int>::max();
};

/// Stones, player to move and the last eight moves. The only rule it knows is the winning length.
class PlacementBoard {
 public:
  PlacementBoard() = default;
  PlacementBoard(int rows, int columns) noexcept
      : per_column_(65536U / static_cast<unsigned>(columns) + 1),
        points_(static_cast<std::uint16_t>(rows * columns)),
        free_(points_),
        rows_(static_cast<std::uint8_t>(rows)),
        columns_(static_cast<std::uint8_t>(columns)) {}
  /// The stones of a validated setup.
  PlacementBoard(int rows, int columns, const BoardSetup& setup) noexcept;

  [[nodiscard]] int points() const noexcept { return points_; }
  [[nodiscard]] int rows() const noexcept { return rows_; }
  [[nodiscard]] int columns() const noexcept { return columns_; }
  [[nodiscard]] int to_move() const noexcept { return to_move_; }
  [[nodiscard]] bool full() const noexcept { return free_ == 0; }
  [[nodiscard]] const BoardBits& of(int player) const noexcept {
    return stones_[static_cast<unsigned>(player)];
  }
  [[nodiscard]] BoardBits empty() const noexcept;
  [[nodiscard]] bool is_free(Action point) const noexcept {
    return point >= 0 && point < points_ && !stones_[0].test(point) && !stones_[1].test(point);
  }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  /// Exact on boards of up to 63 points, else a hash.
  [[nodiscard]] PositionKey transposition_key() const noexcept {
    if (points_ < 64) {
      return {stones_[0].words[0] | std::uint64_t{to_move_} << 63, stones_[1].words[0]};
    }
    KeyHash hash(to_move_);
    for (unsigned w = 0; 64 * w < points_; ++w) {
      hash.add(stones_[0].words[w]);
      hash.add(stones_[1].words[w]);
    }
    return hash.key();
  }

  void put(Action point) noexcept {
    stones_[to_move_].set(point);
    hash_ ^= kStoneKeys.stone[to_move_][static_cast<unsigned>(point)] ^ kStoneKeys.second_to_move;
    recent_[plies_ % kRemembered] = static_cast<ActionId>(point);
    ++plies_;
    --free_;
    to_move_ ^= 1U;
  }
  /// Whether `player` has a winning row through `point`, which must hold one of their stones.
  [[nodiscard]] bool wins_at(int player, int point, WinningLength length) const noexcept;
  /// Whether `player` has a winning row anywhere.
  [[nodiscard]] bool wins_anywhere(int player, WinningLength length) const noexcept;

  void stones(int t, BoardBits& first, BoardBits& second) const noexcept;
  [[nodiscard]] Action last_move(int t) const noexcept {
    if (t >= plies_) return kNoAction;
    return recent_[static_cast<unsigned>(plies_ - 1 - t) % kRemembered];
  }

  /// Same board and player to move.
  friend bool operator==(const PlacementBoard& a, const PlacementBoard& b) noexcept {
    return a.hash_ == b.hash_ && a.stones_ == b.stones_ && a.to_move_ == b.to_move_ &&
        a.rows_ == b.rows_ && a.columns_ == b.columns_;
  }

 private:
  static constexpr unsigned kRemembered = 8;

  std::array<BoardBits, 2> stones_{};
  std::uint64_t hash_ = 0;
  std::array<ActionId, kRemembered> recent_{};  ///< move of ply p at p % 8
  std::uint32_t per_column_ = 0;                ///< 2^16 / columns, rounded up: divides points
  std::uint16_t points_ = 0;
  std::uint16_t free_ = 0;   ///< points without a stone
  std::uint16_t plies_ = 0;  ///< since the start
  std::uint8_t rows_ = 0;
  std::uint8_t columns_ = 0;
  std::uint8_t to_move_ = 0;
};

inline BoardBits PlacementBoard::empty() const noexcept {
  BoardBits bits;
  for (unsigned w = 0; w < BoardBits::kWords; ++w) {
    const int inside = std::clamp(points_ - static_cast<int>(64 * w), 0, 64);
    const std::uint64_t board = inside == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << inside) - 1;
    bits.words[w] = board & ~(stones_[0].words[w] | stones_[1].words[w]);
  }
  return bits;
}

inline bool PlacementBoard::wins_at(int player, int point, WinningLength length) const noexcept {
  const BoardBits& stones = of(player);
  const int row = static_cast<int>((static_cast<unsigned>(point) * per_column_) >> 16);
  const int left = point - row * columns_;
  const int right = columns_ - 1 - left;
  const int below = rows_ - 1 - row;
  const auto run = [&stones, point](int step, int limit) {
    int count = 0;
    while (count < limit && stones.test(point + step * (count + 1))) ++count;
    return count;
  };
  const auto wins = [&](int step, int back, int ahead) {
    const int stones_in_row = 1 + run(-step, back) + run(step, ahead);
    return stones_in_row >= length.least && stones_in_row <= length.most;
  };
  return wins(1, left, right) || wins(columns_, row, below) ||
      wins(columns_ + 1, std::min(row, left), std::min(below, right)) ||
      wins(columns_ - 1, std::min(row, right), std::min(below, left));
}

}  // namespace pyengine
