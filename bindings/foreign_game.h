/// Python games as games of the engine (games/any/foreign.h). Every verb takes the GIL itself.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "collected.h"
#include "games/any/foreign.h"
#include "games/any/state.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// Makes what all user's games share. Once, before the first of them: see foreign_game.cpp.
void prepare_foreign_games();

/// `game` needs new_initial_state(); what its states need is in pyengine.as_game, which
/// checks it. Throws ConfigError when `info` does not fit together.
std::shared_ptr<AnyGame> wrap_foreign_game(py::object game, ForeignInfo info);

/// A copy (clone()) of the user's state as a position of `game`, made by wrap_foreign_game.
/// Throws ConfigError when it is no state of that game; PythonError when its code raises.
std::unique_ptr<AnyPosition> wrap_foreign_position(const std::shared_ptr<const AnyGame>& game,
                                                   const py::object& state);

/// A copy of the user's state inside `position`; None when it is not a user's.
py::object unwrap_foreign_position(const AnyPosition& position);

/// The object that wrap_foreign_game was given; None for a game of the engine.
py::object unwrap_foreign_game(const AnyGame& game);

/// What a Game and a State hold of a user's game; see collected.h.
int traverse_game(const AnyGame& game, const Visit& visit);
void clear_game(AnyGame& game);
int traverse_state(const State& state, const Visit& visit);
int traverse_state(const ForeignState& state, const Visit& visit);

}  // namespace pyengine::bindings
