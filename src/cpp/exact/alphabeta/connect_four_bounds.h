/// Bounds on a Connect Four score, found without a search. If the number of empty points is even,
/// the opponent of the player to move can always reply in kind: directly above each stone or, at
/// the bottom of a column with an odd number of empty points, at the bottom of another such column.
/// This bounds the points that the player to move can get and guarantees others to the opponent.
///
/// Source: Allis, "A knowledge-based approach of Connect-Four", 1988 (claimeven, baseinverse,
/// zugzwang), applied to the whole board.
#pragma once

#include <cstdint>

#include "base/bits.h"
#include "exact/alphabeta/connect_four_board.h"

namespace pyengine::alphabeta {

/// For a position in which the player to move cannot win immediately. "He" is the player to move.
template <class Size>
class ConnectFourBounds {
  using Bits = std::uint64_t;

 public:
  /// `threats`: the empty points that complete a four of the opponent. There are no bounds for an
  /// odd number of rows, because columns do not fill up in pairs.
  ConnectFourBounds(ConnectFourBoard<Size> board, Bits own, Bits stones, Bits threats) noexcept
      : board_(board),
        own_(own),
        other_(own ^ stones),
        empty_(board.all() ^ stones),
        open_(board.playable(stones)),
        threats_(threats & ~open_) {}

  /// An upper bound on the score, at most `high`. If it is at most `alpha`, the score is not above
  /// alpha.
  [[nodiscard]] int upper(int empties, int alpha, int high) const noexcept {
    if (board_.rows() % 2 != 0) return high;
    return empties % 2 == 0 ? answered(empties, alpha, high) : in_zugzwang(alpha, high);
  }

  /// False only if upper() is above `alpha` after each of these moves of the opponent, whose
  /// threats after any of them are `threats`; `empties` is counted after the move.
  [[nodiscard]] bool may_answer(int empties, int alpha, Bits moves) const noexcept {
    if (board_.rows() % 2 != 0) return false;
    if (empties % 2 == 0) return alpha >= 0 || wins_for_certain(other_ | moves, alpha);
    if (alpha >= 0 && !board_.has_four(own_ | (empty_ & ~moves))) return true;
    return zugzwangs(alpha) != 0;
  }

 private:
  /// The opponent answers every move as above.
  [[nodiscard]] int answered(int empties, int alpha, int high) const noexcept {
    // A threat directly above one of his points ends the column for him.
    Bits ended = threats_ & board_.odd_rows();
    if (ended != 0) ended = board_.upward(ended);
    const Bits mine = own_ | (empty_ & board_.even_rows() & ~ended) | (open_ & board_.odd_rows());
    if (board_.has_four(mine)) {
      const int most = (empties + 1) / 2 - alpha;
      return alpha >= 0 && !reaches(mine, most) ? alpha : high;
    }
    if (alpha >= 0) return 0;
    return wins_for_certain(other_, alpha) ? alpha : 0;
  }

  /// Whether the opponent, with stones on `his`, completes a four by answering alone, early enough
  /// for a score of at most `alpha` < 0: at the latest when his opponent must play below the last
  /// missing point.
  [[nodiscard]] bool wins_for_certain(Bits his, int alpha) const noexcept {
    const Bits certain = empty_ & board_.odd_rows() & ~open_ & rows_up_to(last_row(alpha));
    return certain != 0 && board_.has_four(his | certain);
  }

  /// The opponent has a threat on an even row. He never plays below it. The rest of the board has
  /// an even number of empty points, and the opponent answers there until he must play below the
  /// threat.
  [[nodiscard]] int in_zugzwang(int alpha, int high) const noexcept {
    if (alpha >= 0 && !board_.has_four(own_ | empty_)) return 0;
    const Bits even = (empty_ & board_.even_rows()) | (open_ & board_.odd_rows());
    const Bits odd = (empty_ & board_.odd_rows()) | (open_ & board_.even_rows());
    for (Bits rest = zugzwangs(alpha); rest != 0; rest &= rest - 1) {
      const Bits threat = rest & (~rest + 1);
      const int score = -(board_.rows() + 1 - board_.row_of(threat)) / 2;
      const Bits column = board_.column_bits(board_.column_of(threat));
      const Bits mine = own_ | (even & ~column) | (odd & column & (threat - 1));
      if (!board_.has_four(mine)) return score;
    }
    return high;
  }

  /// Threats of the opponent that win by zugzwang with a score of at most `alpha`.
  [[nodiscard]] Bits zugzwangs(int alpha) const noexcept {
    return threats_ & board_.even_rows() &
        (alpha >= 0 ? board_.all() : rows_up_to(last_row(alpha)));
  }
  /// Highest row in which a four completed as the last one gives a score of at most `alpha` < 0.
  [[nodiscard]] int last_row(int alpha) const noexcept { return board_.rows() + 1 + 2 * alpha; }

  /// Whether `mine` contains a four that needs at most `most` stones if the opponent only answers.
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
  /// Stones needed to get these points, of which no column has two. A stone at the bottom of a
  /// column with an odd number of empty points gets him two such bottoms.
  [[nodiscard]] int stones_to(Bits missing, Bits mine) const noexcept {
    const Bits bottoms = ((missing + board_.all()) & ~board_.all()) >> board_.rows();
    const Bits down = ((missing << 1) - bottoms) & mine & ~own_;
    return count_bits(down & board_.even_rows()) + (count_bits(down & board_.odd_rows()) + 1) / 2;
  }
  [[nodiscard]] Bits rows_up_to(int row) const noexcept {
    return row < 0 ? 0 : board_.bottom() * ((Bits{2} << row) - 1);
  }

  ConnectFourBoard<Size> board_;
  Bits own_;
  Bits other_;
  Bits empty_;
  Bits open_;
  Bits threats_;  ///< threats that are not playable yet
};

}  // namespace pyengine::alphabeta
