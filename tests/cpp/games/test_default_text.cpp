#include <doctest/doctest.h>

#include "games/common/default_text.h"

using namespace pyengine;

TEST_CASE("default names of actions are read back") {
  const GameShape shape{.rows = 2, .columns = 3, .num_actions = 9, .max_game_length = 9, .pass = 6};
  for (Action action = 0; action < shape.num_actions; ++action) {
    CHECK(default_action_named(shape, default_action_name(shape, action)) == action);
  }
  CHECK(default_action_name(shape, 4) == "b2");
  CHECK(default_action_name(shape, 6) == "pass");
  CHECK(default_action_name(shape, 8) == "#8");
  for (const char* text : {"", "d1", "a3", "#9", "#5", "#06", "passes"}) {
    CHECK(default_action_named(shape, text) == kNoAction);
  }
}

TEST_CASE("the default text shows the stones and the player to move") {
  const GameShape shape{.rows = 1, .columns = 2, .num_actions = 2, .max_game_length = 2};
  BoardBits first;
  first.set(1);
  CHECK(default_text(shape, first, {}, std::nullopt, 1) == "  a b\n1 . X\nO to move\n");
  CHECK(default_text(shape, first, {}, Outcome{-1.0F}, 1) == "  a b\n1 . X\nO has won\n");
  CHECK(default_text(shape, first, {}, Outcome{0.0F}, 1) == "  a b\n1 . X\ndraw\n");
}
