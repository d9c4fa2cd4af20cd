/// A weighted directed graph in compressed sparse rows, in memory of the caller's.
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
  /// Throws ConfigError that names the array and the first entry that does not fit. Weights are
  /// finite and at least 0.
  void check() const;
};

using AnyGraph = std::variant<GraphView<std::int32_t, float>, GraphView<std::int32_t, double>,
                              GraphView<std::int64_t, float>, GraphView<std::int64_t, double>>;

/// Estimated costs to the nearest goal, a node each; empty = 0 everywhere.
using Estimates = std::span<const double>;
/// Throws ConfigError naming the first estimate that is NaN or negative; infinite ones are allowed.
void check_estimates(Estimates h);

/// The arrays were checked before. Throws ConfigError where they have changed since so that an edge
/// leads out of them.
Answer search_graph(const AnyGraph& graph, Estimates h, NodeId start, const GoalSet& goals,
                    const Query& query, Limits& limits);

}  // namespace pyengine::astar
