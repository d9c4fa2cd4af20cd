/// The parts of the Othello solver that are compiled for each instruction set, on 8x8 boards.
#pragma once

#include <cstdint>

#include "exact/alphabeta/othello_board.h"

namespace pyengine::othello {

inline constexpr std::uint8_t kPass = 64;
/// More than any position has, also one that no game leads to; a power of two.
inline constexpr int kMaxChildren = 64;
/// Up to so many empty points the search without a table is the faster one (measured).
inline constexpr int kFewEmpties = 10;

/// A position that a move leads to.
struct Child {
  Board board;             ///< as the player sees it who moves there
  std::int32_t order = 0;  ///< the larger, the sooner to be tried
  std::uint8_t point = 0;  ///< of the move, or kPass
};

/// Of one instruction set; all sets give the same results.
struct Kernels {
  const char* name;
  /// The disc difference with best play for the player to move, empty points counted for the
  /// winner: exact where it lies between alpha and beta, else a bound on its side of the window.
  /// -64 <= alpha < beta <= 64; meant for kFewEmpties or fewer. Adds to `nodes` the positions that
  /// a disc was played to reach, the root included; a pass makes none, the full board is none.
  int (*solve_few)(Board board, int alpha, int beta, std::uint64_t& nodes) noexcept;
  /// Writes the children of `board` and returns how many there are: a pass alone where only the
  /// other can move, none where the game is over. The order comes from a search of `depth` plies
  /// that begins with the move; 0 compares what the moves leave. Adds to `nodes` the positions that
  /// this search reached behind the children.
  int (*list_children)(Board board, int depth, Child* children, std::uint64_t& nodes) noexcept;
  /// The score as far as mobility and safe discs tell it, -64..64.
  int (*estimate)(Board board) noexcept;
};

[[nodiscard]] const Kernels& portable_kernels() noexcept;
/// nullptr where the processor or the build has no AVX2.
[[nodiscard]] const Kernels* avx2_kernels() noexcept;
/// The fastest ones of this processor.
[[nodiscard]] const Kernels& kernels() noexcept;

}  // namespace pyengine::othello
