/// Path search in a graph of a user's own: nodes are any hashable objects.
#pragma once

#include <pybind11/pybind11.h>

#include "path_call.h"

namespace pyengine::bindings {

/// `successors(node)`: pairs of node and cost. `heuristic(node)`, or None for 0. `is_goal(node)`.
/// Throws what they raise, and ConfigError where an answer is not what a search can use.
py::dict search_problem(PathCall& call, const py::object& start, const py::object& successors,
                        const py::object& heuristic, const py::object& is_goal);

}  // namespace pyengine::bindings
