/// Python functions as evaluators. A function is called on the thread that called the search, by
/// one thread at a time.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "eval/evaluator.h"
#include "eval/network/network.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// `fn(planes: float32[N,C,H,W]) -> (policy[N,A], value[N])`, the planes in the layout of the spec.
std::shared_ptr<NetworkSource> callback_source(py::object fn);

/// `fn(states: list[State]) -> (policy[N,A], value[N])`; priors and the value for the mover.
std::shared_ptr<Evaluator> state_evaluator(py::object fn);

}  // namespace pyengine::bindings
