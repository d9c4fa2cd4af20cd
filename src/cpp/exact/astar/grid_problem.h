/// Grids as search problems, with integer costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

#include "exact/astar/grid.h"

namespace pyengine::astar {

/// Costs of moves. With 4 neighbours every move costs 1. With 8 neighbours a diagonal costs p and a
/// straight move q, where p / q is a convergent of the square root of 2. Sums of integers are
/// exact, and two paths of fewer than 10^9 moves compare like their true lengths: |a q + b p| in
/// the true ratio differs by less than 3e-10 q from the counted value, and a + b sqrt 2 with |b| <
/// 10^8 is 0 or more than 3e-9 away from it.
template <int kNeighbours>
struct MoveCosts;
template <>
struct MoveCosts<4> {
  using Cost = std::int32_t;
  static constexpr Cost kStraight = 1;
};
template <>
struct MoveCosts<8> {
  using Cost = std::int64_t;
  static constexpr Cost kStraight = 1311738121;
  static constexpr Cost kDiagonal = 1855077841;
};

template <int kNeighbours>
class GridProblem {
 public:
  using Costs = MoveCosts<kNeighbours>;
  using Cost = typename Costs::Cost;

  GridProblem(const GridMap& map, const GridQuery& query, const GoalSet& goals)
      : map_(map),
        goals_(goals),
        heuristic_(query.query.weight_h == 0.0 ? GridHeuristic::none : query.heuristic),
        corners_(query.corners),
        h_(query.h) {
    for (const NodeId goal : goals.list()) cells_.push_back(map.cell(goal));
  }

  [[nodiscard]] std::uint64_t nodes() const noexcept { return map_.nodes(); }
  [[nodiscard]] bool exists(NodeId node) const noexcept { return map_.free(node); }
  [[nodiscard]] bool is_goal(NodeId node) const noexcept { return goals_.contains(node); }

  /// Estimate for the nearest goal. Not for arrays.
  [[nodiscard]] Cost h(NodeId node) const noexcept {
    if (heuristic_ == GridHeuristic::none) return 0;
    const Cell cell = map_.cell(node);
    Cost least = std::numeric_limits<Cost>::max();
    for (const Cell goal : cells_) {
      least = std::min(
          least, distance(std::abs(cell.row - goal.row), std::abs(cell.column - goal.column)));
    }
    return least;
  }
  [[nodiscard]] double real_h(NodeId node) const noexcept {
    if (heuristic_ != GridHeuristic::array) return static_cast<double>(h(node));
    return h_[map_.index(map_.cell(node))] * static_cast<double>(Costs::kStraight);
  }

  template <class Visit>
  void expand(NodeId node, Visit&& visit) const {
    const std::uint32_t stride = map_.stride();
    const bool up = map_.free(node - stride);
    const bool down = map_.free(node + stride);
    const bool left = map_.free(node - 1);
    const bool right = map_.free(node + 1);
    if (up) visit(node - stride, Costs::kStraight);
    if (left) visit(node - 1, Costs::kStraight);
    if (right) visit(node + 1, Costs::kStraight);
    if (down) visit(node + stride, Costs::kStraight);
    if constexpr (kNeighbours == 8) {
      const auto diagonal = [&](bool beside, bool above, NodeId end) {
        const bool open = (beside && above) || corners_ == Corners::cut;
        if (open && map_.free(end)) visit(end, Costs::kDiagonal);
      };
      diagonal(left, up, node - stride - 1);
      diagonal(right, up, node - stride + 1);
      diagonal(left, down, node + stride - 1);
      diagonal(right, down, node + stride + 1);
    }
  }

  /// The cells in the rows above and below are in other cache lines.
  void prefetch(NodeId node) const noexcept {
    map_.prefetch(node - map_.stride());
    map_.prefetch(node);
    map_.prefetch(node + map_.stride());
  }
  void prefetch_edges(NodeId /*node*/) const noexcept {}
  /// One successor per row is enough to prefetch the records of all successors.
  template <class Visit>
  void each_successor(NodeId node, Visit&& visit) const {
    visit(node - map_.stride());
    visit(node + map_.stride());
  }

  /// Straight moves cost 1, diagonal ones sqrt 2.
  [[nodiscard]] double path_cost(const std::vector<NodeId>& path, Cost /*g*/) const {
    std::int64_t straight = 0;
    std::int64_t diagonal = 0;
    for (std::size_t i = 1; i < path.size(); ++i) {
      const std::uint32_t step = std::max(path[i], path[i - 1]) - std::min(path[i], path[i - 1]);
      ++(step == 1 || step == map_.stride() ? straight : diagonal);
    }
    return static_cast<double>(straight) + static_cast<double>(diagonal) * std::numbers::sqrt2;
  }

 private:
  /// Cost on an empty grid over the given rows and columns, rounded so that it stays consistent: up
  /// for integer costs, down for units of kStraight.
  [[nodiscard]] Cost distance(std::int32_t rows, std::int32_t columns) const noexcept {
    const std::int32_t longer = std::max(rows, columns);
    const std::int32_t shorter = std::min(rows, columns);
    if (heuristic_ == GridHeuristic::manhattan) return Cost{rows + columns} * Costs::kStraight;
    if (heuristic_ == GridHeuristic::euclidean) return rounded(std::hypot(rows, columns));
    if constexpr (kNeighbours == 8) {
      return Cost{longer - shorter} * Costs::kStraight + Cost{shorter} * Costs::kDiagonal;
    } else {
      return rounded(longer + shorter * (std::numbers::sqrt2 - 1));
    }
  }
  [[nodiscard]] static Cost rounded(double length) noexcept {
    if constexpr (kNeighbours == 4) return static_cast<Cost>(std::ceil(length));
    return static_cast<Cost>(length * static_cast<double>(Costs::kStraight));
  }

  const GridMap& map_;
  const GoalSet& goals_;
  GridHeuristic heuristic_;
  Corners corners_;
  std::span<const double> h_;
  std::vector<Cell> cells_;  ///< cells of the goals
};

}  // namespace pyengine::astar
