/// Python games as engine games (games/any/foreign.h). Every method takes the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "collected.h"
#include "games/any/foreign.h"
#include "games/any/state.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// Creates the data shared by all user games; call once before the first of them.
void prepare_foreign_games();

/// `game` must have new_initial_state(); pyengine.games.as_game checks the methods of its states.
/// Throws ConfigError if `info` is inconsistent.
std::shared_ptr<AnyGame> wrap_foreign_game(py::object game, ForeignInfo info);

/// Copies the user's state with clone() as a position of `game`, which was created by
/// wrap_foreign_game. Throws ConfigError if it is not a state of that game, PythonError if its code
/// raises.
std::unique_ptr<AnyPosition> wrap_foreign_position(const std::shared_ptr<const AnyGame>& game,
                                                   const py::object& state);

/// A copy of the user's state inside `position`; None for games of the engine.
py::object unwrap_foreign_position(const AnyPosition& position);

/// The argument of wrap_foreign_game; None for a game of the engine.
py::object unwrap_foreign_game(const AnyGame& game);

/// The references of a Game and a State to a user's game; see collected.h.
int traverse_game(const AnyGame& game, const Visit& visit);
void clear_game(AnyGame& game);
int traverse_state(const State& state, const Visit& visit);
int traverse_state(const ForeignState& state, const Visit& visit);

}  // namespace pyengine::bindings
