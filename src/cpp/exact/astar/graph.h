/// A weighted directed graph in CSR form, in memory owned by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "exact/astar/answer.h"
#include "exact/astar/goals.h"

namespace pyengine::astar {

/// Edges of node u: indices[k] with weights[k] for indptr[u] <= k < indptr[u + 1].
template <class Index, class Weight>
struct GraphView {
  std::span<const Index> indptr;  ///< nodes + 1
  std::span<const Index> indices;
  std::span<const Weight> weights;

  [[nodiscard]] std::uint64_t nodes() const noexcept { return indptr.size() - 1; }
  /// Throws ConfigError that names the array and its first invalid entry. Weights must be finite
  /// and at least 0.
  void check() const;
};

using AnyGraph = std::variant<GraphView<std::int32_t, float>, GraphView<std::int32_t, double>,
                              GraphView<std::int64_t, float>, GraphView<std::int64_t, double>>;

/// Estimated cost to the nearest goal for each node; empty = 0 everywhere.
using Estimates = std::span<const double>;
/// Throws ConfigError naming the first NaN or negative estimate; infinite ones are allowed.
void check_estimates(Estimates h);

/// The arrays have been checked. Throws ConfigError if they have changed since so that an edge
/// leads out of them.
Answer search_graph(const AnyGraph& graph, Estimates h, NodeId start, const GoalSet& goals,
                    const Query& query, Limits& limits);

}  // namespace pyengine::astar
