/// Creates the games in list.h by name.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "games/any/any_game.h"

namespace pyengine {

/// Names in alphabetical order.
std::vector<std::string_view> registered_games();

/// Throws ConfigError naming an unknown game or parameter, or a value out of range.
std::shared_ptr<const AnyGame> load_game(std::string_view name, const ParamMap& params = {});

}  // namespace pyengine
