/// An 8x8 Othello position for the alpha-beta search: bounds, children and move order. Scores are
/// disc differences for the player to move, with empty points counted for the winner.
#pragma once

#include <cstdint>

#include "base/bits.h"
#include "exact/alphabeta/othello_board.h"
#include "exact/alphabeta/othello_kernels.h"
#include "exact/alphabeta/othello_stability.h"
#include "games/common/hashing.h"
#include "games/othello.h"

namespace pyengine::othello {

/// `game` must be 8x8.
[[nodiscard]] inline Board board_of(const Othello& game) noexcept {
  BoardBits first;
  BoardBits second;
  game.stones(0, first, second);
  const Board board{first.words[0], second.words[0]};
  return game.to_move() == 0 ? board : Board{board.other, board.own};
}

[[nodiscard]] inline int count_empties(Board board) noexcept {
  return count_bits(~(board.own | board.other));
}

[[nodiscard]] inline std::uint64_t hash_of(Board board) noexcept {
  return hash_words(board.own, board.other, 0);
}

/// For a position in which neither player can move.
[[nodiscard]] inline int final_score(Board board) noexcept {
  const int own = count_bits(board.own);
  const int other = count_bits(board.other);
  return own == other ? 0 : own > other ? kMostDiscs - 2 * other : 2 * own - kMostDiscs;
}

/// An upper bound on the score: the opponent keeps the stable discs.
[[nodiscard]] inline int upper_bound(Board board) noexcept {
  return kMostDiscs - 2 * count_bits(stable_discs(board.other, board.own));
}

/// Below this alpha upper_bound() is rarely low enough to be worth its time (measured).
inline constexpr int kBoundFrom = 10;

/// The search depth for move ordering in null-window searches; open windows use two plies more.
/// Tuned on the FFO positions.
[[nodiscard]] constexpr int probe_depth(int empties, bool open_window) noexcept {
  if (empties < 13) return 0;
  const int plies = empties < 15 ? 1 : empties < 17 ? 2 : empties < 19 ? 3 : 4;
  return plies + (open_window ? 2 : 0);
}

}  // namespace pyengine::othello
