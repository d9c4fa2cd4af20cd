#include "games/any/setup_check.h"

#include <string>

#include "base/error.h"

namespace pyengine {
namespace {

[[noreturn]] void refuse(std::string_view game, const std::string& expected,
                         const std::string& actual) {
  throw ConfigError("game \"" + std::string(game) + "\": expected a board with " + expected +
                    ", got " + actual);
}

std::string at(const GameShape& shape, int point) {
  return "row " + std::to_string(point / shape.columns) + ", column " +
      std::to_string(point % shape.columns);
}

}  // namespace

void check_setup(std::string_view game, const GameShape& shape, const BoardSetup& setup) {
  const int points = shape.rows * shape.columns;
  (setup.first | setup.second).for_each([&](int point) {
    if (point >= points) {
      refuse(game, "stones on its " + std::to_string(points) + " points",
             "a stone on point " + std::to_string(point));
    }
  });
  (setup.first & setup.second).for_each([&](int point) {
    refuse(game, "at most one stone on a point", "two at " + at(shape, point));
  });
  if (setup.to_move != 0 && setup.to_move != 1) {
    refuse(game, "player 0 or 1 to move", "player " + std::to_string(setup.to_move));
  }
}

void check_no_ko(std::string_view game, const BoardSetup& setup) {
  if (setup.ko != kNoAction) {
    refuse(game, "no ko point, since the game has no ko rule",
           "ko at point " + std::to_string(setup.ko));
  }
}

void check_one_winner(std::string_view game, bool first_won, bool second_won) {
  if (first_won && second_won) refuse(game, "at most one winner", "two: X and O");
}

}  // namespace pyengine
