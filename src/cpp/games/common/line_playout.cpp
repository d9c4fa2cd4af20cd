#include "games/common/line_playout.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "games/common/draws.h"

namespace pyengine {
namespace {

/// The stones of one player in the four directions: one word per line, one bit per stone.
class Lines {
 public:
  /// Adds the stone and returns whether one of its four lines now has a winning row.
  bool put(int row, int column, WinningLength length) noexcept {
    const auto r = static_cast<std::size_t>(row);
    const auto c = static_cast<std::size_t>(column);
    const std::uint32_t along_row = rows_[r] |= 1U << c;
    const std::uint32_t along_column = columns_[c] |= 1U << r;
    const std::uint32_t falling = falling_[r + kMaxSide - c] |= 1U << c;
    const std::uint32_t rising = rising_[r + c] |= 1U << c;
    return wins(along_row | (std::uint64_t{along_column} << 32), length) ||
        wins(falling | (std::uint64_t{rising} << 32), length);
  }

 private:
  /// Two lines at a time, 32 bits each. A line has at most 20 bits and a shift is at most 8, so
  /// bits shifted from the upper line into the lower one land on bits that are never set.
  static bool wins(std::uint64_t lines, WinningLength length) noexcept {
    std::uint64_t starts = lines;  // starts of rows of at least `have` stones
    for (int have = 1; have < length.least;) {
      const int step = have < length.least - have ? have : length.least - have;
      starts &= starts >> step;
      have += step;
    }
    if (length.most != length.least) return starts != 0;
    return (starts & ~(lines << 1) & ~(lines >> length.least)) != 0;
  }

  static constexpr std::size_t kDiagonals = 64 - kMaxSide;  // >= 2 * kMaxSide

  std::array<std::uint32_t, kMaxSide> rows_{};
  std::array<std::uint32_t, kMaxSide> columns_{};
  std::array<std::uint32_t, kDiagonals> falling_{};
  std::array<std::uint32_t, kDiagonals> rising_{};
};
static_assert(sizeof(Lines) == 512);  // a power of two saves 2 % of a playout

}  // namespace

Playout line_playout(const PlacementBoard& board, WinningLength length, Rng& rng) noexcept {
  struct Point {
    std::uint8_t row;
    std::uint8_t column;
  };
  std::array<Point, kMaxSide * kMaxSide> empty;  // NOLINT: filled before it is read
  std::array<Lines, 2> lines;
  std::size_t num_empty = 0;
  int point = 0;
  for (int row = 0; row < board.rows(); ++row) {
    for (int column = 0; column < board.columns(); ++column, ++point) {
      if (board.of(0).test(point)) {
        lines[0].put(row, column, length);
      } else if (board.of(1).test(point)) {
        lines[1].put(row, column, length);
      } else {
        empty[num_empty++] = {static_cast<std::uint8_t>(row), static_cast<std::uint8_t>(column)};
      }
    }
  }
  SmallDraws draws(rng);
  int plies = 0;
  for (auto player = static_cast<unsigned>(board.to_move()); num_empty > 0; player ^= 1U) {
    ++plies;
    Point& drawn = empty[draws.below(static_cast<std::uint32_t>(num_empty))];
    const Point move = drawn;
    drawn = empty[--num_empty];
    if (lines[player].put(move.row, move.column, length)) {
      return {{player == 0 ? 1.0F : -1.0F}, plies};
    }
  }
  return {{0.0F}, plies};
}

}  // namespace pyengine
