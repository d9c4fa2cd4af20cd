/// Python functions as evaluators. A function runs on the thread that called the search, on one
/// thread at a time.
#pragma once

#include <memory>

#include "callback_function.h"
#include "eval/evaluator.h"
#include "eval/network/network.h"

namespace pyengine::bindings {

/// `fn(planes: float32[N,C,H,W]) -> (policy[N,A], value[N])`; planes have the layout of the spec.
std::shared_ptr<NetworkSource> callback_source(CallbackFunction fn);

/// `fn(states: list[State]) -> (policy[N,A], value[N])`; priors, and values for the player to move.
std::shared_ptr<Evaluator> state_evaluator(CallbackFunction fn);

}  // namespace pyengine::bindings
