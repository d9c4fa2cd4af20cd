/// The moves listed by the Othello solver, compared with the game's own.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "exact/alphabeta/othello_kernels.h"
#include "othello_endgames.h"

using namespace pyengine;
using namespace pyengine::othello;
using namespace pyengine::test;

namespace {

std::vector<Child> children_of(const Kernels& kernels, Board board, int depth,
                               std::uint64_t& nodes) {
  std::vector<Child> children(kMaxChildren);
  children.resize(
      static_cast<std::size_t>(kernels.list_children(board, depth, children.data(), nodes)));
  return children;
}

void check_children(const Kernels& kernels, Board board) {
  std::uint64_t nodes = 0;
  const std::vector<Child> children = children_of(kernels, board, 0, nodes);
  std::uint64_t expected = moves_of(board);
  if (expected == 0) {
    REQUIRE(children.size() == (is_over(board) ? 0 : 1));
    if (is_over(board)) return;
    CHECK(children[0].point == kPass);
    CHECK(children[0].board == passed(board));
    return;
  }
  for (const Child& child : children) {
    const std::uint64_t place = std::uint64_t{1} << child.point;
    REQUIRE((expected & place) != 0);
    expected ^= place;
    REQUIRE(child.board == played(board, place));
  }
  REQUIRE(expected == 0);
}

}  // namespace

TEST_CASE("the Othello solver lists the legal moves and the resulting positions") {
  Rng rng(4);
  for (int i = 0; i < 3000; ++i) {
    const Board board = random_endgame(rng, static_cast<int>(rng.below(60)));
    check_children(portable_kernels(), board);
    if (avx2_kernels() != nullptr) check_children(*avx2_kernels(), board);
  }
}

TEST_CASE("every instruction set orders the moves of Othello in the same way") {
  if (avx2_kernels() == nullptr) {
    MESSAGE("SKIPPED: this processor has no AVX2");
    return;
  }
  Rng rng(6);
  for (int i = 0; i < 200; ++i) {
    const Board board = random_endgame(rng, static_cast<int>(rng.below(50)));
    for (int depth = 0; depth <= 3; ++depth) {
      std::uint64_t nodes[2] = {};
      const auto expected = children_of(portable_kernels(), board, depth, nodes[0]);
      const auto found = children_of(*avx2_kernels(), board, depth, nodes[1]);
      REQUIRE(found.size() == expected.size());
      for (std::size_t c = 0; c < found.size(); ++c) {
        REQUIRE(found[c].order == expected[c].order);
      }
      REQUIRE(nodes[0] == nodes[1]);
    }
  }
}

TEST_CASE("an Othello estimate is antisymmetric between the players") {
  Rng rng(8);
  const Kernels* avx2 = avx2_kernels();
  for (int i = 0; i < 1000; ++i) {
    const Board board = random_endgame(rng, static_cast<int>(rng.below(60)));
    const int estimate = portable_kernels().estimate(board);
    REQUIRE(estimate == -portable_kernels().estimate(passed(board)));
    REQUIRE(estimate >= -kMostDiscs);
    REQUIRE(estimate <= kMostDiscs);
    REQUIRE((avx2 == nullptr || avx2->estimate(board) == estimate));
  }
}
