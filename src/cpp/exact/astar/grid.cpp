#include "exact/astar/grid.h"

#include <algorithm>
#include <numbers>
#include <string>

#include "base/error.h"
#include "exact/astar/bucket_queue.h"
#include "exact/astar/dense_search.h"
#include "exact/astar/grid_problem.h"
#include "exact/astar/guarantee.h"

namespace pyengine::astar {
namespace {

/// Exact integer orders for f = g + h with the problem's own heuristics.
template <int kNeighbours>
Answer search(GridProblem<kNeighbours>& problem, const GridQuery& query, NodeId start,
              Limits& limits) {
  using P = GridProblem<kNeighbours>;
  using Cost = typename P::Cost;
  const bool plain = query.query.plain() || query.query.weight_h == 0.0;
  if (!plain || query.query.method == Method::ida || query.heuristic == GridHeuristic::array) {
    return search_weighted(problem, start, query.query, limits);
  }
  const PlainPriority<P> priority{problem};
  if constexpr (kNeighbours == 4) {
    return best_first<BucketQueue>(problem, priority, start, query.query, limits);
  } else {
    return best_first<RadixQueue<Item<Cost, Cost>>>(problem, priority, start, query.query, limits);
  }
}

/// The maximum ratio of an estimate to the cost to a goal.
double excess(const GridQuery& query) noexcept {
  if (query.heuristic == GridHeuristic::none) return 0.0;
  // a diagonal costs sqrt 2 and counts as two moves
  const bool exceeds = query.connectivity == 8 && query.heuristic == GridHeuristic::manhattan;
  return exceeds ? std::numbers::sqrt2 : 1.0;
}

template <int kNeighbours>
Answer run(const GridMap& map, const GridQuery& query, NodeId start, const GoalSet& goals,
           Limits& limits) {
  GridProblem<kNeighbours> problem(map, query, goals);
  Answer answer = search(problem, query, start, limits);
  if (query.heuristic == GridHeuristic::array) {
    verify(answer, problem, start, goals, query.query, limits);
  } else {
    guarantee(answer, query.query, excess(query));
  }
  return answer;
}

/// Strips the border.
std::vector<std::uint8_t> within(const GridMap& map, const std::vector<std::uint8_t>& states) {
  std::vector<std::uint8_t> inner;
  for (std::int32_t row = 0; row < map.rows() && !states.empty(); ++row) {
    const auto begin = states.begin() + map.node({row, 0});
    inner.insert(inner.end(), begin, begin + map.columns());
  }
  return inner;
}

}  // namespace

GridMap::GridMap(std::span<const bool> free, std::int32_t rows, std::int32_t columns,
                 Limits& limits)
    : rows_(rows), columns_(columns), stride_(static_cast<std::uint32_t>(columns) + 1) {
  const std::uint64_t size =
      (static_cast<std::uint64_t>(rows) + 2) * (static_cast<std::uint64_t>(columns) + 1) + 2;
  if (size > kMaxNodes) {
    throw ConfigError("free: expected at most " + std::to_string(kMaxNodes) + " cells, got " +
                      std::to_string(rows) + " x " + std::to_string(columns));
  }
  limits.charge(size);
  free_.resize(size);
  for (std::int32_t row = 0; row < rows; ++row) {
    const auto begin = free.begin() + static_cast<std::ptrdiff_t>(index({row, 0}));
    std::copy(begin, begin + columns, free_.begin() + node({row, 0}));
  }
}

Answer search_grid(const GridMap& map, const GridQuery& query, NodeId start, const GoalSet& goals,
                   Limits& limits) {
  Answer answer = query.connectivity == 4 ? run<4>(map, query, start, goals, limits)
                                          : run<8>(map, query, start, goals, limits);
  answer.states = within(map, answer.states);
  return answer;
}

}  // namespace pyengine::astar
