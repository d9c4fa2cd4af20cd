#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/rng.h"
#include "games/renju.h"

using namespace pyengine;

namespace {

/// A board from a drawing: X Black, O White, and queried points as other characters.
struct Drawing {
  int size = 0;
  std::string cells;

  explicit Drawing(std::string_view text) {
    for (const char c : text) {
      if (c == '\n' || c == ' ') {
        if (size == 0) size = static_cast<int>(cells.size());
      } else {
        cells += c;
      }
    }
    cells.resize(static_cast<std::size_t>(size * size), '.');
  }
  [[nodiscard]] BoardBits of(char wanted) const {
    BoardBits bits;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] == wanted) bits.set(static_cast<int>(i));
    }
    return bits;
  }
  [[nodiscard]] RenjuBoard board() const { return {size, of('X'), of('O')}; }
};

/// The status of Black's move on the point drawn as ?.
RenjuMove classify(std::string_view text) {
  const Drawing drawing(text);
  REQUIRE(drawing.size > 0);
  REQUIRE(drawing.of('?').count() == 1);
  RenjuBoard board = drawing.board();
  RenjuMove move = RenjuMove::plain;
  drawing.of('?').for_each([&](int point) { move = board.classify(point); });
  return move;
}

}  // namespace

TEST_CASE("two open threes are a double three") {
  CHECK(classify("......... ......... ....X.... ....X.... ..XX?.... ......... .........") ==
        RenjuMove::double_three);
}

TEST_CASE("threes with a gap are threes") {
  CHECK(classify("......... ....X.... ....X.... ......... .X.X?.... ......... .........") ==
        RenjuMove::double_three);
}

TEST_CASE("a closed three is not a three") {
  CHECK(classify("......... ....O.... ....X.... ....X.... ..XX?.... ......... .........") ==
        RenjuMove::plain);
}

TEST_CASE("a three that the edge keeps from becoming a straight four is not a three") {
  CHECK(classify("....X.... ....X.... ..XX?.... ......... ......... .........") ==
        RenjuMove::plain);
}

TEST_CASE("a four and a three together are not a foul") {
  CHECK(classify("......... ....X.... ....X.... ....X.... ..XX?.... ......... .........") ==
        RenjuMove::plain);
}

TEST_CASE("two fours are a double four, even if both are closed") {
  CHECK(classify("..O...... ..X...... ..X...... ..X...... ..?XXXO.. ......... .........") ==
        RenjuMove::double_four);
}

TEST_CASE("two fours on one line are a double four") {
  CHECK(classify(".X.X?X.X. ......... ......... ......... ......... .........") ==
        RenjuMove::double_four);
  CHECK(classify("XX.X?.XX. ......... ......... ......... ......... .........") ==
        RenjuMove::double_four);
  CHECK(classify("XXX.?.XXX ......... ......... ......... ......... .........") ==
        RenjuMove::double_four);
}

TEST_CASE("a straight four is one four") {
  CHECK(classify("..XX?X... ......... ......... ......... ......... .........") ==
        RenjuMove::plain);
}

TEST_CASE("a four that could only become six is not a four") {
  // D-G and the lone X beyond the gap: filling the gap makes six.
  CHECK(classify("X.XX?XO.. ......... ......... ......... ......... .........") ==
        RenjuMove::plain);
}

TEST_CASE("six or more in a row are an overline") {
  CHECK(classify("XXX?XX... ......... ......... ......... ......... .........") ==
        RenjuMove::overline);
  CHECK(classify("XXXX?XXXX ......... ......... ......... ......... .........") ==
        RenjuMove::overline);
}

TEST_CASE("exactly five come before every foul") {
  CHECK(classify("..XX?XX.. ......... ......... ......... ......... .........") == RenjuMove::five);
  // Five horizontally, six vertically.
  CHECK(classify("....X.... ....X.... ....X.... ..XX?XX.. ....X.... ....X.... .........") ==
        RenjuMove::five);
  // Two fours, vertically and diagonally, with a four or a five horizontally.
  CHECK(classify(".X..X.... ..X.X.... ...XX.... .XXX?.... ......... .........") ==
        RenjuMove::double_four);
  CHECK(classify(".X..X.... ..X.X.... ...XX.... XXXX?.... ......... .........") == RenjuMove::five);
}

TEST_CASE("a three whose straight four would be an overline is not a three") {
  // Horizontally, a stone on either side makes four, but stones beyond make six of the five.
  CHECK(classify("......... ....X.... ....X.... X..X?X..X ......... .........") ==
        RenjuMove::plain);
}

TEST_CASE("a three whose straight four would be a double four is not a three") {
  // Vertically, the straight four is made on row 3 or 7, where Black may also have a horizontal
  // four.
  CHECK(
      classify(
          "........... ........... ...X..XX... .....X..... ...XX?..... .....X..... ...........") ==
      RenjuMove::double_three);
  CHECK(
      classify(
          "........... ........... ...X..XX... .....X..... ...XX?..... .....X..... ...X..XX...") ==
      RenjuMove::plain);
}

TEST_CASE("a three whose straight four would be a double three is not a three") {
  // The falling three needs the point to the left of ?'s upper neighbour, where Black makes a
  // horizontal three and one rising to the X in the upper right.
  CHECK(classify("......... ......... ......... .......X. .XX...... ...X.X... .....XX.. .....?... "
                 ".........") == RenjuMove::plain);
  // White spoils the rising three: that point is then allowed, and the two threes count as two.
  CHECK(classify("......... ......... ........O .......X. .XX...... ...X.X... .....XX.. .....?... "
                 ".........") == RenjuMove::double_three);
}

TEST_CASE("a board without stones has no forbidden points") {
  RenjuBoard board(20, {}, {});
  CHECK_FALSE(board.forbidden_points().any());
  CHECK(board.black_can_move());
}

TEST_CASE("forbidden_points() are exactly the points that classify() forbids") {
  Rng rng(11);
  int seen = 0;
  for (int i = 0; i < 400; ++i) {
    const int size = 5 + static_cast<int>(rng.below(16));
    const std::uint32_t share = 2 + rng.below(5);
    BoardBits black;
    BoardBits white;
    for (int point = 0; point < size * size; ++point) {
      const std::uint32_t kind = rng.below(12);
      if (kind < share) black.set(point);
      if (kind == 11) white.set(point);
    }
    RenjuBoard board(size, black, white);
    BoardBits expected;
    for (int point = 0; point < size * size; ++point) {
      if (black.test(point) || white.test(point)) continue;
      if (is_forbidden(board.classify(point))) expected.set(point);
    }
    CHECK(board.forbidden_points() == expected);
    seen += expected.count();
  }
  CHECK(seen > 1000);
}
