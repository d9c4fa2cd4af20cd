/// Random path search problems, and their solutions by plain algorithms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "exact/astar/graph.h"

namespace pyengine::astar::testing {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

inline Limits no_limits() { return {std::numeric_limits<std::uint64_t>::max(), std::nullopt, {}}; }

struct Edge {
  NodeId from;
  NodeId to;
  double cost;
};

/// Integer costs, so that sums are exact.
struct RandomGraph {
  std::vector<std::int32_t> indptr{0};
  std::vector<std::int32_t> indices;
  std::vector<double> weights;
  std::vector<Edge> edges;

  RandomGraph(std::uint32_t seed, NodeId nodes, int degree) {
    std::mt19937 random(seed);
    for (NodeId from = 0; from < nodes; ++from) {
      for (int k = 0; k < degree; ++k) {
        const auto to = static_cast<NodeId>(random() % nodes);
        const double cost = static_cast<double>(random() % 20);
        edges.push_back({from, to, cost});
        indices.push_back(static_cast<std::int32_t>(to));
        weights.push_back(cost);
      }
      indptr.push_back(static_cast<std::int32_t>(indices.size()));
    }
  }
  [[nodiscard]] std::size_t nodes() const { return indptr.size() - 1; }
  [[nodiscard]] AnyGraph view() const {
    return GraphView<std::int32_t, double>{indptr, indices, weights};
  }
  /// Costs to the nearest goal, by Bellman-Ford.
  [[nodiscard]] std::vector<double> costs_to(const std::vector<NodeId>& goals) const {
    std::vector<double> cost(nodes(), kNever);
    for (const NodeId goal : goals) cost[goal] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Edge& edge : edges) {
        if (edge.cost + cost[edge.to] < cost[edge.from]) {
          cost[edge.from] = edge.cost + cost[edge.to];
          changed = true;
        }
      }
    }
    return cost;
  }
  /// The cost of the cheapest edges along a path.
  [[nodiscard]] double cost_of(const std::vector<NodeId>& path) const {
    double sum = 0;
    for (std::size_t i = 1; i < path.size(); ++i) {
      double least = kNever;
      for (const Edge& edge : edges) {
        if (edge.from == path[i - 1] && edge.to == path[i]) least = std::min(least, edge.cost);
      }
      sum += least;
    }
    return sum;
  }
};

}  // namespace pyengine::astar::testing
