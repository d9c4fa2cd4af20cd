/// f of weighted searches: sums that neither overflow nor lose what small weights tell apart.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

namespace pyengine::astar {

namespace detail {

/// Of a sum that is no finite number. Throws ConfigError unless `h` says that no goal can be
/// reached.
double beyond_doubles(double weight_h, double h);

}  // namespace detail

/// weight_g g + weight_h h, of numbers that are at least 0. Infinite where h is and counts: no goal
/// can be reached from there. Throws ConfigError where finite numbers have a sum beyond a double's.
[[nodiscard]] inline double weighted_sum(double weight_g, double g, double weight_h, double h) {
  const double f = weight_g * g + (weight_h == 0.0 ? 0.0 : weight_h * h);
  if (!(f < std::numeric_limits<double>::infinity())) [[unlikely]] {
    return detail::beyond_doubles(weight_h, h);
  }
  return f;
}

/// Both weights by one power of two, which keeps their order of nodes: the larger is then in [1,
/// 2). They are finite and at least 0, one of them above; a weight above 0 stays so.
[[nodiscard]] std::pair<double, double> scaled_weights(double weight_g, double weight_h);

}  // namespace pyengine::astar
