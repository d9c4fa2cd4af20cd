/// The parts of the Othello solver that are compiled per instruction set, for 8x8 boards.
#pragma once

#include <cstdint>

#include "exact/alphabeta/othello_board.h"

namespace pyengine::othello {

inline constexpr std::uint8_t kPass = 64;
/// More moves than any position has, even unreachable ones; a power of two.
inline constexpr int kMaxChildren = 64;
/// With at most this many empty points, searching without a table is faster (measured).
inline constexpr int kFewEmpties = 10;

/// The position after a move.
struct Child {
  Board board;             ///< from the perspective of the player to move there
  std::int32_t order = 0;  ///< larger values are tried first
  std::uint8_t point = 0;  ///< the move, or kPass
};

/// Functions of one instruction set; all sets give the same results.
struct Kernels {
  const char* name;
  /// The disc difference with best play for the player to move, with empty points counted for the
  /// winner: exact between alpha and beta, otherwise a bound. -64 <= alpha < beta <= 64; meant for
  /// at most kFewEmpties empty points. Adds to `nodes` the number of positions reached by placing a
  /// disc, including the root; passes and the full board do not count.
  int (*solve_few)(Board board, int alpha, int beta, std::uint64_t& nodes) noexcept;
  /// Writes the children of `board` and returns their number: a single pass if only the opponent
  /// can move, none if the game is over. The order comes from a search of `depth` plies starting
  /// with the move; 0 compares the positions after the moves. Adds to `nodes` the positions that
  /// this search reached below the children.
  int (*list_children)(Board board, int depth, Child* children, std::uint64_t& nodes) noexcept;
  /// A static estimate of the score from mobility and safe discs, -64..64.
  int (*estimate)(Board board) noexcept;
};

[[nodiscard]] const Kernels& portable_kernels() noexcept;
/// nullptr if the processor or the build lacks AVX2.
[[nodiscard]] const Kernels* avx2_kernels() noexcept;
/// The fastest kernels for this processor.
[[nodiscard]] const Kernels& kernels() noexcept;

}  // namespace pyengine::othello
