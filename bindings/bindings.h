/// One function per concept; module.cpp calls them in this order.
#pragma once

#include <pybind11/pybind11.h>

namespace pyengine::bindings {

namespace py = pybind11;

/// Maps C++ errors to the classes of this module. Python errors pass through.
void bind_errors(py::module_& m);
/// Ends searches when the program ends; see interpreter.h.
void bind_exit(py::module_& m);
/// PlayoutRandom, the random numbers of a user's playouts.
void bind_playout_random(py::module_& m);
/// Game, State, load_game, wrap_game, perft.
void bind_games(py::module_& m);
/// ModelSpec.
void bind_spec(py::module_& m);
/// Evaluators.
void bind_eval(py::module_& m);
/// The rollout policy of Go.
void bind_rollout(py::module_& m);
/// SearchConfig, Engine, SearchResult.
void bind_search(py::module_& m);
/// Solver: exact values by alpha-beta.
void bind_solve(py::module_& m);
/// Path search in graphs, grids, sliding puzzles and user problems.
void bind_astar(py::module_& m);
/// SelfPlayConfig, SelfPlay and the encoding of training data.
void bind_selfplay(py::module_& m);

}  // namespace pyengine::bindings
