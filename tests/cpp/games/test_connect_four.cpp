#include <doctest/doctest.h>

#include <unordered_map>

#include "ascii_boards.h"
#include "games/connect_four.h"

using namespace pyengine;
using namespace pyengine::test;

TEST_CASE("Connect Four has the published numbers of positions and move sequences") {
  // OEIS A212693; sequences end with the game, which is first possible after seven plies.
  const std::vector<std::size_t> positions = {1, 7, 49, 238, 1120, 4263, 16422, 54859};
  std::unordered_map<std::uint64_t, ConnectFour> level;
  level.emplace(ConnectFour().hash(), ConnectFour());
  for (const std::size_t expected : positions) {
    CHECK(level.size() == expected);
    std::unordered_map<std::uint64_t, ConnectFour> next_level;
    for (const auto& [hash, position] : level) {
      for (const int column : legal(position)) {
        ConnectFour next = position;
        next.play(column);
        next_level.emplace(next.hash(), next);
      }
    }
    level = std::move(next_level);
  }
  CHECK(perft(ConnectFour(), 6) == 117649);
  CHECK(perft(ConnectFour(), 7) == 823536);
}

TEST_CASE("Connect Four keeps the promises of a game on boards of every shape") {
  for (const ConnectFour::Params params : {ConnectFour::Params{6, 7},
                                           {1, 1},
                                           {1, 32},
                                           {63, 1},
                                           {31, 2},
                                           {3, 16},
                                           {4, 12},
                                           {7, 8},
                                           {15, 4}}) {
    CAPTURE(params.rows);
    CAPTURE(params.columns);
    check_promises<ConnectFour>(params, 10);
  }
}

TEST_CASE("stones fall on each other and the top row closes a column") {
  ConnectFour position;
  play_named(position, {"4", "4", "4", "4", "4", "4", "1"});
  CHECK(position.to_string() ==
        " . . . O . . .\n"
        " . . . X . . .\n"
        " . . . O . . .\n"
        " . . . X . . .\n"
        " . . . O . . .\n"
        " X . . X . . .\n"
        " 1 2 3 4 5 6 7\n"
        "O to move\n");
  CHECK(legal(position) == std::vector<int>{0, 1, 2, 4, 5, 6});
  CHECK_FALSE(position.is_legal(3));
  CHECK_FALSE(position.is_legal(7));
}

TEST_CASE("a four in each direction ends the game") {
  const std::vector<std::vector<std::string_view>> games = {
      {"1", "1", "2", "2", "3", "3", "4"},                       // along the floor
      {"4", "5", "4", "5", "4", "5", "4"},                       // up
      {"1", "2", "2", "3", "4", "3", "3", "4", "5", "4", "4"},   // rising
      {"7", "6", "6", "5", "4", "5", "5", "4", "3", "4", "4"}};  // falling
  for (const auto& game : games) {
    ConnectFour position;
    for (std::size_t i = 0; i < game.size(); ++i) {
      CHECK_FALSE(position.outcome());
      play_named(position, {game[i]});
    }
    CHECK(position.outcome() == Outcome{1.0F});
    CHECK(legal(position).empty());
  }
}

TEST_CASE("a four does not wrap around the edge") {
  const auto over = [](const char* drawing) {
    return ConnectFour::from_setup({4, 5}, board(drawing)).outcome().has_value();
  };
  CHECK_FALSE(over("..... ..... XX.OO OOXXX"));
  CHECK_FALSE(over("....X ....O X...X OXX.O"));
  CHECK(over("..... ..... ..... .OOOO"));
}

TEST_CASE("a full Connect Four board without a four is a draw") {
  ConnectFour position(ConnectFour::Params{2, 3});
  play_named(position, {"1", "1", "2", "2", "3", "3"});
  CHECK(position.outcome() == Outcome{0.0F});
}

TEST_CASE("a floating stone is rejected with its position") {
  const std::string message = setup_error<ConnectFour>({4, 4}, board(".... .X.. .... .O.."));
  CHECK(message.find("floating stone at row 1, column 1") != std::string::npos);
  CHECK(setup_error<ConnectFour>({4, 4}, board(".... .... .X.. .O..")).empty());
}

TEST_CASE("two winners of Connect Four are rejected, one ends the game") {
  CHECK(setup_error<ConnectFour>({4, 4}, board("X..O X..O X..O X..O")).find("winner") !=
        std::string::npos);
  const auto won = ConnectFour::from_setup({4, 4}, board("...O X..O X..O X..O"));
  CHECK(won.outcome() == Outcome{-1.0F});
}

TEST_CASE("a Connect Four board and its floor fit into a word") {
  CHECK(ConnectFour::parse({}) == ConnectFour::Params{6, 7});
  CHECK(ConnectFour::parse({{"rows", 7LL}, {"columns", 8LL}}) == ConnectFour::Params{7, 8});
  CHECK_THROWS_AS(ConnectFour::parse({{"rows", 8LL}, {"columns", 8LL}}), ConfigError);
  CHECK_THROWS_AS(ConnectFour::parse({{"rows", 0LL}}), ConfigError);
  CHECK_THROWS_AS(ConnectFour::parse({{"columns", 0LL}}), ConfigError);
  CHECK_THROWS_AS(ConnectFour::parse({{"x_in_row", 4LL}}), ConfigError);
  CHECK(ConnectFour::describe({7, 8}) == ParamMap{{"rows", 7LL}, {"columns", 8LL}});
}

TEST_CASE("Connect Four's columns are numbered from 1") {
  CHECK(ConnectFour::action_to_string({}, 0) == "1");
  CHECK(ConnectFour::string_to_action({}, "7") == 6);
  CHECK(ConnectFour::string_to_action({1, 32}, "32") == 31);
  for (const char* text : {"", "0", "8", "01", "-1", "a", "1 ", "99999999999"}) {
    CAPTURE(text);
    CHECK(ConnectFour::string_to_action({}, text) == kNoAction);
  }
}
