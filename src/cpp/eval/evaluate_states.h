/// Evaluating states outside a search: what Evaluator.evaluate() of Python does.
#pragma once

#include <functional>
#include <span>

#include "eval/evaluator.h"
#include "games/any/state.h"

namespace pyengine {

/// Rows that evaluate_states() hands over at once, unless told.
inline constexpr int kStatesBatch = 64;

/// Evaluates states one batch after another. Writes policy [N, A] (probabilities over the legal
/// actions, 0 elsewhere) and value [N], for the player to move. All states are of the game that
/// `evaluator` was bound to. `batch_rows` are handed over at once (all symmetries of a state at
/// least). Throws what the evaluator throws, and what `poll` throws, which is called between
/// batches and now and then while playouts take long.
void evaluate_states(BoundEvaluator& evaluator, std::span<const State* const> states,
                     std::span<float> policy, std::span<float> value,
                     bool average_symmetries = false, int batch_rows = kStatesBatch,
                     const std::function<void()>& poll = {});

}  // namespace pyengine
