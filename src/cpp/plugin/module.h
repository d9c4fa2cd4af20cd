/// Registers a game outside the engine: `PYENGINE_GAME(Hex)` in one source file of its module,
/// outside any namespace.
#pragma once

#include <string>

#include "games/any/typed_game.h"
#include "plugin/check_traits.h"
#include "plugin/fingerprint.h"
#include "plugin/game_code.h"
#include "search/run/walker_of.h"

namespace pyengine {

template <Game G>
std::shared_ptr<const AnyGame> load_outside_game(const ParamMap& params) {
  auto game = std::make_shared<TypedGame<G>>(G::parse(params));
  check_traits(G::kName, game->traits());
  return game;
}

template <Game G>
[[nodiscard]] const GameCode& game_code() {
  static const GameCode code{G::kName, &load_outside_game<G>, &typeid(PositionOf<G>),
                             &make_walker_of<G>, &alphabeta::solve_position_of<G>};
  return code;
}

}  // namespace pyengine

/// Defines the function that the module's Python part calls (game_module.cpp).
#define PYENGINE_GAME(G)                                                                    \
  extern "C" const pyengine::GameCapsule* pyengine_game_capsule(const char* python_abi) {   \
    static_assert(pyengine::Game<G>, #G " does not model pyengine::Game; see games/game.h"); \
    static const std::string fingerprint = pyengine::fingerprint(python_abi);               \
    static const pyengine::GameCapsule capsule{fingerprint.c_str(), pyengine::kCompiler,    \
                                               &pyengine::game_code<G>()};                  \
    return &capsule;                                                                        \
  }
