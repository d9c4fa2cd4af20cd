#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "games/common/symmetry.h"
#include "games/game.h"

using namespace pyengine;

namespace {

GameShape board(int rows, int columns, SymmetryGroup group, int extra_actions = 0) {
  GameShape shape;
  shape.rows = rows;
  shape.columns = columns;
  shape.num_actions = rows * columns + extra_actions;
  shape.symmetry = group;
  return shape;
}

/// The letters a, b, c ... of the points, row by row, after symmetry k.
std::string moved(const Symmetries& symmetries, int k) {
  const auto& point = symmetries.point[static_cast<std::size_t>(k)];
  std::string text(point.size(), '?');
  for (std::size_t p = 0; p < point.size(); ++p) text[point[p]] = static_cast<char>('a' + p);
  return text;
}

}  // namespace

TEST_CASE("a group has 1, 2, 4 or 8 symmetries and the first is the identity") {
  const auto count = [](SymmetryGroup group) {
    const Symmetries symmetries = make_symmetries(board(3, 3, group));
    CHECK(moved(symmetries, 0) == "abcdefghi");
    return symmetries.count();
  };
  CHECK(count(SymmetryGroup::none) == 1);
  CHECK(count(SymmetryGroup::mirror) == 2);
  CHECK(count(SymmetryGroup::rectangle) == 4);
  CHECK(count(SymmetryGroup::square) == 8);
}

TEST_CASE("bit 0 reverses columns, bit 1 rows, bit 2 transposes first") {
  const Symmetries s = make_symmetries(board(3, 3, SymmetryGroup::square));
  CHECK(moved(s, 1) ==
        "cba"
        "fed"
        "ihg");
  CHECK(moved(s, 2) ==
        "ghi"
        "def"
        "abc");
  CHECK(moved(s, 3) ==
        "ihg"
        "fed"
        "cba");
  CHECK(moved(s, 4) ==
        "adg"
        "beh"
        "cfi");
  CHECK(moved(s, 5) ==
        "gda"
        "heb"
        "ifc");
  CHECK(moved(s, 6) ==
        "cfi"
        "beh"
        "adg");
  CHECK(moved(s, 7) ==
        "ifc"
        "heb"
        "gda");
}

TEST_CASE("the symmetries of a square are eight different permutations") {
  const Symmetries s = make_symmetries(board(4, 4, SymmetryGroup::square));
  std::set<std::string> seen;
  for (int k = 0; k < s.count(); ++k) seen.insert(moved(s, k));
  CHECK(seen.size() == 8);
}

TEST_CASE("a pass is unchanged") {
  const Symmetries s = make_symmetries(board(4, 4, SymmetryGroup::square, 1));
  for (const auto& action : s.action) CHECK(action[16] == 16);
}

TEST_CASE("column actions are mirrored with their columns") {
  GameShape shape = board(6, 7, SymmetryGroup::mirror);
  shape.num_actions = 7;
  const Symmetries s = make_symmetries(shape);
  CHECK(s.action[1] == std::vector<std::uint16_t>{6, 5, 4, 3, 2, 1, 0});
  CHECK(s.point[1][7] == 13);
}

TEST_CASE("a game without symmetries keeps actions that are not points") {
  GameShape shape = board(2, 2, SymmetryGroup::none);
  shape.num_actions = 10;
  const Symmetries s = make_symmetries(shape);
  for (std::size_t a = 0; a < 10; ++a) CHECK(s.action[0][a] == a);
}

TEST_CASE("the symmetries of a square need a square board") {
  CHECK_THROWS_AS(make_symmetries(board(3, 4, SymmetryGroup::square)), ConfigError);
}

TEST_CASE("symmetries given by functions follow the identity") {
  const GameShape shape{.rows = 1, .columns = 4, .num_actions = 5, .max_game_length = 1};
  const auto turn = [](int i) { return i < 4 ? (i + 2) % 4 : i; };
  const Symmetries turns = make_symmetries(shape, {{turn, turn}});
  CHECK(turns.point == std::vector<std::vector<std::uint16_t>>{{0, 1, 2, 3}, {2, 3, 0, 1}});
  CHECK(turns.action == std::vector<std::vector<std::uint16_t>>{{0, 1, 2, 3, 4}, {2, 3, 0, 1, 4}});
}
