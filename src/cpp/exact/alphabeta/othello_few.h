/// Othello with few empty points: a search without a table. Included like othello_last.h.
///
/// Scores are disc differences for the player to move, with empty points counted for the winner;
/// they are even. The move order was found by measurement: with five empty points, moves in
/// quadrants with an odd number of them first; with more, moves that leave the opponent the fewest
/// replies.
#pragma once

#include <cstdint>

#include "exact/alphabeta/othello_kernels.h"
#include "exact/alphabeta/othello_last.h"
#include "exact/alphabeta/othello_stability.h"

namespace pyengine::othello {
namespace {

template <class B>
class FewEmpties {
 public:
  /// The score: exact between alpha and beta, otherwise a fail-soft bound.
  PYENGINE_WITH_TARGET int solve(Board board, int alpha, int beta) noexcept {
    const std::uint64_t empties = ~(board.own | board.other);
    unsigned parity = 0;
    for (std::uint64_t rest = empties; rest != 0; rest &= rest - 1) {
      parity ^= kQuarterOf[first_of(rest)];
    }
    const int count = B::count(empties);
    if (count <= 1 || beta - alpha <= 1) return null_window(board, alpha, count, parity);
    return open_window(board, alpha, beta, count, parity);
  }
  /// Number of positions reached by placing a disc, including the root; passes and the full board
  /// do not count.
  [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_ + last_.nodes(); }

 private:
  /// Below this alpha too few discs are stable to be worth counting (measured).
  static constexpr int kStabilityFrom = 14;

  struct Reply {
    Board board;
    std::uint64_t moves;
    unsigned parity;
  };

  PYENGINE_WITH_TARGET int null_window(Board board, int alpha, int count,
                                       unsigned parity) noexcept {
    if (count <= 4) return last_.solve(board, alpha, count, parity);
    return with_moves(board, B::moves(board.own, board.other), alpha, count, parity);
  }

  /// For five empty points or more.
  PYENGINE_WITH_TARGET int with_moves(Board board, std::uint64_t moves, int alpha, int count,
                                      unsigned parity) noexcept {
    ++nodes_;
    if (moves != 0) return try_moves(board, moves, alpha, count, parity);
    moves = B::moves(board.other, board.own);
    if (moves == 0) return LastPoints<B>::final_score(board);
    return -try_moves({board.other, board.own}, moves, -alpha - 1, count, parity);
  }

  PYENGINE_WITH_TARGET int try_moves(Board board, std::uint64_t moves, int alpha, int count,
                                     unsigned parity) noexcept {
    if (alpha >= kStabilityFrom) {
      const int bound = kMostDiscs - 2 * B::count(stable_discs(board.other, board.own));
      if (bound <= alpha) return bound;
    }
    return count == 5 ? by_parity(board, moves, alpha, parity)
                      : fastest_first(board, moves, alpha, count, parity);
  }

  PYENGINE_WITH_TARGET int by_parity(Board board, std::uint64_t moves, int alpha,
                                     unsigned parity) noexcept {
    int best = kNone;
    for (std::uint64_t odd = moves & kQuarterSets[parity], even = moves ^ odd; (odd | even) != 0;) {
      std::uint64_t& from = odd != 0 ? odd : even;
      const unsigned point = first_of(from);
      from &= from - 1;
      const std::uint64_t flips = B::flips(point, board.own, board.other);
      const int score =
          -last_.four(after(board, point, flips), -alpha - 1, parity ^ kQuarterOf[point]);
      if (score > alpha) return score;
      if (score > best) best = score;
    }
    return best;
  }

  /// Writes the replies and, in `order`, their priorities.
  PYENGINE_WITH_TARGET static int list_replies(Board board, std::uint64_t moves, unsigned parity,
                                               Reply* replies, int* order) noexcept {
    constexpr int kMove = 4, kOdd = 3, kCorner = 3;  // measured
    int size = 0;
    for (std::uint64_t rest = moves; rest != 0; rest &= rest - 1, ++size) {
      const unsigned point = first_of(rest);
      const std::uint64_t flips = B::flips(point, board.own, board.other);
      Reply& reply = replies[size];
      reply.board = after(board, point, flips);
      reply.moves = B::moves(reply.board.own, reply.board.other);
      reply.parity = parity ^ kQuarterOf[point];
      const int key = kMove * (B::count(reply.moves) + B::count(reply.moves & kCorners)) -
          kOdd * static_cast<int>((kQuarterSets[parity] >> point) & 1U) -
          kCorner * static_cast<int>((kCorners >> point) & 1U);
      const int entry = kMaxChildren * key + size;
      int at = size;
      for (; at > 0 && order[at - 1] > entry; --at) order[at] = order[at - 1];
      order[at] = entry;
    }
    return size;
  }

  PYENGINE_WITH_TARGET int fastest_first(Board board, std::uint64_t moves, int alpha, int count,
                                         unsigned parity) noexcept {
    Reply replies[kMaxChildren];
    int order[kMaxChildren];
    const int size = list_replies(board, moves, parity, replies, order);
    int best = kNone;
    for (int i = 0; i < size; ++i) {
      const Reply& reply = replies[order[i] & (kMaxChildren - 1)];
      const int score = -with_moves(reply.board, reply.moves, -alpha - 1, count - 1, reply.parity);
      if (score > alpha) return score;
      if (score > best) best = score;
    }
    return best;
  }

  /// For two empty points or more.
  PYENGINE_WITH_TARGET int open_window(Board board, int alpha, int beta, int count,
                                       unsigned parity) noexcept {
    ++nodes_;
    std::uint64_t moves = B::moves(board.own, board.other);
    if (moves != 0) return try_open(board, moves, alpha, beta, count, parity);
    moves = B::moves(board.other, board.own);
    if (moves == 0) return LastPoints<B>::final_score(board);
    return -try_open({board.other, board.own}, moves, -beta, -alpha, count, parity);
  }

  /// Principal variation search: all moves after the first must prove that they are better.
  PYENGINE_WITH_TARGET int try_open(Board board, std::uint64_t moves, int alpha, int beta,
                                    int count, unsigned parity) noexcept {
    Reply replies[kMaxChildren];
    int order[kMaxChildren];
    const int size = list_replies(board, moves, parity, replies, order);
    int best = kNone;
    for (int i = 0; i < size && best < beta; ++i) {
      const Reply& reply = replies[order[i] & (kMaxChildren - 1)];
      const int least = best > alpha ? best : alpha;
      int score = kNone;
      if (i > 0) score = -null_window(reply.board, -least - 1, count - 1, reply.parity);
      if (i == 0 || (score > least && score < beta)) {
        score = count == 2 ? -null_window(reply.board, -beta, 1, reply.parity)
                           : -open_window(reply.board, -beta, -least, count - 1, reply.parity);
      }
      if (score > best) best = score;
    }
    return best;
  }

  LastPoints<B> last_;
  std::uint64_t nodes_ = 0;
};

}  // namespace
}  // namespace pyengine::othello
