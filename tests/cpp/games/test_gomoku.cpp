#include <doctest/doctest.h>

#include <cstdlib>

#include "ascii_boards.h"
#include "games/gomoku.h"

using namespace pyengine;
using namespace pyengine::test;

namespace {

Gomoku::Params rules(GomokuRule rule, int size = 15, int length = 5) {
  return {.board_size = size, .rule = rule, .win_length = length};
}

/// The first player's result of `moves` on one row, where X has the stones of `drawing` and is to
/// move.
std::optional<Outcome> after(GomokuRule rule, const std::string& row, std::string_view move) {
  const auto size = static_cast<int>(row.size());
  Gomoku position = Gomoku::from_setup(rules(rule, size), board(row));
  play_named(position, {move});
  return position.outcome();
}

}  // namespace

TEST_CASE("Gomoku keeps the promises of a game under every rule") {
  for (const GomokuRule rule : {GomokuRule::freestyle, GomokuRule::standard, GomokuRule::renju}) {
    check_promises<Gomoku>(rules(rule), 2);
    check_promises<Gomoku>(rules(rule, 20), 1);
    check_promises<Gomoku>(rules(rule, 6), 10);
  }
  check_promises<Gomoku>(rules(GomokuRule::freestyle, 3, 3), 10);
  check_promises<Gomoku>(rules(GomokuRule::standard, 8, 4), 5);
}

TEST_CASE("six in a row win in freestyle, but not if exactly five are required") {
  const std::string six = ".XXX.XX..";
  CHECK(after(GomokuRule::freestyle, six, "E9") == Outcome{1.0F});
  CHECK_FALSE(after(GomokuRule::standard, six, "E9"));
  const std::string five = ".XX.XX...";
  for (const auto rule : {GomokuRule::freestyle, GomokuRule::standard, GomokuRule::renju}) {
    CHECK(after(rule, five, "D9") == Outcome{1.0F});
    CHECK_FALSE(after(rule, five, "A9"));
  }
}

TEST_CASE("five in a row win in all directions everywhere on the largest board") {
  constexpr int kSize = 20;
  const auto params = rules(GomokuRule::standard, kSize);
  int rows = 0;
  for (const int step : {1, kSize - 1, kSize, kSize + 1}) {
    for (int end = 0; end < kSize * kSize; ++end) {
      const int start = end - 4 * step;
      if (start < 0 || std::abs(start % kSize - end % kSize) > 4) continue;  // it wraps around
      BoardSetup setup;
      for (int i = 0; i < 4; ++i) setup.first.set(start + i * step);
      Gomoku position = Gomoku::from_setup(params, setup);
      REQUIRE_FALSE(position.outcome());
      position.play(end);
      REQUIRE(position.outcome() == Outcome{1.0F});
      ++rows;
    }
  }
  CHECK(rows == 2 * 16 * 20 + 2 * 16 * 16);
}

TEST_CASE("a five counts even if another row through the point is too long") {
  Gomoku position = Gomoku::from_setup(rules(GomokuRule::standard, 9),
                                       board("XXX.XX..."
                                             "...X....."
                                             "...X....."
                                             "...X....."
                                             "...X....."));
  play_named(position, {"D9"});
  CHECK(position.outcome() == Outcome{1.0F});
}

TEST_CASE("in Renju six are a foul for Black and a win for White") {
  const auto params = rules(GomokuRule::renju, 9);
  const Gomoku black = Gomoku::from_setup(params, board(".XXX.XX.."));
  CHECK_FALSE(black.is_legal(4));
  CHECK(legal(black).size() == 81 - 5 - 1);
  Gomoku white = Gomoku::from_setup(params, board(".OOO.OO..", 1));
  CHECK(legal(white).size() == 81 - 5);
  white.play(4);
  CHECK(white.outcome() == Outcome{-1.0F});
}

TEST_CASE("White has no forbidden points in Renju") {
  const char* cross =
      "......."
      "...O..."
      "...O..."
      ".OO...."
      ".......";
  const auto params = rules(GomokuRule::renju, 7);
  CHECK(Gomoku::from_setup(params, board(cross, 1)).is_legal(24));
}

TEST_CASE("Black without a legal move draws in Renju") {
  // The only free point is the middle of a potential six.
  const char* drawing =
      "XXX.XX"
      "OOXOXO"
      "XOXOXO"
      "OXOXOX"
      "OXOXOX"
      "XOXOXO";
  const auto params = rules(GomokuRule::renju, 6);
  const Gomoku stuck = Gomoku::from_setup(params, board(drawing, 0));
  CHECK(stuck.outcome() == Outcome{0.0F});
  CHECK(legal(stuck).empty());
  CHECK_FALSE(Gomoku::from_setup(params, board(drawing, 1)).outcome());
  // The same final position, reached by White's move.
  std::string before = drawing;
  before[11] = '.';
  Gomoku position = Gomoku::from_setup(params, board(before, 1));
  CHECK_FALSE(position.outcome());
  play_named(position, {"F5"});
  CHECK(position.outcome() == Outcome{0.0F});
}

TEST_CASE("Gomoku's A1 is the bottom left point and I is a column") {
  const Gomoku::Params params;
  CHECK(Gomoku::action_to_string(params, 0) == "A15");
  CHECK(Gomoku::string_to_action(params, "A1") == 14 * 15);
  CHECK(Gomoku::string_to_action(params, "i8") == 7 * 15 + 8);
  CHECK(Gomoku::string_to_action(params, "P1") == kNoAction);
  CHECK(Gomoku::string_to_action(params, "A16") == kNoAction);
  CHECK(Gomoku::action_to_string(rules(GomokuRule::freestyle, 20), 399) == "T1");
  CHECK(Gomoku::string_to_action(rules(GomokuRule::freestyle, 20), "t20") == 19);
  Gomoku position(rules(GomokuRule::freestyle, 10));
  play_named(position, {"A1", "J10", "I2"});
  CHECK(position.to_string() ==
        "   A B C D E F G H I J\n"
        "10 . . . . . . . . . O\n"
        " 9 . . . . . . . . . .\n"
        " 8 . . . . . . . . . .\n"
        " 7 . . . . . . . . . .\n"
        " 6 . . . . . . . . . .\n"
        " 5 . . . . . . . . . .\n"
        " 4 . . . . . . . . . .\n"
        " 3 . . . . . . . . . .\n"
        " 2 . . . . . . . . X .\n"
        " 1 X . . . . . . . . .\n"
        "O to move\n");
}

TEST_CASE("Gomoku's parameters are checked by name") {
  CHECK(Gomoku::parse({}) == Gomoku::Params{});
  const auto params = Gomoku::parse({{"board_size", 9LL}, {"rule", "standard"}});
  CHECK(params == rules(GomokuRule::standard, 9));
  CHECK(Gomoku::describe(params) ==
        ParamMap{{"board_size", 9LL}, {"rule", "standard"}, {"win_length", 5LL}});
  CHECK_THROWS_AS(Gomoku::parse({{"board_size", 2LL}}), ConfigError);
  CHECK_THROWS_AS(Gomoku::parse({{"board_size", 21LL}}), ConfigError);
  CHECK_THROWS_AS(Gomoku::parse({{"win_length", 2LL}}), ConfigError);
  CHECK_THROWS_AS(Gomoku::parse({{"rule", "caro"}}), ConfigError);
  CHECK_THROWS_AS(Gomoku::parse({{"rule", "renju"}, {"win_length", 4LL}}), ConfigError);
}

TEST_CASE("two winners of Gomoku are rejected, according to the rule in force") {
  const char* drawing = "XXXXXX... OOOOO....";
  CHECK_FALSE(setup_error<Gomoku>(rules(GomokuRule::freestyle, 9), board(drawing)).empty());
  const auto standard = Gomoku::from_setup(rules(GomokuRule::standard, 9), board(drawing));
  CHECK(standard.outcome() == Outcome{-1.0F});
}
