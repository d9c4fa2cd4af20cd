/// Vectorised softmax: calling the C library for each of 362 moves would take longer than the tree
/// operations of a simulation.
#pragma once

#include <span>

namespace pyengine {

/// Replaces finite numbers and -infinity by exp(x - max), divided by their sum. The difference is
/// rounded; from it each result has a relative error of at most 3e-7. Finite results below 1e-37 of
/// the largest are all equal. The result is bit-identical for every vector width. NaN if all are
/// -infinity.
void softmax(std::span<float> numbers) noexcept;

}  // namespace pyengine
