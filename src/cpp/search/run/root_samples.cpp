#include "search/run/root_samples.h"

#include <algorithm>
#include <cmath>

namespace pyengine {
namespace {

[[nodiscard]] std::size_t actions_up_to_last(std::span<const Edge> edges) noexcept {
  std::size_t count = 0;
  for (const Edge edge : edges) count = std::max(count, std::size_t{edge.action()} + 1);
  return count;
}

}  // namespace

RootSamples::RootSamples(std::span<const Edge> edges) : moves_(actions_up_to_last(edges)) {}

double RootSamples::variance(ActionId action) const noexcept {
  const Moments& move = moves_[action];
  const double count = move.count.load(std::memory_order_relaxed);
  const double prior = 1.0 / (1.0 + count * count * count);
  if (count == 0.0) return prior;
  const auto mean_of = [&](const std::atomic<std::int64_t>& sum) {
    return static_cast<double>(sum.load(std::memory_order_relaxed)) * kValueUnit / count;
  };
  const double mean = mean_of(move.sum);
  return std::max(mean_of(move.squares) - mean * mean, 0.0) + prior;
}

double lower_bound(double q, double visits, double variance, double stdevs) noexcept {
  return q - stdevs * std::sqrt(variance / visits);
}

}  // namespace pyengine
