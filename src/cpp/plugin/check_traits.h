/// Checks of what a game outside the engine says about itself.
#pragma once

#include <array>
#include <string_view>

#include "games/game.h"

namespace pyengine {

/// Throw ConfigError, with the name of the game, for what the engine cannot handle. Symmetries may
/// be made only for a shape that has been checked.
void check_shape(std::string_view game, const GameShape& shape,
                 const std::array<int, 3>& observation_shape);
void check_symmetries(std::string_view game, const GameShape& shape, const Symmetries& symmetries);

}  // namespace pyengine
