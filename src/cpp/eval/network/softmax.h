/// The exponentials of what a network says, in vectors: a call of the C library for each of 362
/// moves takes longer than the tree's part of a simulation.
#pragma once

#include <span>

namespace pyengine {

/// Replaces finite numbers and -infinity by exp(x - max), divided by their sum. The difference is
/// rounded, then each is within 3e-7 of its value, relatively; below 1e-37 of the largest all
/// finite ones are alike. The same bits whatever the vectors' width. Where all are -infinity: NaN.
void softmax(std::span<float> numbers) noexcept;

}  // namespace pyengine
