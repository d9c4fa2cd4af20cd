/// What the engine asks of a game: the Game concept. One file a game; list.h is the only list.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"
#include "games/common/params.h"
#include "games/common/symmetry.h"

namespace pyengine {

/// A position set up by hand: the start of a game. `first` and `second` are the stones.
struct BoardSetup {
  BoardBits first;
  BoardBits second;
  int to_move = 0;
  Action ko = kNoAction;  ///< Go: the point that the simple-ko rule forbids to `to_move`
  friend bool operator==(const BoardSetup&, const BoardSetup&) = default;
};

/// Board and action set of a game with given parameters.
struct GameShape {
  int rows = 0;
  int columns = 0;
  int num_actions = 0;
  int max_game_length = 0;  ///< plies
  Action pass = kNoAction;  ///< the pass action, or kNoAction where the game has none
  SymmetryGroup symmetry = SymmetryGroup::none;
  friend bool operator==(const GameShape&, const GameShape&) = default;
};

/// A game played to its end from some position.
struct Playout {
  Outcome outcome;
  int plies = 0;
  friend bool operator==(const Playout&, const Playout&) = default;
};

/// Copying a G copies the position and shares nothing: one G per thread needs no lock. Assigning a
/// G to one of the same game allocates nothing in the steady state (the search does it every time
/// it walks down from the root). play() assumes a legal action and a game that is not over;
/// legality is checked once, at the API edge. What allocates may throw std::bad_alloc, and then
/// leaves the position as it was. A default-constructed G exists only to be assigned to.
///
/// Two positions are equal when every future of theirs is: board, mover and what the rules remember
/// (ko, superko history, passes, ply where it ends the game). hash() covers all of that but history
/// and ply: equal positions have equal hashes, and those of one board that differ in what may be
/// played next have different ones, unless superko alone makes the difference.
template <class G>
concept Game = std::regular<G> &&
    requires(G g, const G position, const typename G::Params& params, Action action,
             ActionList& moves, BoardBits& first, BoardBits& second, int t, const BoardSetup& setup,
             std::string_view text) {
      /// An aggregate of the game's parameters with their defaults.
      requires std::default_initializable<typename G::Params>;
      { G::kName } -> std::convertible_to<std::string_view>;
      /// Reads the parameters; throws ConfigError naming one that is unknown or out of range.
      { G::parse(ParamMap{}) } -> std::same_as<typename G::Params>;
      /// All parameters, defaults included, in the order of the documentation.
      { G::describe(params) } -> std::same_as<ParamMap>;
      { G::shape(params) } -> std::same_as<GameShape>;
      /// The initial position.
      requires std::constructible_from<G, const typename G::Params&>;
      /// The position set up; throws ConfigError with the reason when it cannot be one.
      { G::from_setup(params, setup) } -> std::same_as<G>;

      { position.params() } noexcept -> std::same_as<const typename G::Params&>;
      /// Player to move, 0 or 1; of no meaning once the game is over.
      { position.to_move() } noexcept -> std::same_as<int>;
      /// nullopt while the game goes on.
      { position.outcome() } noexcept -> std::same_as<std::optional<Outcome>>;
      /// Clears `moves` and fills it, ascending. At least one when outcome() is nullopt.
      { position.legal_actions(moves) } -> std::same_as<void>;
      /// False for anything outside 0..num_actions-1 and when the game is over.
      { position.is_legal(action) } noexcept -> std::same_as<bool>;
      { g.play(action) } -> std::same_as<void>;
      { position.hash() } noexcept -> std::same_as<std::uint64_t>;

      /// Stones of both players t plies ago, 0 <= t <= 7; empty where that is before the start.
      { position.stones(t, first, second) } noexcept -> std::same_as<void>;
      /// The action played t plies ago (0 = the last), or kNoAction; 0 <= t <= 7.
      { position.last_move(t) } noexcept -> std::same_as<Action>;

      /// "D4", "pass"; the action need not be legal.
      { G::action_to_string(params, action) } -> std::same_as<std::string>;
      /// kNoAction when the text is no action of this game.
      { G::string_to_action(params, text) } -> std::same_as<Action>;
      /// The board for a person: rows from the top, coordinates at the edge, who is to move.
      { position.to_string() } -> std::same_as<std::string>;
    };

/// Optional: legal_actions() as a set, for games whose actions are points of a board and a pass.
template <class G>
concept HasLegalBits = requires(const G position) {
  { position.legal_bits() } noexcept -> std::same_as<BoardBits>;
};

/// Optional: points of chains with exactly k liberties (k < 0: at least -k); Go.
template <class G>
concept HasLiberties = requires(const G position, int k, BoardBits& bits) {
  { position.liberties(k, bits) } noexcept -> std::same_as<void>;
};

/// Optional: points that would be each player's by area if the game ended now; Go.
template <class G>
concept HasArea = requires(const G position, BoardBits& first, BoardBits& second) {
  { position.area_points(first, second) } noexcept -> std::same_as<void>;
};

/// Optional: the point that the ko rule forbids now; Go.
template <class G>
concept HasKo = requires(const G position) {
  { position.ko_point() } noexcept -> std::same_as<Action>;
};

/// Optional: a playout policy of the game's own; without it, playouts are uniform over
/// legal_actions(). (Go: uniform over the moves that do not fill an eye of one's own; a pass when
/// there is none.)
template <class G>
concept HasPlayoutMove = requires(const G position, class Rng& rng, ActionList& scratch) {
  { position.playout_move(rng, scratch) } noexcept -> std::same_as<Action>;
};

/// Optional: a whole playout on a lighter board than the position, which stays as it is. Its moves
/// are distributed as those of a playout by single moves.
template <class G>
concept HasLightPlayout = requires(const G position, class Rng& rng) {
  /// Whether this position has it: some rules of a game may need the exact board.
  { position.has_light_playout() } noexcept -> std::same_as<bool>;
  /// The game is not over.
  { position.light_playout(rng) } noexcept -> std::same_as<Playout>;
};

/// Optional: a position with a playout of its own that can fail: it throws.
template <class G>
concept HasForeignPlayout = requires(const G position, class Rng& rng) {
  { position.play_out(rng) } -> std::same_as<Playout>;
};

/// Optional: a position whose code can fail, such as a game written in Python. play(), outcome()
/// and legal_actions() store what was thrown; the search asks and stops.
template <class G>
concept CanFail = requires(const G position) {
  { position.rethrow_if_failed() } -> std::same_as<void>;
};

/// Optional: a position that can fail, and that the search can make from any position above it.
template <class G>
concept CanReplay = Game<G> && CanFail<G> &&
    requires(G position, const G root, Action action, std::span<const ActionId> moves) {
      /// play() to a position of which the caller knows all that it would ask.
      position.play_through(action);
      { root.is_reached(root, moves) } noexcept -> std::same_as<bool>;
      /// Whether a copy of a position costs less than the moves to it: the search keeps some.
      { root.has_slow_moves() } noexcept -> std::same_as<bool>;
    };

}  // namespace pyengine
