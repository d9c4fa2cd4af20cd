/// The code for the last empty points of Othello, compared with plain negamax and with itself.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "exact/alphabeta/othello_kernels.h"
#include "othello_endgames.h"

using namespace pyengine;
using namespace pyengine::othello;
using namespace pyengine::test;

namespace {

std::vector<const Kernels*> every_kernels() {
  std::vector<const Kernels*> found = {&portable_kernels()};
  if (avx2_kernels() != nullptr) found.push_back(avx2_kernels());
  return found;
}

int solve(const Kernels& kernels, Board board, int alpha, int beta) {
  std::uint64_t nodes = 0;
  return kernels.solve_few(board, alpha, beta, nodes);
}

/// Every window gives a correct bound, and the exact score if it is inside.
void check_windows(const Kernels& kernels, Board board, int score, Rng& rng) {
  CAPTURE(kernels.name);
  CAPTURE(board.own);
  CAPTURE(board.other);
  REQUIRE(solve(kernels, board, -64, 64) == score);
  for (int i = 0; i < 4; ++i) {
    const int alpha = static_cast<int>(rng.below(128)) - 64;
    const int widest = 64 - alpha;
    const int beta =
        alpha + 1 + (i < 2 ? 0 : static_cast<int>(rng.below(static_cast<std::uint32_t>(widest))));
    CAPTURE(alpha);
    CAPTURE(beta);
    const int found = solve(kernels, board, alpha, beta);
    if (found <= alpha) {
      REQUIRE(score <= found);
    } else if (found >= beta) {
      REQUIRE(score >= found);
    } else {
      REQUIRE(score == found);
    }
  }
}

void check_random_endgames(int empties, int boards) {
  Rng rng(static_cast<std::uint64_t>(empties) + 1);
  for (int i = 0; i < boards; ++i) {
    const Board board = random_endgame(rng, empties);
    const int score = best_difference(board);
    for (const Kernels* kernels : every_kernels()) check_windows(*kernels, board, score, rng);
  }
}

}  // namespace

TEST_CASE("the last empty points of Othello are solved as by plain negamax") {
  for (int empties = 0; empties <= 5; ++empties) check_random_endgames(empties, 3000);
  check_random_endgames(6, 1000);
  check_random_endgames(7, 300);
  check_random_endgames(8, 60);
  check_random_endgames(9, 10);
}

TEST_CASE("a player without discs has lost every point") {
  const Board last_disc = board_of("XO------" + std::string(56, '-'));
  for (const Kernels* kernels : every_kernels()) {
    CHECK(solve(*kernels, {0, 1}, -64, 64) == -64);
    CHECK(solve(*kernels, {1, 0}, -64, 64) == 64);
    CHECK(solve(*kernels, last_disc, -64, 64) == 64);
    CHECK(solve(*kernels, passed(last_disc), -64, 64) == -64);
  }
}

TEST_CASE("if neither player can move, the remaining points belong to the winner") {
  Rng rng(5);
  for (int ended = 0; ended < 50;) {
    const Board board = random_endgame(rng, 1 + static_cast<int>(rng.below(6)));
    if (!is_over(board)) continue;
    ++ended;
    for (const Kernels* kernels : every_kernels()) {
      REQUIRE(solve(*kernels, board, -64, 64) == final_difference(board));
    }
  }
}

TEST_CASE("every instruction set searches the same Othello tree") {
  Rng rng(11);
  for (int i = 0; i < 40; ++i) {
    const Board board = random_endgame(rng, kFewEmpties);
    std::uint64_t expected_nodes = 0;
    const int expected = portable_kernels().solve_few(board, -64, 64, expected_nodes);
    for (const Kernels* kernels : every_kernels()) {
      std::uint64_t nodes = 0;
      CHECK(kernels->solve_few(board, -64, 64, nodes) == expected);
      CHECK(nodes == expected_nodes);
    }
  }
}

TEST_CASE("the full Othello board and passes do not count as nodes") {
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    for (int empties = 0; empties <= 1; ++empties) {
      const Board board = random_endgame(rng, empties);
      for (const Kernels* kernels : every_kernels()) {
        std::uint64_t nodes = 0;
        kernels->solve_few(board, -64, 64, nodes);
        REQUIRE(nodes == static_cast<std::uint64_t>(empties));
      }
    }
  }
}
