/// Stable discs of Othello, compared with exhaustive play.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "exact/alphabeta/othello_stability.h"
#include "othello_endgames.h"

using namespace pyengine;
using namespace pyengine::othello;
using namespace pyengine::test;

namespace {

/// Discs that keep their colour in every continuation of `board`: `first` belongs to the player to
/// move, `second` to the opponent.
struct Kept {
  std::uint64_t first;
  std::uint64_t second;
};

Kept kept_discs(Board board) {
  Kept kept{board.own, board.other};
  if (is_over(board)) return kept;
  if (moves_of(board) == 0) {
    const Kept after = kept_discs(passed(board));
    return {after.second, after.first};
  }
  for (std::uint64_t rest = moves_of(board); rest != 0; rest &= rest - 1) {
    const Kept after = kept_discs(played(board, rest & (0 - rest)));
    kept.first &= after.second;
    kept.second &= after.first;
  }
  return kept;
}

}  // namespace

TEST_CASE("no line of play flips a stable Othello disc") {
  Rng rng(1);
  int stable = 0;
  int kept = 0;
  for (int i = 0; i < 3000; ++i) {
    const Board board = random_endgame(rng, 1 + i % 7);
    const Kept all = kept_discs(board);
    const std::uint64_t first = stable_discs(board.own, board.other);
    const std::uint64_t second = stable_discs(board.other, board.own);
    CAPTURE(board.own);
    CAPTURE(board.other);
    REQUIRE((first & ~all.first) == 0);
    REQUIRE((second & ~all.second) == 0);
    stable += count_bits(first) + count_bits(second);
    kept += count_bits(all.first) + count_bits(all.second);
  }
  CHECK(stable * 10 >= kept * 7);  // most discs that are safe near the end are recognised
}

TEST_CASE("all discs of a full board are stable") {
  Rng rng(2);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t own = rng.next();
    CHECK(stable_discs(own, ~own) == own);
  }
}

TEST_CASE("stable Othello discs spread from the corners") {
  const Board board = board_of(
      "XXX----O"
      "XXX----O"
      "XX---OOO"
      "--------"
      "---XO---"
      "X-------"
      "XX------"
      "-XXXXXX-");
  const Board stable = board_of(
      "XXX----O"
      "XX-----O"
      "X------O"
      "--------"
      "--------"
      "--------"
      "--------"
      "--------");
  CHECK(stable_discs(board.own, board.other) == stable.own);
  CHECK(stable_discs(board.other, board.own) == stable.other);
}

TEST_CASE("a full Othello edge is stable") {
  const Board board = board_of("XOOXXOXO" + std::string(56, '-'));
  CHECK(stable_discs(board.own, board.other) == board.own);
  CHECK(stable_discs(board.other, board.own) == board.other);
}
