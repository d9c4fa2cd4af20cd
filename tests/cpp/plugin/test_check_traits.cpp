#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>

#include "base/error.h"
#include "messages.h"
#include "plugin/check_traits.h"

using namespace pyengine;

namespace {

GameTraits square_of(int size) {
  GameTraits traits;
  traits.shape = {.rows = size, .columns = size, .num_actions = size * size, .max_game_length = 9};
  traits.symmetries = make_symmetries(traits.shape);
  return traits;
}

}  // namespace

TEST_CASE("traits that the engine cannot handle are refused") {
  struct Case {
    const char* expected;
    std::function<void(GameTraits&)> spoil;
  };
  const Case cases[] = {
      {"shape: expected a board", [](GameTraits& t) { t.shape.rows = 0; }},
      {"shape: expected a board", [](GameTraits& t) { t.shape.columns = 27; }},
      {"shape: expected a board", [](GameTraits& t) { t.shape.rows = 134; }},
      {"shape.num_actions: expected 1..65535", [](GameTraits& t) { t.shape.num_actions = 65536; }},
      {"shape.max_game_length", [](GameTraits& t) { t.shape.max_game_length = 0; }},
      {"shape.pass: expected an action", [](GameTraits& t) { t.shape.pass = 9; }},
      {"observation_shape", [](GameTraits& t) { t.observation_shape = {1, -1, 3}; }},
      {"symmetries: expected the result", [](GameTraits& t) { t.symmetries = {}; }},
      {"point is not a permutation", [](GameTraits& t) { t.symmetries.point[0][0] = 1; }},
      {"action is not a permutation", [](GameTraits& t) { t.symmetries.action[0].pop_back(); }},
      {"expected the identity first",
       [](GameTraits& t) { std::swap(t.symmetries.point[0][0], t.symmetries.point[0][1]); }},
  };
  CHECK_NOTHROW(check_traits("game", square_of(3)));
  for (const Case& each : cases) {
    GameTraits traits = square_of(3);
    each.spoil(traits);
    const std::string message = message_of<ConfigError>([&] { check_traits("game", traits); });
    CAPTURE(message);
    CHECK(message.find(each.expected) != std::string::npos);
  }
}
