/// The rules of Go on given boards.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "go_boards.h"

using namespace pyengine;
using namespace pyengine::go_test;

TEST_CASE("Go: a chain without liberties is removed as a whole") {
  auto go = start({".OO..",  //
                   "OXX..",  //
                   ".OO..",  //
                   ".....",  //
                   "....."},
                  1);
  play(go, {"D4"});
  CHECK(rows_of(go) == Rows{".OO..", "O..O.", ".OO..", ".....", "....."});
}

TEST_CASE("Go: one play captures several chains, before its own liberties are counted") {
  auto go = start({"XO.OX",  //
                   "XXOXX",  //
                   ".....",  //
                   ".....",  //
                   "....."});
  play(go, {"C5"});
  CHECK(rows_of(go) == Rows{"X.X.X", "XXOXX", ".....", ".....", "....."});
}

TEST_CASE("Go: suicide is illegal, or removes groups of two or more") {
  const Rows rows{".XO..",  //
                  "XO...",  //
                  "O....",  //
                  ".....",  //
                  "....."};
  const Rows pair{".XO..",  //
                  "OO...",  //
                  ".....",  //
                  ".....",  //
                  "....."};
  const Rows single{".O...",  //
                    "O....",  //
                    ".....",  //
                    ".....",  //
                    "....."};
  for (const bool suicide : {false, true}) {
    const auto go = start(rows, 0, Superko::positional, suicide);
    CHECK(legal(go, "A5") == suicide);  // three stones
    CHECK_FALSE(legal(start(single, 0, Superko::positional, suicide), "A5"));
    CHECK(legal(start(pair, 0, Superko::positional, suicide), "A5") == suicide);
  }
  auto go = start(pair, 0, Superko::positional, true);
  play(go, {"A5"});
  CHECK(rows_of(go) == Rows{"..O..", "OO...", ".....", ".....", "....."});
  CHECK(rows_of(go, 1) == pair);
  CHECK(go.last_move(0) == at(go, "A5"));
}

TEST_CASE("Go: a ko may not be retaken immediately under any rule") {
  for (const Superko superko : {Superko::positional, Superko::situational, Superko::simple}) {
    auto go = start({".XO..",  //
                     "X.XO.",  //
                     ".XO..",  //
                     ".....",  //
                     "....."},
                    1, superko);
    play(go, {"B4"});
    CHECK(go.ko_point() == at(go, "C4"));
    CHECK_FALSE(legal(go, "C4"));
    play(go, {"E1", "D1"});
    CHECK(go.ko_point() == kNoAction);
    CHECK(legal(go, "C4"));
    play(go, {"C4"});
    CHECK(go.ko_point() == at(go, "B4"));
    CHECK_FALSE(legal(go, "B4"));
  }
}

TEST_CASE("Go: a snapback is not a ko") {
  for (const Superko superko : {Superko::positional, Superko::situational, Superko::simple}) {
    auto go = start({"..OX.",  //
                     "OOOX.",  //
                     "XXXX.",  //
                     ".....",  //
                     "....."},
                    0, superko);
    play(go, {"B5", "A5"});  // White captures one stone, but with a chain of five
    CHECK(rows_of(go)[0] == "O.OX.");
    CHECK(go.ko_point() == kNoAction);
    play(go, {"B5"});
    CHECK(rows_of(go) == Rows{".X.X.", "...X.", "XXXX.", ".....", "....."});
  }
}

// Black B4 sends two stones, White D4 captures them, Black C4 recaptures: the first board again.
const Rows kSendTwo{"O.X.",  //
                    "OOOX",  //
                    "..OX",  //
                    "..O."};

TEST_CASE("Go: positional superko forbids sending two and returning one") {
  auto go = start(kSendTwo, 0, Superko::positional);
  play(go, {"B4", "D4"});
  CHECK(rows_of(go)[0] == "O..O");
  CHECK_FALSE(legal(go, "C4"));
  CHECK(legal(go, "B4"));
  play(go, {"A2", "B1"});
  CHECK(legal(go, "C4"));  // the board has changed elsewhere
}

TEST_CASE("Go: situational superko allows returning one if the other side is then to move") {
  auto go = start(kSendTwo, 0, Superko::situational);
  play(go, {"B4", "D4", "C4"});
  CHECK(rows_of(go) == kSendTwo);
  CHECK(go.to_move() == 1);
  play(go, {"pass"});
  CHECK_FALSE(legal(go, "B4"));  // that board occurred with White to move
  auto white_first = start(kSendTwo, 1, Superko::situational);
  play(white_first, {"pass", "B4", "D4"});
  CHECK_FALSE(legal(white_first, "C4"));
}

TEST_CASE("Go: simple ko allows sending two and returning one forever") {
  auto go = start(kSendTwo, 0, Superko::simple);
  for (int round = 0; round < 3; ++round) play(go, {"B4", "D4", "C4", "pass"});
  CHECK(rows_of(go) == kSendTwo);
}

TEST_CASE("Go: superko starts from the setup, and a ko of the setup is remembered") {
  const Rows rows{".XO..",  //
                  "XO.O.",  //
                  ".XO..",  //
                  ".....",  //
                  "....."};
  for (const Superko superko : {Superko::positional, Superko::situational, Superko::simple}) {
    const auto params = board(5, 5, superko);
    BoardSetup setup = setup_of(rows, 0);
    CHECK(Go9::from_setup(params, setup).is_legal(Go9::string_to_action(params, "C4")));
    setup.ko = Go9::string_to_action(params, "C4");
    auto go = Go9::from_setup(params, setup);
    CHECK(go.ko_point() == setup.ko);
    CHECK_FALSE(legal(go, "C4"));
    play(go, {"pass", "pass"});
    CHECK(go.outcome().has_value());
    auto later = Go9::from_setup(params, setup);
    play(later, {"E1", "D1"});
    CHECK(legal(later, "C4"));
    CHECK(later.last_move(2) == kNoAction);
    CHECK(rows_of(later, 2) == rows);
    CHECK(rows_of(later, 3) == Rows(5, "....."));
  }
}

TEST_CASE("Go: an impossible setup is rejected") {
  const auto params = board(3, 3);
  const auto refused = [&](const BoardSetup& setup) {
    CHECK_THROWS_AS((void)Go9::from_setup(params, setup), ConfigError);
  };
  refused(setup_of({"XO.", "O..", "..."}));  // no liberty
  refused(setup_of({"XXX", "XXX", "XXX"}));
  BoardSetup both = setup_of({"X..", "...", "..."});
  both.second.set(0);
  refused(both);
  BoardSetup outside;
  outside.first.set(9);
  refused(outside);
  BoardSetup nobody;
  nobody.to_move = 2;
  refused(nobody);
  for (const char* ko : {"A3", "A1", "pass"}) {  // a stone, nothing to take, no point
    BoardSetup setup = setup_of({"XO.", "...", "..."});
    setup.ko = Go9::string_to_action(params, ko);
    refused(setup);
  }
}

TEST_CASE("Go: two consecutive passes or the maximum length end the game, and area decides") {
  GoParams params = board(5, 5);
  params.komi = 0.5;
  auto go = Go9::from_setup(params,
                            setup_of({".XO..",  //
                                      ".XO..",  //
                                      "XXO..",  //
                                      "XO.O.",  //
                                      ".XOO."}));
  CHECK(go.area() == GoArea{9, 16});  // A1 is Black's, C2 is White's
  CHECK_FALSE(go.outcome().has_value());
  play(go, {"pass", "pass"});
  REQUIRE(go.outcome().has_value());
  CHECK(go.outcome()->first == -1.0F);
  ActionList moves;
  go.legal_actions(moves);
  CHECK(moves.empty());
  CHECK_FALSE(legal(go, "pass"));

  params.max_game_length = 3;
  Go9 limited(params);
  play(limited, {"C3", "pass", "C4"});
  REQUIRE(limited.outcome().has_value());
  CHECK(limited.outcome()->first == 1.0F);
}

TEST_CASE("Go: an integer komi allows a draw") {
  GoParams params = board(3, 3);
  params.komi = 9.0;
  Go9 go(params);
  play(go, {"B2", "pass", "pass"});
  CHECK(go.outcome() == Outcome{0.0F});
}

TEST_CASE("Go: a copy shares nothing") {
  Go9 go(board(5, 5));
  play(go, {"C3", "C4", "B4", "D3", "D4"});
  const Go9 before = go;
  Go9 copy = go;
  play(copy, {"C5", "C2"});
  CHECK(go == before);
  CHECK(copy != go);
  CHECK(go.hash() == before.hash());
  copy = go;
  CHECK(copy == go);
  play(copy, {"E5"});
  play(go, {"E5"});
  CHECK(copy == go);
}

TEST_CASE("Go: equality means the same future") {
  const auto params = board(5, 5);
  Go9 a(params);
  Go9 b(params);
  play(a, {"A1", "B1", "C1", "D1"});
  play(b, {"C1", "D1", "A1", "B1"});
  CHECK(a.hash() == b.hash());
  CHECK(a != b);  // superko remembers other boards
  const auto simple = board(5, 5, Superko::simple);
  Go9 c(simple);
  Go9 d(simple);
  play(c, {"A1", "B1", "C1", "D1"});
  play(d, {"C1", "D1", "A1", "B1"});
  CHECK(c == d);
  play(c, {"pass"});
  CHECK(c != d);
  CHECK(c.hash() != d.hash());
}

TEST_CASE("Go: the hash distinguishes positions with a ko or a pass on the same board") {
  for (const Superko superko : {Superko::simple, Superko::positional, Superko::situational}) {
    auto taken = start({".XO..",  //
                        "XO.O.",  //
                        ".XO..",  //
                        ".....",  //
                        "....."},
                       0, superko);
    play(taken, {"C4"});
    REQUIRE(taken.ko_point() == at(taken, "B4"));
    const auto calm = start(rows_of(taken), 1, superko);
    CHECK(legal(calm, "B4"));
    CHECK(calm != taken);
    CHECK(calm.hash() != taken.hash());
    auto passed = calm;
    play(passed, {"pass"});
    const auto begun = start(rows_of(taken), 0, superko);  // one pass does not end the game here
    CHECK(begun.hash() != passed.hash());
    play(passed, {"pass"});
    CHECK(passed.hash() != calm.hash());
  }
}

TEST_CASE("Go: move names skip I and have row 1 at the bottom") {
  const auto params = board(19, 19);
  CHECK(Go19::action_to_string(params, 0) == "A19");
  CHECK(Go19::action_to_string(params, 8) == "J19");
  CHECK(Go19::action_to_string(params, 360) == "T1");
  CHECK(Go19::action_to_string(params, 361) == "pass");
  for (Action a = 0; a <= 361; ++a) {
    CHECK(Go19::string_to_action(params, Go19::action_to_string(params, a)) == a);
  }
  CHECK(Go19::string_to_action(params, "d4") == Go19::string_to_action(params, "D4"));
  CHECK(Go19::string_to_action(params, "PASS") == 361);
  for (const char* wrong : {"I5", "A0", "A20", "U1", "D", "4D", "D04", "D4x", "", "resign"}) {
    CHECK(Go19::string_to_action(params, wrong) == kNoAction);
  }
  CHECK(start({".X", "O."}).to_string() ==
        "   A B\n"
        " 2 . X 2\n"
        " 1 O . 1\n"
        "   A B\n"
        "X to move\n");
}

TEST_CASE("Go: parameters are read back as written, and rejected by name") {
  const auto size9 = Go9::parse({{"board_size", 9LL}, {"komi", 7.0}, {"suicide", true}});
  CHECK(size9.columns == 9);
  CHECK(size9.max_game_length == 162);
  CHECK(Go9::parse(Go9::describe(size9)) == size9);
  const auto strip =
      Go9::parse({{"rows", 1LL}, {"columns", 7LL}, {"superko", std::string("situational")}});
  CHECK(Go9::parse(Go9::describe(strip)) == strip);
  CHECK(Go9::shape(strip).symmetry == SymmetryGroup::rectangle);
  CHECK(Go9::shape(strip).pass == 7);
  CHECK(Go9::describe(Go9::parse({{"rows", 1LL}, {"columns", 1LL}}))[0].first == "rows");
  CHECK(Go9::describe(Go9::parse({{"rows", 5LL}, {"columns", 5LL}}))[0].first == "board_size");
  CHECK(Go19::parse({}) == GoParams{});
  const std::vector<ParamMap> refused{
      {{"board_size", 1LL}},
      {{"board_size", 20LL}},
      {{"rows", 0LL}, {"columns", 5LL}},
      {{"rows", 5LL}},
      {{"board_size", 5LL}, {"rows", 5LL}, {"columns", 5LL}},
      {{"komi", 0.25}},
      {{"komi", std::nan("")}},
      {{"komi", 1e9}},
      {{"superko", std::string("super")}},
      {{"max_game_length", 0LL}},
      {{"size", 9LL}},
  };
  for (const ParamMap& map : refused) CHECK_THROWS_AS((void)Go9::parse(map), ConfigError);
}

TEST_CASE("Go: each board belongs to exactly one type, the smallest that fits it") {
  for (int rows = 1; rows <= 19; ++rows) {
    for (int columns = 1; columns <= 19; ++columns) {
      const auto params = board(rows, columns);
      const int side = std::max(rows, columns);
      CHECK(Go9::accepts(params) == (side <= 9));
      CHECK(Go13::accepts(params) == (side > 9 && side <= 13));
      CHECK(Go19::accepts(params) == (side > 13));
    }
  }
}

TEST_CASE(
    "Go: playouts are uniform over moves that do not fill an eye, and pass if there are none") {
  // A5, C5 and E5 are Black's eyes; A1 and B2 would be suicide.
  const auto go = start({".X.X.",  //
                         "XXXXX",  //
                         "OOOOX",  //
                         "O.OXX",  //
                         ".O.OX"});
  Rng rng(3);
  ActionList scratch;
  std::array<int, 26> seen{};
  const int draws = 40000;
  for (int i = 0; i < draws; ++i) {
    ++seen[static_cast<std::size_t>(go.playout_move(rng, scratch))];
  }
  const auto count = [&](const char* text) { return seen[static_cast<std::size_t>(at(go, text))]; };
  CHECK(count("C1") == draws);  // captures D1
  const auto open = Go9(board(3, 3));
  std::array<int, 10> uniform{};
  for (int i = 0; i < 90000; ++i) {
    ++uniform[static_cast<std::size_t>(open.playout_move(rng, scratch))];
  }
  for (int p = 0; p < 9; ++p) {
    CHECK(uniform[static_cast<std::size_t>(p)] > 9500);
    CHECK(uniform[static_cast<std::size_t>(p)] < 10500);
  }
  CHECK(uniform[9] == 0);
  CHECK(Go9(board(1, 1)).playout_move(rng, scratch) == 1);
}

TEST_CASE("Go: a playout may play every legal move except eyes, and nothing else") {
  // A9 and E5 are eyes of X; J9 and C2 are not, because of too many opposing stones at their
  // corners.
  const Rows rows{".X.....X.",  //
                  "X......OX",  //
                  ".........",  //
                  "...OX....",  //
                  "...X.X...",  //
                  "....X....",  //
                  ".OX......",  //
                  ".X.X.....",  //
                  "..XO....."};
  for (const Superko superko : {Superko::positional, Superko::simple}) {
    const auto go = start(rows, 0, superko);
    std::vector<bool> expected(82, false);
    ActionList moves;
    go.legal_actions(moves);
    for (const ActionId move : moves) expected[move] = move != 81;
    for (const char* eye : {"A9", "E5"}) {
      CHECK(legal(go, eye));
      expected[static_cast<std::size_t>(at(go, eye))] = false;
    }
    CHECK(expected[static_cast<std::size_t>(at(go, "J9"))]);
    CHECK(expected[static_cast<std::size_t>(at(go, "C2"))]);
    std::vector<bool> seen(82, false);
    Rng rng(5);
    for (int i = 0; i < 10000; ++i) {
      seen[static_cast<std::size_t>(go.playout_move(rng, moves))] = true;
    }
    CHECK(seen == expected);
  }
}

TEST_CASE("Go: every playout ends, with live eyes or at the maximum length") {
  Rng rng(11);
  ActionList scratch;
  for (int game = 0; game < 200; ++game) {
    Go9 go(GoParams{9, 9, 7.5, Superko::positional, false, 1000});
    int plies = 0;
    while (!go.outcome()) {
      const Action move = go.playout_move(rng, scratch);
      REQUIRE(go.is_legal(move));
      go.play(move);
      ++plies;
    }
    CHECK(plies < 600);
  }
}

TEST_CASE("Go: earlier boards in the planes show stones captured since") {
  auto go = start({".OO..",  //
                   "OXX..",  //
                   ".OO..",  //
                   ".....",  //
                   "....."},
                  0, Superko::simple);
  play(go, {"E1", "D4", "pass"});
  CHECK(rows_of(go, 1) == Rows{".OO..", "O..O.", ".OO..", ".....", "....X"});
  CHECK(rows_of(go, 2) == Rows{".OO..", "OXX..", ".OO..", ".....", "....X"});
  CHECK(rows_of(go, 3) == Rows{".OO..", "OXX..", ".OO..", ".....", "....."});
  CHECK(rows_of(go, 4) == Rows(5, "....."));  // before the start
  CHECK(go.last_move(0) == 25);
  CHECK(go.last_move(1) == at(go, "D4"));
  CHECK(go.last_move(3) == kNoAction);
}
