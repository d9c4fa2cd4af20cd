/// Evaluation of states outside a search: Evaluator.evaluate() in Python.
#pragma once

#include <functional>
#include <span>

#include "eval/evaluator.h"
#include "games/any/state.h"

namespace pyengine {

/// Default number of rows per batch of evaluate_states().
inline constexpr int kStatesBatch = 64;

/// Evaluates states batch by batch. Writes policy [N, A] (probabilities over the legal actions, 0
/// elsewhere) and value [N], for the player to move. All states must be of the game that
/// `evaluator` is bound to. Each batch has `batch_rows` rows, but at least one per symmetry of a
/// state. `poll` is called between batches and from time to time during long playouts; its
/// exceptions and the evaluator's are passed on.
void evaluate_states(BoundEvaluator& evaluator, std::span<const State* const> states,
                     std::span<float> policy, std::span<float> value,
                     bool average_symmetries = false, int batch_rows = kStatesBatch,
                     const std::function<void()>& poll = {});

}  // namespace pyengine
