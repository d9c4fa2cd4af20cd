#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "exact/astar/grid.h"
#include "path_problems.h"

namespace pyengine::astar::testing {
namespace {

struct RandomGrid {
  std::int32_t rows;
  std::int32_t columns;
  std::array<bool, 400> cells{};

  RandomGrid(std::uint32_t seed, std::int32_t r, std::int32_t c) : rows(r), columns(c) {
    std::mt19937 random(seed);
    for (bool& cell : cells) cell = random() % 10 >= seed % 5;
    cells.front() = true;
  }
  [[nodiscard]] bool free(std::int32_t row, std::int32_t column) const {
    const bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
    return inside && cells[static_cast<std::size_t>(row * columns + column)];
  }
  [[nodiscard]] std::span<const bool> span() const {
    return std::span(cells).first(static_cast<std::size_t>(rows * columns));
  }
  /// Costs from the top left cell, by Dijkstra's algorithm with a std::set as the open list.
  [[nodiscard]] std::vector<double> costs(int connectivity, Corners corners) const {
    std::vector<double> cost(static_cast<std::size_t>(rows * columns), kNever);
    std::set<std::pair<double, std::int32_t>> open{{0.0, 0}};
    cost[0] = 0;
    while (!open.empty()) {
      const auto [g, at] = *open.begin();
      open.erase(open.begin());
      const std::int32_t row = at / columns;
      const std::int32_t column = at % columns;
      for (std::int32_t dr = -1; dr <= 1; ++dr) {
        for (std::int32_t dc = -1; dc <= 1; ++dc) {
          if ((dr == 0 && dc == 0) || !free(row + dr, column + dc)) continue;
          const bool diagonal = dr != 0 && dc != 0;
          if (diagonal && connectivity == 4) continue;
          const bool beside = free(row + dr, column) && free(row, column + dc);
          if (diagonal && corners == Corners::keep && !beside) continue;
          const double there = g + (diagonal ? std::numbers::sqrt2 : 1.0);
          const std::int32_t to = (row + dr) * columns + column + dc;
          double& known = cost[static_cast<std::size_t>(to)];
          if (there < known) {
            known = there;
            open.insert({there, to});
          }
        }
      }
    }
    return cost;
  }
};

TEST_CASE("grids: every admissible heuristic gives the least cost") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const auto rows = static_cast<std::int32_t>(1 + seed % 20);
    const auto columns = static_cast<std::int32_t>(1 + seed * 7 % 20);
    const RandomGrid grid(seed, rows, columns);
    Limits limits = no_limits();
    const GridMap map(grid.span(), rows, columns, limits);
    const NodeId goal = map.node({rows - 1, columns - 1});
    const GoalSet goals(map.nodes(), {goal}, limits);
    const std::vector<double> nothing(grid.span().size(), 0.0);
    for (const int connectivity : {4, 8}) {
      for (const Corners corners : {Corners::keep, Corners::cut}) {
        const double least = grid.costs(connectivity, corners).back();
        for (const GridHeuristic heuristic :
             {GridHeuristic::none, GridHeuristic::manhattan, GridHeuristic::octile,
              GridHeuristic::euclidean, GridHeuristic::array}) {
          CAPTURE(static_cast<int>(heuristic));
          const GridQuery query{.query = {.keep_states = true},
                                .connectivity = connectivity,
                                .corners = corners,
                                .heuristic = heuristic,
                                .h = nothing};
          const Answer answer = search_grid(map, query, map.node({0, 0}), goals, limits);
          CHECK(answer.states.size() == grid.span().size());
          if (std::isinf(least)) {
            CHECK(answer.stop == StopReason::exhausted);
            continue;
          }
          const bool exceeds = connectivity == 8 && heuristic == GridHeuristic::manhattan;
          CHECK(answer.optimal == !exceeds);
          CHECK(answer.bound == (exceeds ? std::numbers::sqrt2 : 1.0));
          CHECK(answer.cost >= doctest::Approx(least).epsilon(1e-12));
          CHECK(answer.cost <= doctest::Approx(least * answer.bound).epsilon(1e-12));
          CHECK(answer.path.front() == map.node({0, 0}));
          CHECK(answer.path.back() == goal);
        }
      }
    }
  }
}

TEST_CASE("grids: the nearest of several goals is found, with weights too") {
  const RandomGrid grid(0, 20, 20);  // no obstacles
  Limits limits = no_limits();
  const GridMap map(grid.span(), 20, 20, limits);
  const GoalSet goals(map.nodes(), {map.node({19, 19}), map.node({3, 4}), map.node({0, 9})},
                      limits);
  for (const double weight_h : {0.0, 0.5, 1.0, 2.0}) {
    const GridQuery query{
        .query = {.weight_h = weight_h}, .heuristic = GridHeuristic::manhattan, .h = {}};
    const Answer answer = search_grid(map, query, map.node({0, 0}), goals, limits);
    CHECK(answer.cost == 7.0);
    CHECK(answer.path.back() == map.node({3, 4}));
  }
}

}  // namespace
}  // namespace pyengine::astar::testing
