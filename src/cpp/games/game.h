/// The Game concept: what every game has. game_options.h: what it may have. One file per game;
/// list.h lists the built-in ones.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/types.h"
#include "games/common/params.h"
#include "games/common/symmetry.h"

namespace pyengine {

/// A position set up by hand. `first` and `second` are the players' stones.
struct BoardSetup {
  BoardBits first;
  BoardBits second;
  int to_move = 0;
  Action ko = kNoAction;  ///< Go: the point that the simple-ko rule forbids to `to_move`
  friend bool operator==(const BoardSetup&, const BoardSetup&) = default;
};

/// Board and actions of a game with given parameters.
struct GameShape {
  int rows = 0;
  int columns = 0;
  int num_actions = 0;
  int max_game_length = 0;  ///< plies
  Action pass = kNoAction;  ///< the pass action, or kNoAction
  SymmetryGroup symmetry = SymmetryGroup::none;
  friend bool operator==(const GameShape&, const GameShape&) = default;
};

/// Identifies a position up to the number of plies played: two positions after equally many plies
/// have equal keys if and only if they have the same future. "Only if" may rely on 128 bits of a
/// hash.
struct PositionKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const PositionKey&, const PositionKey&) = default;
};

/// The result of a game played to its end.
struct Playout {
  Outcome outcome;
  int plies = 0;
  friend bool operator==(const Playout&, const Playout&) = default;
};

/// Copying a G copies the position and shares nothing, so one G per thread needs no lock. Assigning
/// a G to one of the same game does not allocate in the steady state (the search does this on every
/// walk from the root). play() requires a legal action and a non-terminal position; legality is
/// checked once, at the API boundary. Functions that allocate may throw std::bad_alloc and then
/// leave the position unchanged. A default-constructed G may only be assigned to.
///
/// Two positions are equal if they have the same futures: board, player to move and everything the
/// rules remember (ko, superko history, passes, ply if it ends the game). hash() covers all of this
/// except history and ply: equal positions have equal hashes, and positions with the same board but
/// different legal futures have different ones, unless only superko makes the difference.
template <class G>
concept Game = std::regular<G> &&
    requires(G g, const G position, const typename G::Params& params, Action action,
             ActionList& moves, BoardBits& first, BoardBits& second, int t) {
      /// An aggregate of the game's parameters with their defaults.
      requires std::default_initializable<typename G::Params>;
      { G::kName } -> std::convertible_to<std::string_view>;
      /// Reads the parameters; throws ConfigError for an unknown or out-of-range one.
      { G::parse(ParamMap{}) } -> std::same_as<typename G::Params>;
      /// All parameters, including defaults, in documentation order.
      { G::describe(params) } -> std::same_as<ParamMap>;
      { G::shape(params) } -> std::same_as<GameShape>;
      /// The initial position.
      requires std::constructible_from<G, const typename G::Params&>;
      { position.params() } noexcept -> std::same_as<const typename G::Params&>;
      /// Player to move, 0 or 1; meaningless once the game is over.
      { position.to_move() } noexcept -> std::same_as<int>;
      /// nullopt if the game is not over. solve() requires -1, 0 or 1.
      { position.outcome() } noexcept -> std::same_as<std::optional<Outcome>>;
      /// Clears `moves` and fills it in ascending order. Not empty if outcome() is nullopt.
      { position.legal_actions(moves) } -> std::same_as<void>;
      /// False outside 0..num_actions-1 and once the game is over.
      { position.is_legal(action) } noexcept -> std::same_as<bool>;
      { g.play(action) } -> std::same_as<void>;
      { position.hash() } noexcept -> std::same_as<std::uint64_t>;

      /// Stones of both players t plies ago, 0 <= t <= 7; empty before the start.
      { position.stones(t, first, second) } noexcept -> std::same_as<void>;
      /// The action played t plies ago (0 = the last), or kNoAction; 0 <= t <= 7.
      { position.last_move(t) } noexcept -> std::same_as<Action>;
    };

}  // namespace pyengine
