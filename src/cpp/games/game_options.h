/// What a game may have besides what the concept Game requires.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "games/game.h"

namespace pyengine {

/// Optional: positions set up by hand.
template <class G>
concept HasSetup = requires(const typename G::Params& params, const BoardSetup& setup) {
  /// The given position; throws ConfigError with the reason if it is invalid.
  { G::from_setup(params, setup) } -> std::same_as<G>;
};

/// Optional: the names of actions. Without them, an action that is a point is named like it ("d4"),
/// and others by their number.
template <class G>
concept HasActionNames =
    requires(const typename G::Params& params, Action action, std::string_view text) {
      /// "D4", "pass"; works for illegal actions too.
      { G::action_to_string(params, action) } -> std::same_as<std::string>;
      /// kNoAction if the text is not an action of this game.
      { G::string_to_action(params, text) } -> std::same_as<Action>;
    };

/// Optional: the board as text: rows from the top, coordinates on the edge, player to move. Without
/// it, the stones on a grid.
template <class G>
concept HasText = requires(const G position) {
  { position.to_string() } -> std::same_as<std::string>;
};

/// Optional: positions that a search of a graph recognises (SearchConfig::graph).
template <class G>
concept HasTranspositionKey = requires(const G position) {
  { position.transposition_key() } noexcept -> std::same_as<PositionKey>;
};

/// Optional: the rules forbid repetitions, and the key may leave earlier positions out.
template <class G>
concept ForgetsHistory = HasTranspositionKey<G> && requires(const G position, Action action) {
  /// Whether it does, in this variant of the game.
  { position.key_forgets_history() } noexcept -> std::same_as<bool>;
  /// Whether an action that is legal in another position with this key repeats an earlier position
  /// here.
  { position.repeats_forgotten(action) } noexcept -> std::same_as<bool>;
};

template <class G>
[[nodiscard]] bool key_forgets_history(const G& position) noexcept {
  if constexpr (ForgetsHistory<G>) return position.key_forgets_history();
  return false;
}

/// Optional: `static constexpr bool kGraphByDefault`, the default of SearchConfig::graph.
template <class G>
[[nodiscard]] consteval bool graph_by_default() {
  if constexpr (requires { G::kGraphByDefault; }) return G::kGraphByDefault;
  return false;
}

/// Optional: `static constexpr bool kFillsUp`: stones stay, and the board and the player to move
/// determine the future. Few empty points then mean few remaining moves, so a search may solve
/// endgames.
template <class G>
[[nodiscard]] consteval bool fills_up() {
  if constexpr (requires { G::kFillsUp; }) return G::kFillsUp;
  return false;
}

/// Optional: symmetries other than the group of GameShape, which is then ignored.
template <class G>
concept HasSymmetries = requires(const typename G::Params& params) {
  { G::symmetries(params) } -> std::same_as<Symmetries>;
};

/// Optional: input planes of the game's own, which a ModelSpec names "observation".
template <class G>
concept HasObservation =
    requires(const G position, const typename G::Params& params, std::span<float> planes) {
      /// {C, H, W}.
      { G::observation_shape(params) } -> std::same_as<std::array<int, 3>>;
      /// Fills float32[C, H, W], from the perspective of the player to move.
      { position.observation(planes) } -> std::same_as<void>;
    };

/// Optional: `static constexpr bool kBinaryObservation`: all elements of these planes are 0 or 1,
/// so that training data stores them as bits.
template <class G>
[[nodiscard]] consteval bool has_binary_observation() {
  if constexpr (requires { G::kBinaryObservation; }) return G::kBinaryObservation;
  return false;
}

/// Optional: the order in which alpha-beta tries the moves; larger values are tried first.
template <class G>
concept HasMoveOrder = requires(const G position, Action action) {
  { position.move_order(action) } noexcept -> std::same_as<int>;
};

/// Optional: bounds of the outcome with best play.
template <class G>
concept HasOutcomeBounds = requires(const G position) {
  /// {worst, best} for the player to move, each -1, 0 or 1. Called on non-terminal positions.
  { position.outcome_bounds() } noexcept -> std::same_as<std::pair<int, int>>;
};

/// Optional: legal_actions() as a set, for games whose actions are points and a pass.
template <class G>
concept HasLegalBits = requires(const G position) {
  { position.legal_bits() } noexcept -> std::same_as<BoardBits>;
};

/// Optional, Go: points of chains with exactly k liberties (k < 0: at least -k).
template <class G>
concept HasLiberties = requires(const G position, int k, BoardBits& bits) {
  { position.liberties(k, bits) } noexcept -> std::same_as<void>;
};

/// Optional, Go: the points each player would own by area if the game ended now.
template <class G>
concept HasArea = requires(const G position, BoardBits& first, BoardBits& second) {
  { position.area_points(first, second) } noexcept -> std::same_as<void>;
};

/// Optional, Go: the point currently forbidden by the ko rule.
template <class G>
concept HasKo = requires(const G position) {
  { position.ko_point() } noexcept -> std::same_as<Action>;
};

/// Optional: the game's own playout policy; without it, playouts are uniform over legal_actions().
/// (Go: uniform over moves that do not fill the player's own eyes; pass if there is none.)
template <class G>
concept HasPlayoutMove = requires(const G position, class Rng& rng, ActionList& scratch) {
  { position.playout_move(rng, scratch) } noexcept -> std::same_as<Action>;
};

/// Optional: a whole playout on a lighter board than the position, which does not change. Its moves
/// have the same distribution as in a move-by-move playout.
template <class G>
concept HasLightPlayout = requires(const G position, class Rng& rng) {
  /// Whether this position supports it: some rules of a game may need the exact board.
  { position.has_light_playout() } noexcept -> std::same_as<bool>;
  /// Requires a non-terminal position.
  { position.light_playout(rng) } noexcept -> std::same_as<Playout>;
};

/// Optional: a position with its own playout that may throw.
template <class G>
concept HasForeignPlayout = requires(const G position, class Rng& rng) {
  { position.play_out(rng) } -> std::same_as<Playout>;
};

/// Optional: a position whose code can fail, such as a game in Python. play(), outcome() and
/// legal_actions() store the exception; the search checks for it and stops.
template <class G>
concept CanFail = requires(const G position) {
  { position.rethrow_if_failed() } -> std::same_as<void>;
};

/// Optional: a position that can fail, and that the search can create from any ancestor.
template <class G>
concept CanReplay = Game<G> && CanFail<G> &&
    requires(G position, const G root, Action action, std::span<const ActionId> moves) {
      /// play() to a position about which the caller already knows everything.
      position.play_through(action);
      { root.is_reached(root, moves) } noexcept -> std::same_as<bool>;
      /// Whether copying a position is cheaper than replaying its moves, so the search stores some.
      { root.has_slow_moves() } noexcept -> std::same_as<bool>;
    };

}  // namespace pyengine
