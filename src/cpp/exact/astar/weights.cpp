#include "exact/astar/weights.h"

#include <algorithm>

#include "base/error.h"

namespace pyengine::astar {

double detail::beyond_doubles(double weight_h, double h) {
  if (weight_h > 0.0 && std::isinf(h)) return std::numeric_limits<double>::infinity();
  throw ConfigError("costs: expected sums along paths below 1e308, got one that is not finite");
}

std::pair<double, double> scaled_weights(double weight_g, double weight_h) {
  const int exponent = std::ilogb(std::max(weight_g, weight_h));
  const auto scaled = [&](double weight) {
    if (weight == 0.0) return 0.0;
    return std::max(std::scalbn(weight, -exponent), std::numeric_limits<double>::denorm_min());
  };
  return {scaled(weight_g), scaled(weight_h)};
}

}  // namespace pyengine::astar
