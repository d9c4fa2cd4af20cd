/// SelfPlayConfig between Python's keyword arguments and C++.
#pragma once

#include <pybind11/pybind11.h>

#include "selfplay/config.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// All fields by name, `search` as a dict of its own. Throws ConfigError naming a field that is
/// missing, unknown, of another type or out of range.
SelfPlayConfig selfplay_config_from(const py::dict& fields);
py::dict selfplay_config_to(const SelfPlayConfig& config);

}  // namespace pyengine::bindings
