/// The interface of a position in the alpha-beta search. A game has its own file, tuned for speed,
/// or uses the generic one (game_position.h).
///
/// A score is an integer for the player to move. Its meaning is up to the position: the search only
/// compares, negates and stores it. It fits into 24 bits; a position with wider scores maps them to
/// 24-bit numbers for the table (entry_of() and score_of(), see user_position.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/types.h"

namespace pyengine::alphabeta {

/// Below every score; its negative is above every score.
template <class Score>
inline constexpr Score kNoScoreOf = -std::numeric_limits<Score>::max();
template <>
inline constexpr int kNoScoreOf<int> = -(1 << 22);
inline constexpr int kNoScore = kNoScoreOf<int>;

/// The range of possible values, inclusive.
template <class Score>
struct BasicBounds {
  Score low = 0;
  Score high = 0;
};
using Bounds = BasicBounds<int>;

/// For a search without a limit: no position is cut off.
inline constexpr int kWholeGame = 255;

/// Information about a position before its moves are listed.
template <class Score>
struct BasicQuestion {
  Score alpha = 0;
  Score beta = 0;
  int depth = kWholeGame;  ///< remaining plies, kWholeGame = all
  [[nodiscard]] bool is_null_window() const noexcept { return alpha + 1 == beta; }
};
using Question = BasicQuestion<int>;

/// Children are listed with an order: larger values are tried first. `Children` is a reusable list;
/// child_action() gives the move, and play() writes the child's position.
template <class P>
concept SolverPosition = std::copyable<P> && std::signed_integral<typename P::Score> &&
    requires(const P position, P next, typename P::Children& children,
             const BasicQuestion<typename P::Score>& question, std::uint64_t& nodes, int place) {
      { children.size() } -> std::convertible_to<int>;
      { children.order(place) } -> std::same_as<int&>;
      { children.swap(place, place) };
      { children.action(place) } -> std::same_as<Action>;
      { position.play(children, place, next) };
      /// Lists the moves; none if the game is over.
      { position.list(question, children, nodes) };
      /// Called after list(): a score that answers the question, if bounds of the children give
      /// one.
      {
        position.known_by_children(question, children)
      } -> std::same_as<std::optional<typename P::Score>>;
      /// Lists all moves, including those that list() omits because others are as good.
      { position.list_all(children, nodes) };
      /// Whether the same player is to move at `next`, the position after a move.
      { position.same_mover(next) } -> std::convertible_to<bool>;
      /// The score if the game is over.
      { position.over() } -> std::same_as<std::optional<typename P::Score>>;
      /// Called first at every node reached by a listed move: a score that answers the question. It
      /// may use `children`, and list() may rely on that.
      {
        position.known(question, children, nodes)
      } -> std::same_as<std::optional<typename P::Score>>;
      { position.bounds(question) } -> std::same_as<BasicBounds<typename P::Score>>;
      /// The range of all possible values in this game.
      { position.range() } -> std::same_as<BasicBounds<typename P::Score>>;
      /// The estimate at the depth limit.
      { position.estimate() } -> std::convertible_to<int>;
      /// Equal for positions with the same value and moves, different for others.
      { position.key() } -> std::same_as<std::uint64_t>;
      /// Maps a move here to the position that the key is made from, which may be a mirror image,
      /// and back.
      { position.in_key(place) } -> std::same_as<Action>;
      { position.from_key(place) } -> std::same_as<Action>;
      /// Whether to store it in the table; false if searching is faster than the table.
      { position.is_kept() } -> std::convertible_to<bool>;
      /// Whether a search below here is worth marking for other threads.
      { position.is_large(question) } -> std::convertible_to<bool>;
      /// Whether the move order uses the history.
      { P::kKeepsHistory } -> std::convertible_to<bool>;
      /// Whether to look up all children of a large position before searching any.
      { P::kLooksUpChildren } -> std::convertible_to<bool>;
      /// Whether key() is faster than known(), so the table's bucket can be prefetched meanwhile.
      { P::kKeyIsCheap } -> std::convertible_to<bool>;
      /// Whether the score is found with null windows only.
      { P::kNullWindows } -> std::convertible_to<bool>;
      /// Whether the magnitude of the score matters, not only its sign.
      { P::kHasMargin } -> std::convertible_to<bool>;
      /// Whether estimate() is strictly inside range(), so a score at its end is never an estimate.
      { P::kEndsAreProof } -> std::convertible_to<bool>;
      /// Whether to deepen iteratively even without a limit.
      { P::kDeepens } -> std::convertible_to<bool>;
    };

}  // namespace pyengine::alphabeta
