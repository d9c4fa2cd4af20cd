/// The Othello part of alpha-beta: nodes per second with few empty points, and the move list above
/// that. A node is a position reached by a disc; a full board is not a node.
#include <cstdint>
#include <string>
#include <vector>

#include "exact/alphabeta/othello_kernels.h"
#include "exact/alphabeta/othello_position.h"
#include "support.h"

namespace pyengine::bench {
namespace {

using othello::Board;
using othello::Kernels;

/// Positions of random games.
std::vector<Board> boards_with(int empties, int count) {
  std::vector<Board> boards;
  Rng rng(1);
  ActionList moves;
  while (static_cast<int>(boards.size()) < count) {
    Othello game;
    while (!game.outcome() && othello::count_empties(othello::board_of(game)) > empties) {
      game.legal_actions(moves);
      game.play(moves[static_cast<int>(rng.below(static_cast<std::uint32_t>(moves.size())))]);
    }
    if (!game.outcome()) boards.push_back(othello::board_of(game));
  }
  return boards;
}

void solve_few(benchmark::State& state, const Kernels& kernels, int empties) {
  const std::vector<Board> boards = boards_with(empties, 100);
  for (const Board board : boards) {
    std::uint64_t ignored = 0;
    const int score = kernels.solve_few(board, -64, 64, ignored);
    require(kernels.solve_few(board, score - 1, score, ignored) >= score &&
                kernels.solve_few(board, score, score + 1, ignored) <= score,
            "the windows on both sides of a score agree with it");
  }
  std::uint64_t nodes = 0;
  std::size_t place = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(kernels.solve_few(boards[place], -64, 64, nodes));
    place = (place + 1) % boards.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(nodes));
}

void list_children(benchmark::State& state, const Kernels& kernels, int depth) {
  const std::vector<Board> boards = boards_with(20, 100);
  othello::Child children[othello::kMaxChildren];
  std::uint64_t nodes = 0;
  std::size_t place = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(kernels.list_children(boards[place], depth, children, nodes));
    place = (place + 1) % boards.size();
  }
  set_rate(state);
}

const bool registered = [] {
  std::vector<const Kernels*> kernels = {&othello::portable_kernels()};
  if (othello::avx2_kernels() != nullptr) kernels.push_back(othello::avx2_kernels());
  for (const Kernels* each : kernels) {
    const std::string start = std::string("exact/othello/") + each->name + "/";
    for (const int empties : {5, 7, othello::kFewEmpties}) {
      add(start + "solve_few," + std::to_string(empties) + "_empties",
          [=](auto& state) { solve_few(state, *each, empties); });
    }
    for (const int depth : {0, 2, 4}) {
      add(start + "list_children," + std::to_string(depth) + "_plies",
          [=](auto& state) { list_children(state, *each, depth); });
    }
  }
  return true;
}();

}  // namespace
}  // namespace pyengine::bench
