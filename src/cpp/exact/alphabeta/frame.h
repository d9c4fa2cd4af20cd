/// The state of a node in the alpha-beta search while its children are searched.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact/alphabeta/position.h"
#include "exact/alphabeta/table.h"

namespace pyengine::alphabeta {

/// A root move.
struct RootMove {
  Action action = kNoAction;
  bool is_shown = false;  ///< proven better than some score, not merely the first move
};

/// A node of the line being searched; one per ply.
template <SolverPosition P>
struct SearchFrame {
  using Score = typename P::Score;
  struct Best {
    Score score = kNoScoreOf<Score>;
    Action action = kNoAction;
  };

  typename P::Children children;
  P next{};                     ///< the child being searched
  const P* position = nullptr;  ///< stored in the frame above
  BasicQuestion<Score> question;
  BasicBounds<Score> bounds;
  std::uint64_t key = 0;
  std::uint64_t nodes = 0;    ///< Search::nodes() on entry
  std::uint64_t horizon = 0;  ///< Search::horizon() on entry
  std::uint64_t mark = 0;     ///< mark of `next` in Shared::busy
  Best best;
  Score low{};  ///< the window of `next`, for the player to move here
  Score high{};
  int place = 0;             ///< index of `next` among the children
  int tried = 0;             ///< number of children chosen or deferred
  Action first = kNoAction;  ///< the move from the table
  bool is_kept = false;
  bool marks = false;  ///< whether other threads see what is searched here
  std::size_t later_tried = 0;
  std::vector<int>
      later;  ///< indices of children deferred because another thread was searching them

  /// Moves the best of the children from `from` on to index `from`.
  void pick(int from) noexcept {
    int chosen = from;
    for (int i = from + 1; i < children.size(); ++i) {
      if (children.order(i) > children.order(chosen)) chosen = i;
    }
    if (chosen != from) children.swap(from, chosen);
  }
};

/// The table has 24 bits for a score; a position with wider scores maps them to numbers.
template <SolverPosition P>
int entry_of(const P& position, typename P::Score score) {
  if constexpr (std::same_as<typename P::Score, int>) {
    return score;
  } else {
    return position.entry_of(score);
  }
}
template <SolverPosition P>
typename P::Score score_in(const P& position, const Found& found) {
  if constexpr (std::same_as<typename P::Score, int>) {
    return found.score;
  } else {
    return position.score_of(found.score);
  }
}

}  // namespace pyengine::alphabeta
