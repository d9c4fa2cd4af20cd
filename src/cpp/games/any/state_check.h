/// Checks for every state passed to a search or a solver.
#pragma once

#include "games/any/state.h"

namespace pyengine {

/// Throws ConfigError unless the state belongs to the game and is not terminal; rethrows exceptions
/// of a user's game.
void check_unfinished(const State& state, const AnyGame& game);

}  // namespace pyengine
