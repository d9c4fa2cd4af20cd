/// Black's forbidden points in Renju (Renju International Federation, rules of the game, section
/// 9).
#pragma once

#include <array>
#include <cstdint>

#include "base/types.h"

namespace pyengine {

/// The status of a black stone on an empty point. Five takes precedence over every foul.
enum class RenjuMove : std::uint8_t { plain, five, overline, double_four, double_three };

constexpr bool is_forbidden(RenjuMove move) noexcept { return move > RenjuMove::five; }

/// The board as rows of bits with a margin, because a foul depends on points up to five away.
/// Created for one query.
class RenjuBoard {
 public:
  /// `size` in 1..kMaxSide.
  RenjuBoard(int size, const BoardBits& black, const BoardBits& white) noexcept;

  /// `point` must be empty. Tries more stones and removes them again.
  [[nodiscard]] RenjuMove classify(int point) noexcept;
  [[nodiscard]] BoardBits forbidden_points() noexcept;
  /// Whether Black has an empty point that is not forbidden.
  [[nodiscard]] bool black_can_move() noexcept;

 private:
  static constexpr int kReach = 5;  ///< points that matter on either side; width of the margin
  static constexpr int kRows = (kMaxSide + 1) / 2 * 2;  ///< pairs of rows

  using Rows = std::array<std::uint32_t, kRows + 2 * kReach>;
  /// The points within reach on a line; bit kReach is the point itself, bits off the board are 0.
  struct Line {
    unsigned black = 0;
    unsigned empty = 0;
  };
  struct Place {
    int row = 0;
    int column = 0;
  };

  static int length(Line line) noexcept;
  static bool makes_five_below(Line line) noexcept;
  static bool makes_five_above(Line line) noexcept;
  static bool is_straight_four(Line line) noexcept;
  static int count_fours(Line line) noexcept;
  static unsigned straight_four_makers(Line line) noexcept;

  static unsigned gather(const Rows& rows, Place place, int direction) noexcept;
  [[nodiscard]] RenjuMove classify(Place place) noexcept;
  [[nodiscard]] RenjuMove classify_stone(Place place) noexcept;
  [[nodiscard]] bool is_three(Place place, int direction, unsigned makers) noexcept;
  /// Points of rows `row` and `row` + 1 with enough stones around them for a foul.
  [[nodiscard]] std::uint64_t crowded(int row) const noexcept;
  void put(Place place) noexcept;
  void take(Place place) noexcept;

  Rows black_{};  ///< row r is at r + kReach; the same for columns
  Rows empty_{};
  int size_;
};

}  // namespace pyengine
