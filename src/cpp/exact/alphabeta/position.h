/// What the alpha-beta search asks of a position. A game has a file with its own, made for speed,
/// or is searched as it is (game_position.h).
///
/// A score is a whole number for the player to move. What a score means is the position's affair:
/// the search compares, negates and stores it. It fits 24 bits; a position with wider ones gives
/// them numbers of 24 bits for the table (entry_of() and score_of(), see user_position.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/types.h"

namespace pyengine::alphabeta {

/// Less than every score; its negative is more than every score.
template <class Score>
inline constexpr Score kNoScoreOf = -std::numeric_limits<Score>::max();
template <>
inline constexpr int kNoScoreOf<int> = -(1 << 22);
inline constexpr int kNoScore = kNoScoreOf<int>;

/// Scores between which the value lies, both included.
template <class Score>
struct BasicBounds {
  Score low = 0;
  Score high = 0;
};
using Bounds = BasicBounds<int>;

/// Of a search without a limit: no position is cut off.
inline constexpr int kWholeGame = 255;

/// What a position may know before it lists its moves.
template <class Score>
struct BasicQuestion {
  Score alpha = 0;
  Score beta = 0;
  int depth = kWholeGame;  ///< plies left, kWholeGame = all
  [[nodiscard]] bool is_null_window() const noexcept { return alpha + 1 == beta; }
};
using Question = BasicQuestion<int>;

/// Children are listed with an order: the larger, the sooner they are tried. `Children` is a list
/// that is reused; child_action() names the move. play() writes the child's position.
template <class P>
concept SolverPosition = std::copyable<P> && std::signed_integral<typename P::Score> &&
    requires(const P position, P next, typename P::Children& children,
             const BasicQuestion<typename P::Score>& question, std::uint64_t& nodes, int place) {
      { children.size() } -> std::convertible_to<int>;
      { children.order(place) } -> std::same_as<int&>;
      { children.swap(place, place) };
      { children.action(place) } -> std::same_as<Action>;
      { position.play(children, place, next) };
      /// Lists the moves; none where the game is over.
      { position.list(question, children, nodes) };
      /// Asked once they are listed: a score that answers the question, by bounds of the children.
      {
        position.known_by_children(question, children)
      } -> std::same_as<std::optional<typename P::Score>>;
      /// Lists the moves, also those that list() leaves out because others are as good.
      { position.list_all(children, nodes) };
      /// Whether the same player moves at `next`, which a move led to.
      { position.same_mover(next) } -> std::convertible_to<bool>;
      /// The score where the game is over.
      { position.over() } -> std::same_as<std::optional<typename P::Score>>;
      /// Asked at every node before anything else, of a position that a listed move led to: a score
      /// that answers the question. `children` are at its disposal; list() may rely on it.
      {
        position.known(question, children, nodes)
      } -> std::same_as<std::optional<typename P::Score>>;
      { position.bounds(question) } -> std::same_as<BasicBounds<typename P::Score>>;
      /// All that the value may be, in this game.
      { position.range() } -> std::same_as<BasicBounds<typename P::Score>>;
      /// Where a limit of depth cuts the search off.
      { position.estimate() } -> std::convertible_to<int>;
      /// Equal for positions that have the same value and moves, different for others.
      { position.key() } -> std::same_as<std::uint64_t>;
      /// A move here as the position has it that the key is made of, which may be a mirror image;
      /// and back.
      { position.in_key(place) } -> std::same_as<Action>;
      { position.from_key(place) } -> std::same_as<Action>;
      /// Whether the table keeps it; false where a search takes less time than the table.
      { position.is_kept() } -> std::convertible_to<bool>;
      /// Whether a search below here is worth marking for other threads.
      { position.is_large(question) } -> std::convertible_to<bool>;
      /// Whether moves that were good elsewhere are tried sooner.
      { P::kKeepsHistory } -> std::convertible_to<bool>;
      /// Whether it pays to look all children of a large position up before any is searched.
      { P::kLooksUpChildren } -> std::convertible_to<bool>;
      /// Whether key() takes less time than known(): the table's bucket is then fetched meanwhile.
      { P::kKeyIsCheap } -> std::convertible_to<bool>;
      /// Whether the score is found by null windows alone.
      { P::kNullWindows } -> std::convertible_to<bool>;
      /// Whether the size of the score means something, and not only its sign.
      { P::kHasMargin } -> std::convertible_to<bool>;
      /// Whether estimate() is always inside range(), so that a score at its end is no estimate.
      { P::kEndsAreProof } -> std::convertible_to<bool>;
      /// Whether the search is to deepen ply by ply, also without a limit.
      { P::kDeepens } -> std::convertible_to<bool>;
    };

}  // namespace pyengine::alphabeta
