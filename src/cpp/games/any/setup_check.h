/// What every board set up by hand must satisfy.
#pragma once

#include <string_view>

#include "games/game.h"

namespace pyengine {

/// Throws ConfigError for stones outside the board, two stones on one point, or a player to move
/// that is neither 0 nor 1.
void check_setup(std::string_view game, const GameShape& shape, const BoardSetup& setup);
/// Throws ConfigError when a ko point is given: for games that have none.
void check_no_ko(std::string_view game, const BoardSetup& setup);
/// Throws ConfigError when both players have won.
void check_one_winner(std::string_view game, bool first_won, bool second_won);

}  // namespace pyengine
