/// The last four empty points of Othello, with separate code for each number of them. The including
/// file defines PYENGINE_WITH_TARGET, the attribute of its functions; everything is local to that
/// file, so the linker cannot mix code for different processors.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bits.h"
#include "exact/alphabeta/othello_board.h"
#include "exact/alphabeta/othello_tables.h"

namespace pyengine::othello {
namespace {

inline constexpr int kNone = -100;  ///< below every score

/// The lowest point of a non-empty set.
PYENGINE_WITH_TARGET inline unsigned first_of(std::uint64_t set) noexcept {
  return static_cast<unsigned>(std::countr_zero(set));
}

/// The board after a disc on `point`, from the opponent's perspective.
PYENGINE_WITH_TARGET inline Board after(Board board, unsigned point, std::uint64_t flips) noexcept {
  return {board.other & ~flips, board.own | flips | std::uint64_t{1} << point};
}

/// Null-window searches with fail-soft answers to "is the score above alpha?". B provides the
/// rules: moves(), flips() and count().
template <class B>
class LastPoints {
 public:
  /// Number of positions reached by placing a disc; the full board does not count.
  [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }

  PYENGINE_WITH_TARGET static int final_score(Board board) noexcept {
    const int own = B::count(board.own);
    const int other = B::count(board.other);
    if (own == other) return 0;
    return own > other ? 64 - 2 * other : 2 * own - 64;
  }

  /// At most four points are empty; `parity` is the set of quadrants with an odd number of them.
  PYENGINE_WITH_TARGET int solve(Board board, int alpha, int count, unsigned parity) noexcept {
    if (count == 4) return four(board, alpha, parity);
    if (count == 0) return final_score(board);
    std::uint64_t empties = ~(board.own | board.other);
    const unsigned a = first_of(empties);
    if (count == 1) return one(board.own, a);
    empties &= empties - 1;
    const unsigned b = first_of(empties);
    if (count == 2) return two(board, alpha, a, b);
    return three(board, alpha, a, b, first_of(empties & (empties - 1)));
  }

  PYENGINE_WITH_TARGET int four(Board board, int alpha, unsigned parity) noexcept {
    ++nodes_;
    const std::uint64_t empties = ~(board.own | board.other);
    std::uint64_t odd = empties & kQuarterSets[parity];
    std::uint64_t even = empties ^ odd;
    unsigned points[4];
    for (unsigned& point : points) {
      std::uint64_t& from = odd != 0 ? odd : even;
      point = first_of(from);
      from &= from - 1;
    }
    const int score = try_four(board, alpha, points);
    if (score != kNone) return score;
    const int passed = try_four({board.other, board.own}, -alpha - 1, points);
    return passed != kNone ? -passed : final_score(board);
  }

 private:
  PYENGINE_WITH_TARGET static std::uint64_t flips_at(Board board, unsigned point) noexcept {
    if ((kPoints.neighbours[point] & board.other) == 0) return 0;
    return B::flips(point, board.own, board.other);
  }

  /// Twice the number of discs that the last disc of the board flips.
  PYENGINE_WITH_TARGET static int last_flips(std::uint64_t own, unsigned point) noexcept {
    const unsigned column = point & 7U;
    const unsigned row = point >> 3U;
    const auto& across = kLastFlips.flips[column];
    const auto& down = kLastFlips.flips[row];
    const Diagonals& lines = kPoints.diagonals[point];
    return across[(own >> (8 * row)) & 0xFFU] +
        down[(((own >> column) & kEveryByte) * kColumnToByte) >> 56] +
        across[((own & lines.falling) * kEveryByte) >> 56] +
        across[((own & lines.rising) * kEveryByte) >> 56];
  }

  /// Returns the exact score.
  PYENGINE_WITH_TARGET int one(std::uint64_t own, unsigned point) noexcept {
    ++nodes_;
    const int without = 2 * B::count(own) - 64;  // as if the empty point were the opponent's
    if (const int flips = last_flips(own, point); flips != 0) return without + 2 + flips;
    const std::uint64_t other = ~own & ~(std::uint64_t{1} << point);
    if (const int flips = last_flips(other, point); flips != 0) return without - flips;
    return without >= 0 ? without + 2 : without;
  }

  PYENGINE_WITH_TARGET int two(Board board, int alpha, unsigned a, unsigned b) noexcept {
    ++nodes_;
    const int score = try_two(board, alpha, a, b);
    if (score != kNone) return score;
    const int passed = try_two({board.other, board.own}, -alpha - 1, a, b);
    return passed != kNone ? -passed : final_score(board);
  }
  PYENGINE_WITH_TARGET int try_two(Board board, int alpha, unsigned a, unsigned b) noexcept {
    int best = kNone;
    if (const std::uint64_t flips = flips_at(board, a); flips != 0) {
      best = -one(board.other & ~flips, b);
      if (best > alpha) return best;
    }
    if (const std::uint64_t flips = flips_at(board, b); flips != 0) {
      const int score = -one(board.other & ~flips, a);
      if (score > best) best = score;
    }
    return best;
  }

  /// Starts with a point that is alone in its quadrant, if any.
  PYENGINE_WITH_TARGET int three(Board board, int alpha, unsigned a, unsigned b,
                                 unsigned c) noexcept {
    if (kQuarterOf[b] == kQuarterOf[c]) return three_in_order(board, alpha, a, b, c);
    if (kQuarterOf[a] == kQuarterOf[c]) return three_in_order(board, alpha, b, a, c);
    return three_in_order(board, alpha, c, a, b);
  }
  PYENGINE_WITH_TARGET int three_in_order(Board board, int alpha, unsigned a, unsigned b,
                                          unsigned c) noexcept {
    ++nodes_;
    const int score = try_three(board, alpha, a, b, c);
    if (score != kNone) return score;
    const int passed = try_three({board.other, board.own}, -alpha - 1, a, b, c);
    return passed != kNone ? -passed : final_score(board);
  }
  PYENGINE_WITH_TARGET int try_three(Board board, int alpha, unsigned a, unsigned b,
                                     unsigned c) noexcept {
    int best = kNone;
    if (const std::uint64_t flips = flips_at(board, a); flips != 0) {
      best = -two(after(board, a, flips), -alpha - 1, b, c);
      if (best > alpha) return best;
    }
    if (const std::uint64_t flips = flips_at(board, b); flips != 0) {
      const int score = -two(after(board, b, flips), -alpha - 1, a, c);
      if (score > alpha) return score;
      if (score > best) best = score;
    }
    if (const std::uint64_t flips = flips_at(board, c); flips != 0) {
      const int score = -two(after(board, c, flips), -alpha - 1, a, b);
      if (score > best) best = score;
    }
    return best;
  }

  PYENGINE_WITH_TARGET int try_four(Board board, int alpha, const unsigned (&points)[4]) noexcept {
    const std::uint64_t moves = B::moves(board.own, board.other);
    int best = kNone;
    for (unsigned i = 0; moves != 0 && i < 4; ++i) {
      if (((moves >> points[i]) & 1U) == 0) continue;
      const std::uint64_t flips = B::flips(points[i], board.own, board.other);
      const int score = -three(after(board, points[i], flips), -alpha - 1, points[i == 0 ? 1 : 0],
                               points[i <= 1 ? 2 : 1], points[i <= 2 ? 3 : 2]);
      if (score > alpha) return score;
      if (score > best) best = score;
    }
    return best;
  }

  std::uint64_t nodes_ = 0;
};

}  // namespace
}  // namespace pyengine::othello
