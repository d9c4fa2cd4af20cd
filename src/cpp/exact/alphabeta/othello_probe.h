/// Move ordering in Othello with many empty points. Included like othello_last.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "exact/alphabeta/othello_kernels.h"
#include "exact/alphabeta/othello_last.h"
#include "exact/alphabeta/othello_stability.h"

namespace pyengine::othello {
namespace {

/// Estimates moves from the resulting positions and, if worthwhile, from a search of a few plies. B
/// provides the rules.
template <class B>
class Probe {
 public:
  /// Number of positions reached by placing a disc, not counting those in the list.
  [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }

  /// See Kernels::estimate.
  PYENGINE_WITH_TARGET static int estimate(Board board) noexcept {
    constexpr int kUnitsADisc =
        12;  // from a regression on solved positions with 10 to 18 empty points
    return std::clamp(evaluate(board) / kUnitsADisc, -kMostDiscs, kMostDiscs);
  }

  /// See Kernels::list_children.
  PYENGINE_WITH_TARGET int list(Board board, int depth, Child* children) noexcept {
    int size = 0;
    for (std::uint64_t rest = B::moves(board.own, board.other); rest != 0; rest &= rest - 1) {
      const unsigned point = first_of(rest);
      Child& child = children[size++];
      child.board = after(board, point, B::flips(point, board.own, board.other));
      child.point = static_cast<std::uint8_t>(point);
      child.order = child.board.own == 0 ? kWon
          : depth > 0                    ? -search(child.board, depth - 1, -kInfinite, kInfinite)
                                         : left_by_move(child.board);
    }
    if (size == 0 && B::moves(board.other, board.own) != 0) {
      children[size++] = {{board.other, board.own}, 0, kPass};
    }
    return size;
  }

 private:
  // Weights in arbitrary units, tuned for speed on the FFO positions.
  static constexpr int kMove = 24;        ///< per move; moves into a corner count twice
  static constexpr int kFrontier = 8;     ///< per empty point adjacent to the opponent's discs
  static constexpr int kStable = 12;      ///< per stable disc
  static constexpr int kRisky = 20;       ///< per disc diagonal to an empty corner
  static constexpr int kEnd = 16;         ///< per disc at the end of the game
  static constexpr int kWon = 1'000'000;  ///< more than all other terms together
  static constexpr int kInfinite = 2 * kWon;

  PYENGINE_WITH_TARGET static int mobility(std::uint64_t moves) noexcept {
    return B::count(moves) + B::count(moves & kCorners);
  }
  /// Empty points adjacent to discs of `other` that could be bracketed by a disc of `own`.
  PYENGINE_WITH_TARGET static int frontier(Board board) noexcept {
    const std::uint64_t across = board.other & 0x7E7E7E7E7E7E7E7EU;
    const std::uint64_t down = board.other & 0x00FFFFFFFFFFFF00U;
    const std::uint64_t aslant = across & down;
    const std::uint64_t beside = across << 1 | across >> 1 | down << 8 | down >> 8 | aslant << 7 |
        aslant >> 7 | aslant << 9 | aslant >> 9;
    return B::count(beside & ~(board.own | board.other));
  }
  /// The points diagonal to empty corners.
  PYENGINE_WITH_TARGET static std::uint64_t risky_points(Board board) noexcept {
    const std::uint64_t empty = kCorners & ~(board.own | board.other);
    return ((empty << 9 | empty << 7 | empty >> 7 | empty >> 9) & kXPoints);
  }
  PYENGINE_WITH_TARGET static Board turned(Board board) noexcept {
    return {board.other, board.own};
  }

  /// `board` is the position after a move: larger is better for the player who moved.
  PYENGINE_WITH_TARGET static int left_by_move(Board board) noexcept {
    return kStable * B::count(stable_discs(board.other, board.own)) -
        kMove * mobility(B::moves(board.own, board.other)) - kFrontier * frontier(board);
  }

  /// Larger is better for the player to move.
  PYENGINE_WITH_TARGET static int evaluate(Board board) noexcept {
    const std::uint64_t risky = risky_points(board);
    return kMove *
        (mobility(B::moves(board.own, board.other)) - mobility(B::moves(board.other, board.own))) +
        kFrontier * (frontier(board) - frontier(turned(board))) +
        kStable *
        (B::count(stable_discs(board.own, board.other)) -
         B::count(stable_discs(board.other, board.own))) -
        kRisky * (B::count(risky & board.own) - B::count(risky & board.other));
  }

  PYENGINE_WITH_TARGET static int final_value(Board board) noexcept {
    const int score = LastPoints<B>::final_score(board);
    return kEnd * score + (score > 0 ? kWon / 2 : score < 0 ? -kWon / 2 : 0);
  }

  /// Alpha-beta of `depth` plies, starting with moves that leave few replies.
  PYENGINE_WITH_TARGET int search(Board board, int depth, int alpha, int beta) noexcept {
    if (depth == 0) return evaluate(board);
    std::uint64_t moves = B::moves(board.own, board.other);
    if (moves != 0) return try_moves(board, moves, depth, alpha, beta);
    moves = B::moves(board.other, board.own);
    if (moves == 0) return final_value(board);
    return -try_moves(turned(board), moves, depth, -beta, -alpha);
  }
  PYENGINE_WITH_TARGET int try_moves(Board board, std::uint64_t moves, int depth, int alpha,
                                     int beta) noexcept {
    Board boards[kMaxChildren];
    int order[kMaxChildren];
    int size = 0;
    for (std::uint64_t rest = moves; rest != 0; rest &= rest - 1, ++size) {
      const unsigned point = first_of(rest);
      const Board next = after(board, point, B::flips(point, board.own, board.other));
      boards[size] = next;
      const int key = depth == 1 ? 0 : mobility(B::moves(next.own, next.other));
      const int entry = kMaxChildren * key + size;
      int at = size;
      for (; at > 0 && order[at - 1] > entry; --at) order[at] = order[at - 1];
      order[at] = entry;
    }
    int best = -kInfinite;
    for (int i = 0; i < size && best < beta; ++i, ++nodes_) {
      const int least = std::max(alpha, best);
      best = std::max(best, -search(boards[order[i] % kMaxChildren], depth - 1, -beta, -least));
    }
    return best;
  }

  std::uint64_t nodes_ = 0;
};

}  // namespace
}  // namespace pyengine::othello
