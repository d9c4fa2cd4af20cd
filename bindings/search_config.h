/// SearchConfig between Python's keyword arguments and C++.
#pragma once

#include <pybind11/pybind11.h>

#include "search/config.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// All fields by name. Throws ConfigError naming a field that is missing, unknown, of another type
/// or out of range.
SearchConfig config_from(const py::dict& fields);
py::dict config_to(const SearchConfig& config);

}  // namespace pyengine::bindings
