/// Checks of what a game outside the engine says about itself.
#pragma once

#include <string_view>

#include "games/any/any_game.h"

namespace pyengine {

/// Throws ConfigError for a board, a number of actions or symmetries that the engine cannot handle.
void check_traits(std::string_view game, const GameTraits& traits);

}  // namespace pyengine
