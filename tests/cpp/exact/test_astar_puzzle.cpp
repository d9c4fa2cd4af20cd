#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "exact/astar/puzzle.h"
#include "exact/astar/puzzle_heuristic.h"
#include "path_problems.h"

namespace pyengine::astar::testing {
namespace {

constexpr std::array kHeuristics = {PuzzleHeuristic::none, PuzzleHeuristic::misplaced,
                                    PuzzleHeuristic::manhattan, PuzzleHeuristic::linear_conflict};

Board goal_of(const PuzzleShape& shape) {
  std::vector<int> tiles;
  for (int tile = 0; tile < shape.cells(); ++tile) tiles.push_back(tile);
  return shape.board(tiles, "goals");
}

/// Number of moves from the goal to every state, by breadth-first search.
std::unordered_map<Board, int> depths_of(const PuzzleShape& shape) {
  std::unordered_map<Board, int> depth{{goal_of(shape), 0}};
  std::deque<Board> open{goal_of(shape)};
  while (!open.empty()) {
    const Board board = open.front();
    open.pop_front();
    const int blank = blank_of(board);
    for (const int cell : shape.beside(blank)) {
      const Board next = slide(board, cell, blank);
      if (depth.emplace(next, depth[board] + 1).second) open.push_back(next);
    }
  }
  return depth;
}

PuzzleAnswer search(const PuzzleShape& shape, Board start, PuzzleHeuristic heuristic,
                    const Query& query) {
  Limits limits = no_limits();
  const std::vector<Board> goals = {goal_of(shape)};
  return search_puzzle(shape, start, goals, heuristic, query, limits);
}

TEST_CASE("puzzle estimates are consistent, and incremental updates equal full evaluations") {
  for (const PuzzleShape& shape : {PuzzleShape(3, 3), PuzzleShape(2, 4), PuzzleShape(1, 5)}) {
    const auto depths = depths_of(shape);
    for (const PuzzleHeuristic heuristic : kHeuristics) {
      const PuzzleEstimate estimate(shape, goal_of(shape), heuristic);
      std::uint64_t wrong = 0;
      for (const auto& [board, depth] : depths) {
        const int h = estimate(board);
        wrong += h > depth ? 1 : 0;
        const int blank = blank_of(board);
        for (const int cell : shape.beside(blank)) {
          const int after = estimate.after(board, cell, blank, h);
          wrong += after != estimate(slide(board, cell, blank)) ? 1 : 0;
          wrong += std::abs(after - h) > 1 ? 1 : 0;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("linear conflict is the strongest estimate") {
  const PuzzleShape shape(3, 3);
  const std::vector<int> tiles = {0, 2, 1, 3, 4, 5, 6, 7, 8};
  const Board board = shape.board(tiles, "start");
  const auto h = [&](PuzzleHeuristic heuristic) {
    return PuzzleEstimate(shape, goal_of(shape), heuristic)(board);
  };
  CHECK(h(PuzzleHeuristic::misplaced) == 2);
  CHECK(h(PuzzleHeuristic::manhattan) == 2);
  CHECK(h(PuzzleHeuristic::linear_conflict) == 4);
}

TEST_CASE("A* and IDA* find the same depths as breadth-first search") {
  for (const PuzzleShape& shape : {PuzzleShape(3, 3), PuzzleShape(4, 2), PuzzleShape(1, 4)}) {
    const auto depths = depths_of(shape);
    CHECK(depths.size() == (shape.rows() == 3 ? 181'440U : shape.rows() == 4 ? 20'160U : 4U));
    std::size_t number = 0;
    for (const auto& [board, depth] : depths) {
      if (number++ % (depths.size() / 40 + 1) != 0) continue;
      for (const PuzzleHeuristic heuristic : kHeuristics) {
        for (const Method method : {Method::astar, Method::ida}) {
          if (method == Method::ida && heuristic < PuzzleHeuristic::manhattan && depth > 16)
            continue;
          const PuzzleAnswer found = search(shape, board, heuristic, {.method = method});
          CHECK(found.answer.cost == depth);
          CHECK(found.answer.optimal);
          CHECK(found.path.size() == static_cast<std::size_t>(depth) + 1);
          CHECK(found.path.front() == board);
          CHECK(found.path.back() == goal_of(shape));
        }
      }
      const PuzzleAnswer weighted =
          search(shape, board, PuzzleHeuristic::manhattan, {.weight_h = 2.0});
      CHECK(weighted.answer.cost <= 2 * depth);
      CHECK(weighted.answer.cost == static_cast<double>(weighted.path.size() - 1));
    }
  }
}

TEST_CASE("unreachable states, half of all, are recognised without a search") {
  const PuzzleShape shape(4, 4);
  const std::vector<int> swapped = {0, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const PuzzleAnswer found = search(shape, shape.board(swapped, "start"),
                                    PuzzleHeuristic::linear_conflict, {.method = Method::ida});
  CHECK(found.answer.stop == StopReason::exhausted);
  CHECK(std::isinf(found.answer.cost));
  CHECK(found.path.empty());
  CHECK(found.answer.counts.expanded == 0);
}

TEST_CASE("invalid tiles are rejected") {
  const PuzzleShape shape(2, 2);
  const auto refusal = [&](const std::vector<int>& tiles) -> std::string {
    try {
      (void)shape.board(tiles, "start");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal({0, 1, 2}) == "start: expected the tiles 0 to 3, each once, got 3 tiles");
  CHECK(refusal({0, 1, 2, 4}) == "start: expected the tiles 0 to 3, each once, got 4 in cell 3");
  CHECK(refusal({0, 1, 1, 2}) ==
        "start: expected the tiles 0 to 3, each once, got 1 in cell 2, a second time");
  CHECK_THROWS_AS(PuzzleShape(4, 5), ConfigError);
  CHECK_THROWS_AS(PuzzleShape(1, 1), ConfigError);
}

}  // namespace
}  // namespace pyengine::astar::testing
