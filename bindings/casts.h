/// Between Python's objects and the engine's types.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/typing.h>

#include <memory>
#include <string>
#include <vector>

#include "games/any/any_game.h"
#include "games/any/state.h"
#include "games/common/params.h"

namespace pyengine::bindings {

namespace py = pybind11;

using ParamType = py::typing::Union<py::bool_, py::int_, py::float_, py::str>;
using ParamDict = py::typing::Dict<py::str, ParamType>;

/// pybind11 holds a Game as shared_ptr<AnyGame>. Nothing changes a game: it has const methods
/// alone.
inline std::shared_ptr<AnyGame> game_holder(const std::shared_ptr<const AnyGame>& game) {
  return std::const_pointer_cast<AnyGame>(game);
}

inline std::vector<int> to_vector(const ActionList& moves) { return {moves.begin(), moves.end()}; }

/// Throws ConfigError naming the parameter whose value is no bool, int, float or str.
ParamMap params_from(const py::dict& dict);
ParamDict params_to(const ParamMap& params);

/// The position of a State, as a copy. Throws ConfigError when it belongs to another game.
std::unique_ptr<AnyPosition> position_of(const AnyGame& game, const State& own);

/// The position of a State or of a user's own state, as a copy. Throws ConfigError when it belongs
/// to another game or is no state. Terminal positions are not refused here.
std::unique_ptr<AnyPosition> position_from(const std::shared_ptr<const AnyGame>& game,
                                           const py::object& state);

/// A State as it is; a user's own state as a position without a past that we could know.
State state_from(const std::shared_ptr<const AnyGame>& game, const py::object& state);

/// The game behind a Game. Throws ConfigError for anything else.
std::shared_ptr<const AnyGame> game_from(const py::object& game);

}  // namespace pyengine::bindings
