/// What every state that a search or a solver is given must satisfy.
#pragma once

#include "games/any/state.h"

namespace pyengine {

/// Throws ConfigError unless the state is one of the game and the game goes on in it, and what a
/// user's rules raised in it.
void check_unfinished(const State& state, const AnyGame& game);

}  // namespace pyengine
