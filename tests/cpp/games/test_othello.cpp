#include <doctest/doctest.h>

#include <set>

#include "ascii_boards.h"
#include "games/othello.h"

using namespace pyengine;
using namespace pyengine::test;

namespace {

/// Discs of `other` that a disc of `own` on `point` would flip, checked square by square.
BoardBits naive_flips(int size, const BoardBits& own, const BoardBits& other, int point) {
  BoardBits flips;
  for (int down = -1; down <= 1; ++down) {
    for (int right = -1; right <= 1; ++right) {
      if (down == 0 && right == 0) continue;
      BoardBits run;
      int row = point / size + down;
      int column = point % size + right;
      const auto inside = [&] { return row >= 0 && row < size && column >= 0 && column < size; };
      while (inside() && other.test(row * size + column)) {
        run.set(row * size + column);
        row += down;
        column += right;
      }
      if (inside() && own.test(row * size + column)) flips |= run;
    }
  }
  return flips;
}

/// Checks that every move of `position` is legal and flips the same discs as square-by-square
/// rules.
template <class G>
void check_against_naive(const G& position) {
  const int size = position.params().board_size;
  BoardBits discs[2];
  position.stones(0, discs[0], discs[1]);
  const BoardBits& own = discs[position.to_move()];
  const BoardBits& other = discs[1 - position.to_move()];
  for (int point = 0; point < size * size; ++point) {
    const BoardBits flips = naive_flips(size, own, other, point);
    const bool free = !own.test(point) && !other.test(point);
    REQUIRE(position.is_legal(point) == (free && flips.any()));
    if (!position.is_legal(point)) continue;
    G next = position;
    next.play(point);
    BoardBits after[2];
    next.stones(0, after[0], after[1]);
    BoardBits expected = own | flips;
    expected.set(point);
    REQUIRE(after[position.to_move()] == expected);
    REQUIRE(after[1 - position.to_move()] == other - flips);
  }
}

template <class G>
void check_random_boards(int size, int boards) {
  Rng rng(static_cast<std::uint64_t>(size));
  for (int i = 0; i < boards; ++i) {
    BoardSetup setup;
    for (int point = 0; point < size * size; ++point) {
      const std::uint32_t kind = rng.below(3);
      if (kind == 1) setup.first.set(point);
      if (kind == 2) setup.second.set(point);
    }
    setup.to_move = static_cast<int>(rng.below(2));
    check_against_naive(G::from_setup({size}, setup));
  }
}

}  // namespace

TEST_CASE("Othello's perft is the published one, with passes as plies") {
  const long long leaves[] = {1, 4, 12, 56, 244, 1396, 8200, 55092, 390216};
  for (int depth = 0; depth <= 8; ++depth) CHECK(perft(Othello(), depth) == leaves[depth]);
}

TEST_CASE("Othello keeps the promises of a game on every board size") {
  for (const int size : {4, 6, 8}) check_promises<Othello>({size}, 20);
  check_promises<OthelloLarge>({10}, 5);
}

TEST_CASE("on random boards, moves and flips match the square-by-square rules") {
  for (const int size : {4, 6, 8}) check_random_boards<Othello>(size, 300);
  check_random_boards<OthelloLarge>(10, 300);
}

TEST_CASE("Othello begins with d4 and e5 White, e4 and d5 Black") {
  Othello position;
  CHECK(legal_names(position) == "d3 c4 f5 e6");
  play_named(position, {"d3"});
  CHECK(position.to_string() ==
        "  a b c d e f g h\n"
        "1 . . . . . . . .\n"
        "2 . . . . . . . .\n"
        "3 . . . X . . . .\n"
        "4 . . . X X . . .\n"
        "5 . . . X O . . .\n"
        "6 . . . . . . . .\n"
        "7 . . . . . . . .\n"
        "8 . . . . . . . .\n"
        "O to move\n");
}

TEST_CASE("Othello's four small openings are one position under symmetry") {
  std::set<std::uint64_t> hashes;
  for (const int action : legal(OthelloLarge())) {
    OthelloLarge position;
    position.play(action);
    hashes.insert(position.hash());
    CHECK(legal(position).size() == 3);
  }
  CHECK(hashes.size() == 4);
}

TEST_CASE("a pass is legal only for a player who cannot move while the opponent can") {
  Othello position = Othello::from_setup({4}, board("XO.. .... .... ....", 1));
  CHECK_FALSE(position.outcome());
  CHECK(legal_names(position) == "pass");
  CHECK(position.is_legal(16));
  const Othello before = position;
  position.play(16);
  CHECK(position.to_move() == 0);
  CHECK_FALSE(position == before);
  CHECK(legal_names(position) == "c1");
  CHECK_FALSE(position.is_legal(16));
  const BoardSetup same = board("XO.. .... .... ....");
  check_past(position, {{same.first, same.second, kNoAction}, {same.first, same.second, 16}});
}

TEST_CASE("Othello ends when neither player can move, and discs decide") {
  const auto result = [](const char* drawing) {
    return Othello::from_setup({4}, board(drawing)).outcome();
  };
  CHECK(result("XXXX .... .... ....") == Outcome{1.0F});
  CHECK(result("X.O. .... .... ..O.") == Outcome{-1.0F});
  CHECK(result("X..O .... .... ....") == Outcome{0.0F});
  CHECK(result(".... .... .... ....") == Outcome{0.0F});
  const Othello over = Othello::from_setup({4}, board("XXXX .... .... ...."));
  CHECK(legal(over).empty());
  CHECK_FALSE(over.is_legal(16));
  CHECK(over.to_string().find("X has won") != std::string::npos);
}

TEST_CASE("Othello boards are even, from 4 to 10") {
  for (const long long size : {4, 6, 8, 10}) {
    const auto params = Othello::parse({{"board_size", size}});
    CHECK(params.board_size == size);
    CHECK(Othello::accepts(params) != OthelloLarge::accepts(params));
    CHECK(OthelloLarge::accepts(params) == (size == 10));
    CHECK(Othello::describe(params) == ParamMap{{"board_size", size}});
  }
  for (const long long size : {2, 5, 7, 9, 12}) {
    CHECK_THROWS_AS(Othello::parse({{"board_size", size}}), ConfigError);
    CHECK_THROWS_AS(OthelloLarge::parse({{"board_size", size}}), ConfigError);
  }
}

TEST_CASE("Othello's points are named from the top left, and the pass is a word") {
  CHECK(Othello::string_to_action({8}, "a1") == 0);
  CHECK(Othello::string_to_action({8}, "H8") == 63);
  CHECK(Othello::string_to_action({8}, "PASS") == 64);
  CHECK(Othello::action_to_string({8}, 64) == "pass");
  CHECK(OthelloLarge::action_to_string({10}, 99) == "j10");
  CHECK(OthelloLarge::string_to_action({10}, "j10") == 99);
  CHECK(Othello::string_to_action({8}, "i1") == kNoAction);
  CHECK(Othello::string_to_action({8}, "a9") == kNoAction);
}
