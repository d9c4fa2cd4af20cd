/// Bounds of a Connect Four score that need no search. Who is to move while an even number of
/// points is empty can be answered on the spot: his opponent plays above each of his stones, or, at
/// the bottom of a column with an odd number of empty points, at the bottom of another such column.
/// All points that he can then get are known, and so are those that his opponent gets for certain.
///
/// Source: Allis, "A knowledge-based approach of Connect-Four", 1988 (claimeven, baseinverse,
/// zugzwang), here for the whole board at once.
#pragma once

#include <cstdint>

#include "base/bits.h"
#include "exact/alphabeta/connect_four_board.h"

namespace pyengine::alphabeta {

/// Of a position in which the player to move cannot win at once. "He" is the player to move.
template <class Size>
class ConnectFourBounds {
  using Bits = std::uint64_t;

 public:
  /// `threats`: the empty points that complete a four of the other. Boards with an odd number of
  /// rows have no bounds, since columns do not fill up in pairs there.
  ConnectFourBounds(ConnectFourBoard<Size> board, Bits own, Bits stones, Bits threats) noexcept
      : board_(board),
        own_(own),
        other_(own ^ stones),
        empty_(board.all() ^ stones),
        open_(board.playable(stones)),
        threats_(threats & ~open_) {}

  /// At most `high`. No score is larger, and where this is at most `alpha` it answers whether the
  /// score is above alpha.
  [[nodiscard]] int upper(int empties, int alpha, int high) const noexcept {
    if (board_.rows() % 2 != 0) return high;
    return empties % 2 == 0 ? answered(empties, alpha, high) : in_zugzwang(alpha, high);
  }

 private:
  /// The other answers every move as above.
  [[nodiscard]] int answered(int empties, int alpha, int high) const noexcept {
    // A threat above a point that is his ends the column for him.
    Bits ended = threats_ & board_.odd_rows();
    if (ended != 0) ended = board_.upward(ended);
    const Bits mine = own_ | (empty_ & board_.even_rows() & ~ended) | (open_ & board_.odd_rows());
    if (board_.has_four(mine)) {
      const int most = (empties + 1) / 2 - alpha;
      return alpha >= 0 && !reaches(mine, most) ? alpha : high;
    }
    if (alpha >= 0) return 0;
    // The other wins at the latest when he has to play below the last point that is missing.
    const int top = board_.rows() + 1 + 2 * alpha;
    if (top < 1) return 0;
    const Bits certain = empty_ & board_.odd_rows() & ~open_ & rows_up_to(top);
    return board_.has_four(other_ | certain) ? alpha : 0;
  }

  /// The other has a threat on an even row. He never plays below it, and the rest of the board has
  /// an even number of empty points: the other answers there, until he has to.
  [[nodiscard]] int in_zugzwang(int alpha, int high) const noexcept {
    if (alpha >= 0 && !board_.has_four(own_ | empty_)) return 0;
    const Bits even = (empty_ & board_.even_rows()) | (open_ & board_.odd_rows());
    const Bits odd = (empty_ & board_.odd_rows()) | (open_ & board_.even_rows());
    for (Bits rest = threats_ & board_.even_rows(); rest != 0; rest &= rest - 1) {
      const Bits threat = rest & (~rest + 1);
      const int score = -(board_.rows() + 1 - board_.row_of(threat)) / 2;
      if (score > alpha) continue;
      const Bits column = board_.column_bits(board_.column_of(threat));
      const Bits mine = own_ | (even & ~column) | (odd & column & (threat - 1));
      if (!board_.has_four(mine)) return score;
    }
    return high;
  }

  /// Does `mine` have a four that he completes with at most `most` stones, while the other answers?
  [[nodiscard]] bool reaches(Bits mine, int most) const noexcept {
    for (const int step : {1, board_.stride(), board_.stride() - 1, board_.stride() + 1}) {
      for (Bits rest = board_.fours(mine, step); rest != 0; rest &= rest - 1) {
        const Bits first = rest & (~rest + 1);
        const Bits line = first | first << step | first << (2 * step) | first << (3 * step);
        const Bits missing = line & ~own_;
        if ((step == 1 ? count_bits(missing) : stones_to(missing, mine)) <= most) return true;
      }
    }
    return false;
  }
  /// Stones that he needs to get these points, of which no column has two. With a stone at the
  /// bottom of a column that has an odd number of empty points he gets by two such bottoms.
  [[nodiscard]] int stones_to(Bits missing, Bits mine) const noexcept {
    const Bits bottoms = ((missing + board_.all()) & ~board_.all()) >> board_.rows();
    const Bits down = ((missing << 1) - bottoms) & mine & ~own_;
    return count_bits(down & board_.even_rows()) + (count_bits(down & board_.odd_rows()) + 1) / 2;
  }
  [[nodiscard]] Bits rows_up_to(int row) const noexcept {
    return board_.bottom() * ((Bits{2} << row) - 1);
  }

  ConnectFourBoard<Size> board_;
  Bits own_;
  Bits other_;
  Bits empty_;
  Bits open_;
  Bits threats_;  ///< that cannot be played yet
};

}  // namespace pyengine::alphabeta
