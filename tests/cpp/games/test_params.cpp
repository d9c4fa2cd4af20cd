#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "base/error.h"
#include "games/common/params.h"
#include "messages.h"

using namespace pyengine;

TEST_CASE("a name alone has no parameters") {
  const NamedParams named = parse_named_params("go");
  CHECK(named.name == "go");
  CHECK(named.params.empty());
  CHECK(parse_named_params(" go() ").params.empty());
}

TEST_CASE("values of the text form have the type they look like") {
  const NamedParams named =
      parse_named_params("go(board_size=9, komi=7.5,suicide=True,superko=simple,x=\"a,b\",y=-3)");
  CHECK(named.name == "go");
  REQUIRE(named.params.size() == 6);
  CHECK(named.params[0].first == "board_size");
  CHECK(std::get<long long>(named.params[0].second) == 9);
  CHECK(std::get<double>(named.params[1].second) == 7.5);
  CHECK(std::get<bool>(named.params[2].second));
  CHECK(std::get<std::string>(named.params[3].second) == "simple");
  CHECK(std::get<std::string>(named.params[4].second) == "a,b");
  CHECK(std::get<long long>(named.params[5].second) == -3);
}

TEST_CASE("the text form reads back as it was written") {
  const ParamMap params = {{"a", 7LL},
                           {"b", 7.0},
                           {"c", 0.1},
                           {"d", true},
                           {"e", "simple"},
                           {"f", std::string("two words, true")},
                           {"g", 1e300},
                           {"h", std::string("true")},
                           {"i", std::string("12")}};
  const std::string text = to_string(NamedParams{"game", params});
  const NamedParams named = parse_named_params(text);
  CHECK(named.name == "game");
  CHECK(named.params == params);
  CHECK(to_string(named) == text);
  CHECK(to_string(NamedParams{"go", {{"komi", 7.5}, {"suicide", false}}}) ==
        "go(komi=7.5,suicide=false)");
}

TEST_CASE("text that is not a game with parameters is rejected and quoted") {
  for (const std::string text :
       {"", "go(", "go)", "go(9)", "go(a=)", "go(=9)", "go(a=1,)", "go(a=1)b", "go(a=1 2)", "9x9",
        "go(,a=1)", "go(a=1,,b=2)", "go(a==1)", "go((a=1))"}) {
    CAPTURE(text);
    CHECK(mentions(message_of<ConfigError>([&] { parse_named_params(text); }), '"' + text + '"'));
  }
}

TEST_CASE("an absent parameter takes its default value") {
  ParamReader reader("go", {});
  CHECK(reader.integer("board_size", 19, 2, 19) == 19);
  CHECK(reader.number("komi", 7.5, -1000.0, 1000.0) == 7.5);
  CHECK_FALSE(reader.boolean("suicide", false));
  CHECK(reader.choice("superko", "positional", {"positional", "simple"}) == "positional");
  CHECK_FALSE(reader.has("komi"));
  reader.finish();
}

TEST_CASE("an integer is accepted as a number, but not the reverse") {
  ParamReader reader("go", {{"komi", 7LL}, {"board_size", 9.0}});
  CHECK(reader.number("komi", 7.5, -10.0, 10.0) == 7.0);
  CHECK(reader.has("komi"));
  CHECK_THROWS_AS(reader.integer("board_size", 19, 2, 19), ConfigError);
}

TEST_CASE(
    "an out-of-range value is rejected with the game, the parameter, the range and the value") {
  const std::string message = message_of<ConfigError>(
      [] { ParamReader("go", {{"board_size", 25LL}}).integer("board_size", 19, 2, 19); });
  for (const char* part : {"\"go\"", "\"board_size\"", "2..19", "25"}) {
    CAPTURE(part);
    CHECK(mentions(message, part));
  }
}

TEST_CASE("a value of the wrong type is rejected") {
  using Reader = ParamReader;
  CHECK_THROWS_AS(Reader("g", {{"n", true}}).integer("n", 1, 0, 2), ConfigError);
  CHECK_THROWS_AS(Reader("g", {{"n", "1"}}).integer("n", 1, 0, 2), ConfigError);
  CHECK_THROWS_AS(Reader("g", {{"b", 1LL}}).boolean("b", false), ConfigError);
  CHECK_THROWS_AS(Reader("g", {{"c", 1LL}}).choice("c", "x", {"x"}), ConfigError);
  CHECK_THROWS_AS(Reader("g", {{"x", true}}).number("x", 0.0, 0.0, 1.0), ConfigError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(Reader("g", {{"x", nan}}).number("x", 0.0, 0.0, 1.0), ConfigError);
}

TEST_CASE("an unknown word is rejected with the choices") {
  const std::string message = message_of<ConfigError>([] {
    ParamReader("gomoku", {{"rule", "caro"}}).choice("rule", "freestyle", {"freestyle", "renju"});
  });
  for (const char* part : {"\"rule\"", "\"freestyle\"", "\"renju\"", "caro"}) {
    CAPTURE(part);
    CHECK(mentions(message, part));
  }
}

TEST_CASE("an unknown parameter is rejected with the known ones") {
  ParamReader reader("gomoku", {{"bord_size", 9LL}});
  reader.integer("board_size", 15, 3, 19);
  const std::string message = message_of<ConfigError>([&] { reader.finish(); });
  for (const char* part : {"\"gomoku\"", "\"bord_size\"", "\"board_size\""}) {
    CAPTURE(part);
    CHECK(mentions(message, part));
  }
}

TEST_CASE("a parameter given twice is rejected") {
  CHECK_THROWS_AS(ParamReader("go", {{"komi", 7LL}, {"komi", 6LL}}), ConfigError);
}
