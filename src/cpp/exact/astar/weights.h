/// f of weighted searches: sums that neither overflow nor lose the effect of small weights.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

namespace pyengine::astar {

namespace detail {

/// Handles a sum that is not finite. Throws ConfigError unless `h` says that no goal can be
/// reached.
double beyond_doubles(double weight_h, double h);

}  // namespace detail

/// weight_g g + weight_h h for non-negative numbers. Infinite if h is infinite and counts: no goal
/// can be reached from there. Throws ConfigError if a sum of finite numbers overflows a double.
[[nodiscard]] inline double weighted_sum(double weight_g, double g, double weight_h, double h) {
  const double f = weight_g * g + (weight_h == 0.0 ? 0.0 : weight_h * h);
  if (!(f < std::numeric_limits<double>::infinity())) [[unlikely]] {
    return detail::beyond_doubles(weight_h, h);
  }
  return f;
}

/// Scales both weights by one power of two, which preserves the order of nodes: the larger is then
/// in [1, 2). They must be finite and at least 0, at least one positive; a positive weight stays
/// positive.
[[nodiscard]] std::pair<double, double> scaled_weights(double weight_g, double weight_h);

}  // namespace pyengine::astar
