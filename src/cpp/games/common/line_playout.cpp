#include "games/common/line_playout.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "games/common/draws.h"

namespace pyengine {
namespace {

constexpr int kMaxSide = 19;

/// The stones of one player along the four directions: a word a line, a bit a stone.
class Lines {
 public:
  /// Adds the stone and says whether one of its four lines now has a row of a winning length.
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
  /// Two lines at once, 32 bits each. A line has 19 bits at most and a step is 8 at most, so what
  /// a shift carries from the upper line to the lower one falls on bits that are never set.
  static bool wins(std::uint64_t lines, WinningLength length) noexcept {
    std::uint64_t starts = lines;  // of rows of `have` stones or more
    for (int have = 1; have < length.least;) {
      const int step = have < length.least - have ? have : length.least - have;
      starts &= starts >> step;
      have += step;
    }
    if (length.most != length.least) return starts != 0;
    return (starts & ~(lines << 1) & ~(lines >> length.least)) != 0;
  }

  std::array<std::uint32_t, kMaxSide> rows_{};
  std::array<std::uint32_t, kMaxSide> columns_{};
  std::array<std::uint32_t, 2 * kMaxSide> falling_{};
  std::array<std::uint32_t, 2 * kMaxSide> rising_{};
};

}  // namespace

Playout line_playout(const PlacementBoard& board, WinningLength length, Rng& rng) noexcept {
  struct Point {
    std::uint8_t row;
    std::uint8_t column;
  };
  std::array<Point, kMaxSide * kMaxSide> empty;  // NOLINT: filled as far as it is read
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
