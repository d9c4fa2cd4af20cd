/// Othello positions for the tests of its solver, and a plain way to solve them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bits.h"
#include "base/rng.h"
#include "exact/alphabeta/othello_board.h"
#include "games/othello_bits.h"

namespace pyengine::test {

using OthelloRules = OthelloBits<8, std::uint64_t>;

/// 64 points, row by row from the top left: X for the discs of `mover` and O for the opponent's, or
/// the reverse if `mover` is 'O'.
inline othello::Board board_of(std::string_view points, char mover = 'X') {
  othello::Board board;
  for (std::size_t point = 0; point < points.size(); ++point) {
    if (points[point] == '-') continue;
    (points[point] == mover ? board.own : board.other) |= std::uint64_t{1} << point;
  }
  return board;
}

inline othello::Board passed(othello::Board board) { return {board.other, board.own}; }

inline std::uint64_t moves_of(othello::Board board) {
  return OthelloRules::moves(board.own, board.other);
}

/// `place` must have exactly one point.
inline othello::Board played(othello::Board board, std::uint64_t place) {
  const std::uint64_t flips = OthelloRules::flips(place, board.own, board.other);
  return {board.other & ~flips, board.own | flips | place};
}

inline bool is_over(othello::Board board) {
  return moves_of(board) == 0 && moves_of(passed(board)) == 0;
}

/// Disc difference for the player to move, with empty points counted for the winner.
inline int final_difference(othello::Board board) {
  const int difference = count_bits(board.own) - count_bits(board.other);
  const int empty = 64 - count_bits(board.own | board.other);
  return difference > 0 ? difference + empty : difference < 0 ? difference - empty : 0;
}

/// Plain negamax.
inline int best_difference(othello::Board board) {
  if (is_over(board)) return final_difference(board);
  const std::uint64_t moves = moves_of(board);
  if (moves == 0) return -best_difference(passed(board));
  int best = -64;
  for (std::uint64_t rest = moves; rest != 0; rest &= rest - 1) {
    best = std::max(best, -best_difference(played(board, rest & (0 - rest))));
  }
  return best;
}

/// A position with the given number of empty points from a random game; it may be terminal.
/// Sometimes the other player is to move, so that passes are common.
inline othello::Board random_endgame(Rng& rng, int empties) {
  for (;;) {
    othello::Board board{0x0000000810000000U, 0x0000001008000000U};
    int left = 60;
    while (left > empties && !is_over(board)) {
      std::uint64_t moves = moves_of(board);
      if (moves == 0) {
        board = passed(board);
        continue;
      }
      for (std::uint32_t skip = rng.below(static_cast<std::uint32_t>(count_bits(moves))); skip > 0;
           --skip) {
        moves &= moves - 1;
      }
      board = played(board, moves & (0 - moves));
      --left;
    }
    if (left == empties) return rng.below(4) == 0 ? passed(board) : board;
  }
}

}  // namespace pyengine::test
