/// ModelSpec between Python and C++.
#pragma once

#include <pybind11/pybind11.h>

#include "eval/network/spec.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// A pyengine.ModelSpec, or the default one for None. Throws ConfigError naming a field that
/// is of another type or out of range.
ModelSpec spec_from(const py::object& spec);

}  // namespace pyengine::bindings
