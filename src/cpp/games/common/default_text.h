/// Names of actions and pictures of positions for games that have none of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "games/game.h"

namespace pyengine {

/// "d4" for an action that is a point, "pass", else "#64".
std::string default_action_name(const GameShape& shape, Action action);
/// kNoAction if the text is not the name of an action.
Action default_action_named(const GameShape& shape, std::string_view text);

/// The stones on a grid, and the player to move or the outcome.
std::string default_text(const GameShape& shape, const BoardBits& first, const BoardBits& second,
                         const std::optional<Outcome>& outcome, int to_move);

}  // namespace pyengine
