#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>

#include "base/error.h"
#include "messages.h"
#include "plugin/check_traits.h"

using namespace pyengine;

namespace {

/// What a game says about itself.
struct Claims {
  GameShape shape{.rows = 3, .columns = 3, .num_actions = 9, .max_game_length = 9};
  std::array<int, 3> planes{};
  Symmetries symmetries = make_symmetries(shape);
};

void check(const Claims& claims) {
  check_shape("game", claims.shape, claims.planes);
  check_symmetries("game", claims.shape, claims.symmetries);
}

}  // namespace

TEST_CASE("claims that the engine cannot handle are refused with the game's name") {
  struct Case {
    const char* expected;
    std::function<void(Claims&)> spoil;
  };
  const Case cases[] = {
      {"shape: expected a board", [](Claims& c) { c.shape.rows = 0; }},
      {"shape: expected a board", [](Claims& c) { c.shape.columns = -1; }},
      {"shape: expected a board", [](Claims& c) { c.shape.columns = 27; }},
      {"shape: expected a board", [](Claims& c) { c.shape.rows = 134; }},
      {"shape.num_actions: expected 1..65535", [](Claims& c) { c.shape.num_actions = 65536; }},
      {"shape.max_game_length", [](Claims& c) { c.shape.max_game_length = 0; }},
      {"shape.pass: expected an action", [](Claims& c) { c.shape.pass = 9; }},
      {"shape.symmetry",
       [](Claims& c) { c.shape.rows = 2, c.shape.symmetry = SymmetryGroup::square; }},
      {"observation_shape", [](Claims& c) { c.planes = {1, 0, 3}; }},
      {"observation_shape", [](Claims& c) { c.planes = {1, 100000, 3}; }},
      {"symmetries: expected 1..256", [](Claims& c) { c.symmetries = {}; }},
      {"expected permutations", [](Claims& c) { c.symmetries.point[0][0] = 1; }},
      {"expected permutations", [](Claims& c) { c.symmetries.point[0][0] = 65535; }},
      {"expected permutations", [](Claims& c) { c.symmetries.action[0].pop_back(); }},
      {"expected the identity first",
       [](Claims& c) { std::swap(c.symmetries.point[0][0], c.symmetries.point[0][1]); }},
  };
  CHECK_NOTHROW(check({}));
  for (const Case& each : cases) {
    Claims claims;
    each.spoil(claims);
    const std::string message = message_of<ConfigError>([&] { check(claims); });
    CAPTURE(message);
    CHECK(message.starts_with("game: "));
    CHECK(mentions(message, each.expected));
  }
}
