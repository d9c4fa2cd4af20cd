/// Path search in a user's graph; nodes are hashable objects.
#pragma once

#include <pybind11/pybind11.h>

#include "path_call.h"

namespace pyengine::bindings {

/// `successors(node)`: pairs of node and cost. `heuristic(node)`, or None for 0. `is_goal(node)`.
/// Throws their exceptions, and ConfigError for invalid results.
py::dict search_problem(PathCall& call, const py::object& start, const py::object& successors,
                        const py::object& heuristic, const py::object& is_goal);

}  // namespace pyengine::bindings
