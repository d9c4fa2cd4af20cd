#include "exact/astar/puzzle.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "exact/astar/best_first.h"
#include "exact/astar/bucket_queue.h"
#include "exact/astar/guarantee.h"
#include "exact/astar/ida.h"
#include "exact/astar/open_list.h"
#include "exact/astar/puzzle_problem.h"

namespace pyengine::astar {
namespace {

void take(Answer& answer, const Found<std::int32_t>& found, const Counts& counts) {
  answer.stop = found.stop;
  answer.counts = counts;
  if (found.stop == StopReason::found) answer.cost = found.cost;
}

template <class Queue, class Priority>
PuzzleAnswer best_first(PuzzleProblem& problem, Priority priority, Board start, const Query& query,
                        Limits& limits) {
  GrowingNodes<std::int32_t> nodes(limits);
  BestFirst<PuzzleProblem, Queue, Priority, GrowingNodes<std::int32_t>> search(
      problem, priority, nodes, limits, query.reopen());
  const Found<std::int32_t> found = search.run(problem.number(start));
  PuzzleAnswer result;
  take(result.answer, found, search.counts());
  for (const NodeId node : found.path) result.path.push_back(problem.board(node));
  return result;
}

template <class Priority>
PuzzleAnswer deepen(PuzzleWalk& walk, Priority priority, Limits& limits) {
  IterativeDeepening<PuzzleWalk, Priority> search(walk, priority, limits);
  const Found<std::int32_t> found = search.run();
  PuzzleAnswer result;
  take(result.answer, found, search.counts());
  if (found.stop == StopReason::found) result.path = walk.boards();
  return result;
}

PuzzleAnswer search(const PuzzleShape& shape, Board start, const PuzzleGoals& goals,
                    const Query& query, Limits& limits) {
  if (query.method == Method::ida) {
    PuzzleWalk walk(shape, goals, start);
    if (query.plain()) return deepen(walk, PlainWalkPriority<PuzzleWalk>{walk}, limits);
    using Priority = WeightedWalkPriority<PuzzleWalk>;
    return deepen(walk, Priority{walk, query.weight_g, query.weight_h}, limits);
  }
  PuzzleProblem problem(shape, goals, limits);
  if (query.plain()) {
    return best_first<BucketQueue>(problem, PlainPriority<PuzzleProblem>{problem}, start, query,
                                   limits);
  }
  using Priority = WeightedPriority<PuzzleProblem>;
  return best_first<RadixQueue<Item<double, std::int32_t>>>(
      problem, Priority{problem, query.weight_g, query.weight_h}, start, query, limits);
}

}  // namespace

PuzzleShape::PuzzleShape(int rows, int columns) : rows_(rows), columns_(columns) {
  if (rows < 1 || columns < 1 || rows > kMaxCells || columns > kMaxCells || rows * columns < 2 ||
      rows * columns > kMaxCells) {
    throw ConfigError("rows, columns: expected 2 to 16 cells, got " + std::to_string(rows) + " x " +
                      std::to_string(columns));
  }
  for (int cell = 0; cell < cells(); ++cell) {
    const auto at = static_cast<std::size_t>(cell);
    const auto add = [&](bool there, int other) {
      if (there) beside_[at][count_[at]++] = static_cast<std::uint8_t>(other);
    };
    add(cell >= columns, cell - columns);
    add(cell % columns > 0, cell - 1);
    add(cell % columns < columns - 1, cell + 1);
    add(cell + columns < cells(), cell + columns);
  }
}

Board PuzzleShape::board(std::span<const int> tiles, const char* what) const {
  const std::string expected = std::string(what) + ": expected the tiles 0 to " +
      std::to_string(cells() - 1) + ", each once, got ";
  if (tiles.size() != static_cast<std::size_t>(cells())) {
    throw ConfigError(expected + std::to_string(tiles.size()) + " tiles");
  }
  Board board = 0;
  std::uint32_t seen = 0;
  for (std::size_t cell = 0; cell < tiles.size(); ++cell) {
    const int tile = tiles[cell];
    if (tile < 0 || tile >= cells() || ((seen >> tile) & 1U) != 0) {
      throw ConfigError(expected + std::to_string(tile) + " in cell " + std::to_string(cell) +
                        (tile >= 0 && tile < cells() ? ", a second time" : ""));
    }
    seen |= 1U << tile;
    board |= static_cast<Board>(tile) << (4 * cell);
  }
  return board;
}

bool PuzzleShape::reachable(Board from, Board to) const {
  std::array<int, kMaxCells> cell_in{};  // [tile], in `to`
  for (int cell = 0; cell < cells(); ++cell) {
    cell_in[static_cast<std::size_t>(tile_at(to, cell))] = cell;
  }
  const auto target = [&](int cell) {
    return cell_in[static_cast<std::size_t>(tile_at(from, cell))];
  };
  int odd = 0;
  for (int a = 0; a < cells(); ++a) {
    for (int b = a + 1; b < cells(); ++b) odd ^= target(a) > target(b) ? 1 : 0;
  }
  const int a = blank_of(from);
  const int b = blank_of(to);
  const int way = a / columns_ + a % columns_ + b / columns_ + b % columns_;
  return odd == way % 2;
}

PuzzleAnswer search_puzzle(const PuzzleShape& shape, Board start, std::span<const Board> goals,
                           PuzzleHeuristic heuristic, const Query& query, Limits& limits) {
  std::vector<Board> reachable;
  for (const Board goal : goals) {
    if (shape.reachable(start, goal)) reachable.push_back(goal);
  }
  if (reachable.empty()) return {};
  PuzzleAnswer result;
  try {
    const bool blind = query.weight_h == 0.0;
    const PuzzleGoals targets(shape, reachable, blind ? PuzzleHeuristic::none : heuristic, limits);
    Query order = query;
    if (blind) order.weight_h = order.weight_g;  // f = g: the same order in integers
    result = search(shape, start, targets, order, limits);
  } catch (const Stopped& stopped) {
    result.answer.stop = stopped.reason();
  }
  result.answer.bytes = limits.bytes();
  guarantee(result.answer, query, heuristic == PuzzleHeuristic::none ? 0.0 : 1.0);
  return result;
}

}  // namespace pyengine::astar
