/// Checks for every position set up by hand.
#pragma once

#include <string_view>

#include "games/game.h"

namespace pyengine {

/// Throws ConfigError for stones outside the board, two stones on one point, or a player to move
/// other than 0 and 1.
void check_setup(std::string_view game, const GameShape& shape, const BoardSetup& setup);
/// Throws ConfigError if a ko point is given, for games without ko.
void check_no_ko(std::string_view game, const BoardSetup& setup);
/// Throws ConfigError when both players have won.
void check_one_winner(std::string_view game, bool first_won, bool second_won);

}  // namespace pyengine
