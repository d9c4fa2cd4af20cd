/// Conversions between Python objects and engine types.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/typing.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/network/spec.h"
#include "games/any/any_game.h"
#include "games/any/state.h"
#include "games/common/params.h"

namespace pyengine::bindings {

namespace py = pybind11;

using ParamType = py::typing::Union<py::bool_, py::int_, py::float_, py::str>;
using ParamDict = py::typing::Dict<py::str, ParamType>;

/// pybind11 holds a Game as shared_ptr<AnyGame>. The cast is safe: all methods of a game are const.
inline std::shared_ptr<AnyGame> game_holder(const std::shared_ptr<const AnyGame>& game) {
  return std::const_pointer_cast<AnyGame>(game);
}

inline std::vector<int> to_vector(const ActionList& moves) { return {moves.begin(), moves.end()}; }

/// Throws ConfigError naming a parameter that is not a bool, int, float or str.
ParamMap params_from(const py::dict& dict);
ParamDict params_to(const ParamMap& params);

/// Copies the position of a State. Throws ConfigError if it belongs to another game.
std::unique_ptr<AnyPosition> position_of(const AnyGame& game, const State& own);

/// Copies the position of a State or of a user's state object. Throws ConfigError if it belongs to
/// another game or is not a state. Accepts terminal positions.
std::unique_ptr<AnyPosition> position_from(const std::shared_ptr<const AnyGame>& game,
                                           const py::object& state);

/// Copies a State, or wraps a user's state object, whose history is unknown.
State state_from(const std::shared_ptr<const AnyGame>& game, const py::object& state);

/// The game of a Python object. Throws ConfigError if it is not a game.
std::shared_ptr<const AnyGame> game_from(const py::object& game);

/// The ModelSpec of a Python object, or the default one for None. Throws ConfigError for other
/// types.
ModelSpec spec_from(const py::object& spec);

/// The key in an int of up to 128 bits; nullopt for anything else.
std::optional<PositionKey> key_of(const py::object& answer);

}  // namespace pyengine::bindings
