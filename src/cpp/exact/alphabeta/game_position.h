/// Any game in C++ for the alpha-beta search, using its own code: slower than a specialised
/// position, but correct for every game.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "exact/alphabeta/listed_moves.h"
#include "exact/alphabeta/position.h"
#include "games/common/hashing.h"
#include "games/game_options.h"

namespace pyengine::alphabeta {

/// The score is the outcome for the player to move: 1, 0 or -1.
template <Game G>
class GamePosition {
 public:
  using Score = int;
  static constexpr bool kKeepsHistory = true;
  static constexpr bool kLooksUpChildren = false;
  static constexpr bool kKeyIsCheap = false;
  static constexpr bool kNullWindows = false;
  static constexpr bool kHasMargin = false;
  static constexpr bool kEndsAreProof = true;
  static constexpr bool kDeepens = true;
  using Children = ListedMoves;

  /// What the key of a position says about the earlier ones: nothing if the board tells all, their
  /// number if the game has a key for positions after equally many plies, else which they were (in
  /// Go, superko forbids to repeat them).
  enum class Past : std::uint8_t { nothing, number, positions };
  static constexpr Past kPast = fills_up<G>() ? Past::nothing
      : HasTranspositionKey<G> && !HasKo<G>   ? Past::number
                                              : Past::positions;

  GamePosition() = default;
  /// `past`: of the moves that led here.
  GamePosition(const G& game, std::uint64_t past)
      : game_(game), past_(past), mover_(game.to_move()) {}

  [[nodiscard]] const G& game() const noexcept { return game_; }

  [[nodiscard]] std::optional<int> over() const {
    const std::optional<Outcome> outcome = game_.outcome();
    if (!outcome) return std::nullopt;
    const auto score = static_cast<int>(outcome->for_player(mover_));
    if (static_cast<float>(score) != outcome->for_player(mover_)) {
      throw EngineError("solve: expected outcomes of -1, 0 and 1, got " +
                        std::to_string(outcome->first));
    }
    return score;
  }
  [[nodiscard]] std::optional<int> known(const Question&, Children&, std::uint64_t&) const {
    return over();
  }
  [[nodiscard]] Bounds bounds(const Question&) const noexcept {
    if constexpr (HasOutcomeBounds<G>) {
      const auto [worst, best] = game_.outcome_bounds();
      return {worst, best};
    }
    return range();
  }
  [[nodiscard]] Bounds range() const noexcept { return {-1, 1}; }

  void list(const Question&, Children& children, std::uint64_t&) const {
    children.legal().clear();
    game_.legal_actions(children.legal());
    children.adopt();
    if constexpr (HasMoveOrder<G>) {
      for (int i = 0; i < children.size(); ++i) {
        children.order(i) = game_.move_order(children.action(i));
      }
    }
  }
  [[nodiscard]] std::optional<int> known_by_children(const Question&, Children&) const noexcept {
    return std::nullopt;
  }
  void list_all(Children& children, std::uint64_t& nodes) const { list({}, children, nodes); }
  void play(const Children& children, int i, GamePosition& next) const {
    next.game_ = game_;
    next.game_.play(children.action(i));
    next.past_ = past_ +
        (kPast == Past::positions    ? mix64(game_.hash())
             : kPast == Past::number ? 1
                                     : 0);
    // At the end of the game nobody is to move, so the score is the opponent's.
    next.mover_ = next.game_.outcome() ? 1 - mover_ : next.game_.to_move();
  }
  [[nodiscard]] bool same_mover(const GamePosition& next) const noexcept {
    return next.mover_ == mover_;
  }
  [[nodiscard]] int estimate() const noexcept { return 0; }
  /// The hash of a game in general says nothing about earlier positions and their number, which its
  /// rules may depend on.
  [[nodiscard]] std::uint64_t key() const noexcept {
    if constexpr (kPast == Past::number) {
      const PositionKey key = game_.transposition_key();
      return mix64(key.high + mix64(key.low + mix64(past_)));
    }
    return game_.hash() ^ past_;
  }
  [[nodiscard]] Action in_key(Action action) const noexcept { return action; }
  [[nodiscard]] Action from_key(Action action) const noexcept { return action; }
  [[nodiscard]] static constexpr bool is_kept() noexcept { return true; }
  [[nodiscard]] bool is_large(const Question& question) const noexcept {
    return question.depth > 4;
  }

 private:
  G game_{};
  std::uint64_t past_ = 0;
  int mover_ = 0;
};

}  // namespace pyengine::alphabeta
