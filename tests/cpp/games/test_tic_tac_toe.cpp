#include <doctest/doctest.h>

#include <set>

#include "ascii_boards.h"
#include "games/tic_tac_toe.h"

using namespace pyengine;
using namespace pyengine::test;

namespace {

struct Totals {
  int games = 0;
  int first = 0;
  int second = 0;
  std::set<std::uint64_t> hashes;
};

void visit(const TicTacToe& position, Totals& totals) {
  totals.hashes.insert(position.hash());
  if (const auto outcome = position.outcome()) {
    ++totals.games;
    totals.first += outcome->first > 0 ? 1 : 0;
    totals.second += outcome->first < 0 ? 1 : 0;
    return;
  }
  for (const int action : legal(position)) {
    TicTacToe next = position;
    next.play(action);
    visit(next, totals);
  }
}

}  // namespace

TEST_CASE("tic-tac-toe has 255168 games and 5478 positions with distinct hashes") {
  Totals totals;
  visit(TicTacToe(), totals);
  CHECK(totals.games == 255168);
  CHECK(totals.first == 131184);
  CHECK(totals.second == 77904);
  CHECK(totals.hashes.size() == 5478);
}

TEST_CASE("tic-tac-toe keeps the promises of a game") { check_promises<TicTacToe>({}, 50); }

TEST_CASE("tic-tac-toe's a1 is the top left point") {
  TicTacToe position;
  play_named(position, {"a1", "c1", "b3"});
  CHECK(position.to_string() ==
        "  a b c\n"
        "1 X . O\n"
        "2 . . .\n"
        "3 . X .\n"
        "O to move\n");
  CHECK(TicTacToe::string_to_action({}, "c2") == 5);
  for (const char* text : {"", "a", "a0", "a4", "d1", "1a", "a01", "a1 ", "pass"}) {
    CAPTURE(text);
    CHECK(TicTacToe::string_to_action({}, text) == kNoAction);
  }
}

TEST_CASE("a tic-tac-toe setup may be won by at most one player") {
  const auto won = TicTacToe::from_setup({}, board("XXX OO. ..."));
  CHECK(won.outcome() == Outcome{1.0F});
  CHECK(legal(won).empty());
  CHECK_FALSE(won.is_legal(5));
  CHECK(won.to_string() == "  a b c\n1 X X X\n2 O O .\n3 . . .\nX has won\n");
  CHECK(TicTacToe::from_setup({}, board("XOX XOO OXX")).outcome() == Outcome{0.0F});
  CHECK(setup_error<TicTacToe>({}, board("XXX OOO ...")).find("winner") != std::string::npos);
}

TEST_CASE("a setup with stones off the board, two on a point or an invalid player is rejected") {
  BoardSetup setup = board("X.. ... ...");
  setup.second.set(0);
  CHECK(setup_error<TicTacToe>({}, setup).find("row 0, column 0") != std::string::npos);
  setup = board("X.. ... ...");
  setup.first.set(9);
  CHECK(setup_error<TicTacToe>({}, setup).find("point 9") != std::string::npos);
  CHECK(setup_error<TicTacToe>({}, board("...", 2)).find("player 2") != std::string::npos);
  setup = board("...");
  setup.ko = 4;
  CHECK(setup_error<TicTacToe>({}, setup).find("ko") != std::string::npos);
}

TEST_CASE("stone counts of a setup need not match the player to move") {
  const auto position = TicTacToe::from_setup({}, board("XX. ... ...", 0));
  CHECK(position.to_move() == 0);
  CHECK(legal_names(position) == "c1 a2 b2 c2 a3 b3 c3");
}

TEST_CASE("tic-tac-toe takes no parameters") {
  CHECK(TicTacToe::describe(TicTacToe::parse({})).empty());
  CHECK_THROWS_AS(TicTacToe::parse({{"k", 3LL}}), ConfigError);
}
