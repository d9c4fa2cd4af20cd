/// Creates games by name: those in list.h, and those that were added.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "games/any/any_game.h"

namespace pyengine {

/// Names in alphabetical order.
std::vector<std::string> registered_games();

/// Throws ConfigError naming an unknown game or parameter, or a value out of range.
std::shared_ptr<const AnyGame> load_game(std::string_view name, const ParamMap& params = {});

/// Creates a game with its parameters; throws ConfigError.
using LoadGame = std::shared_ptr<const AnyGame> (*)(const ParamMap& params);
/// Adds a game; false if the name is taken. Thread-safe.
bool add_game(std::string_view name, LoadGame load);

}  // namespace pyengine
