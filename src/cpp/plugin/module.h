/// Registers a game outside the engine: `PYENGINE_GAME(Hex)` in one source file of its module,
/// outside any namespace.
#pragma once

#include <memory>
#include <string>

#include "games/any/typed_game.h"
#include "plugin/check_traits.h"
#include "plugin/fingerprint.h"
#include "plugin/game_code.h"
#include "search/run/walker_of.h"

namespace pyengine {

/// A member that is there but does not fit, such as one without noexcept, would be ignored.
#define PYENGINE_OPTION(member, concept)       \
  static_assert(                               \
      !requires { &G::member; } || concept<G>, \
      #member " does not fit its declaration in games/game_options.h")
template <class G>
consteval void check_options() {
  PYENGINE_OPTION(from_setup, HasSetup);
  PYENGINE_OPTION(action_to_string, HasActionNames);
  PYENGINE_OPTION(string_to_action, HasActionNames);
  PYENGINE_OPTION(to_string, HasText);
  PYENGINE_OPTION(transposition_key, HasTranspositionKey);
  PYENGINE_OPTION(repeats_forgotten, ForgetsHistory);
  PYENGINE_OPTION(symmetries, HasSymmetries);
  PYENGINE_OPTION(observation, HasObservation);
  PYENGINE_OPTION(move_order, HasMoveOrder);
  PYENGINE_OPTION(outcome_bounds, HasOutcomeBounds);
  PYENGINE_OPTION(legal_bits, HasLegalBits);
  PYENGINE_OPTION(playout_move, HasPlayoutMove);
  PYENGINE_OPTION(light_playout, HasLightPlayout);
}
#undef PYENGINE_OPTION

template <Game G>
std::shared_ptr<const AnyGame> load_outside_game(const ParamMap& params) {
  typename G::Params parsed = G::parse(params);
  std::array<int, 3> planes{};
  if constexpr (HasObservation<G>) planes = G::observation_shape(parsed);
  check_shape(G::kName, G::shape(parsed), planes);
  auto game = std::make_shared<TypedGame<G>>(std::move(parsed));
  check_symmetries(G::kName, game->shape(), game->symmetries());
  return game;
}

template <Game G>
[[nodiscard]] const GameCode& game_code() {
  check_options<G>();
  static const GameCode code{G::kName, &load_outside_game<G>, &typeid(PositionOf<G>),
                             &make_walker_of<G>, &alphabeta::solve_position_of<G>};
  return code;
}

}  // namespace pyengine

/// Defines the function that the module's Python part calls (game_module.cpp).
#define PYENGINE_GAME(...)                                                                \
  extern "C" const pyengine::GameCapsule* pyengine_game_capsule(const char* python_abi) { \
    static const std::string fingerprint = pyengine::fingerprint(python_abi);             \
    static const pyengine::GameCapsule capsule{fingerprint.c_str(), pyengine::kBuiltWith, \
                                               &pyengine::game_code<__VA_ARGS__>()};      \
    return &capsule;                                                                      \
  }
