/// Guarantees about the cost of a path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "exact/astar/answer.h"
#include "exact/astar/goals.h"
#include "exact/astar/limits.h"
#include "exact/astar/nodes.h"

namespace pyengine::astar {

/// Relative tolerance: an estimate that exceeds the cost by this much is treated as rounded.
inline constexpr double kRounding = 1e-12;

/// Maximum relative difference of sums of costs that are equal except for rounding.
[[nodiscard]] inline double rounding_of_sums(std::size_t nodes_of_path) {
  return kRounding + static_cast<double>(nodes_of_path) * std::numeric_limits<double>::epsilon();
}

/// The cost found by a query is at most this multiple of the least one if h is at most `excess`
/// times the cost to a goal. Source: Pohl 1970.
[[nodiscard]] inline double bound_of(const Query& query, double excess = 1.0) {
  if (query.weight_g == 0.0) return std::numeric_limits<double>::infinity();
  return std::max(1.0, excess * query.weight_h / query.weight_g);
}

/// Sets the guarantees for an h of at most `excess` times the cost to a goal.
inline void guarantee(Answer& answer, const Query& query, double excess = 1.0) {
  if (answer.stop != StopReason::found) return;
  answer.bound = bound_of(query, excess);
  answer.optimal = answer.bound == 1.0;
}

/// Whether h(goal) = 0 and h(u) <= cost + h(v) for every edge, so h is admissible. Throws Stopped.
template <class P>
[[nodiscard]] bool consistent_everywhere(const P& problem, const GoalSet& goals, Limits& limits) {
  for (const NodeId goal : goals.list()) {
    if (problem.real_h(goal) > 0) return false;
  }
  const Counts none;
  bool holds = true;
  for (std::uint64_t node = 0; node < problem.nodes() && holds; ++node) {
    limits.tick(none);
    const auto u = static_cast<NodeId>(node);
    if (!problem.exists(u)) continue;
    const double h = problem.real_h(u) * (1 - kRounding);
    problem.expand(u, [&](NodeId child, typename P::Cost step) {
      holds = holds && h <= static_cast<double>(step) + problem.real_h(child);
    });
  }
  return holds;
}

}  // namespace pyengine::astar
