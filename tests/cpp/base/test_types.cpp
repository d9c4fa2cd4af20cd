#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "base/types.h"

namespace pyengine {
namespace {

std::vector<int> points(const BoardBits& bits) {
  std::vector<int> points;
  bits.for_each([&](int point) { points.push_back(point); });
  return points;
}

BoardBits board(std::initializer_list<int> points) {
  BoardBits bits;
  for (const int point : points) bits.set(point);
  return bits;
}

TEST_CASE("an outcome is the negative for the other player") {
  CHECK(Outcome{1.0F}.for_player(0) == 1.0F);
  CHECK(Outcome{1.0F}.for_player(1) == -1.0F);
  CHECK(Outcome{0.0F}.for_player(1) == 0.0F);
}

TEST_CASE("every point of the largest board can be set, found and removed") {
  for (int point = 0; point < kMaxPoints; ++point) {
    BoardBits bits;
    CHECK_FALSE(bits.any());
    bits.set(point);
    REQUIRE(bits.test(point));
    REQUIRE(bits.count() == 1);
    REQUIRE(points(bits) == std::vector{point});
    bits.reset(point);
    REQUIRE(bits == BoardBits{});
  }
}

TEST_CASE("points are visited in ascending order across the words of a set") {
  CHECK(points(board({360, 0, 64, 63, 128, 127, 1})) == std::vector{0, 1, 63, 64, 127, 128, 360});
}

TEST_CASE("union, intersection and difference act point by point") {
  const BoardBits a = board({0, 63, 64, 200});
  const BoardBits b = board({63, 200, 360});
  CHECK((a | b) == board({0, 63, 64, 200, 360}));
  CHECK((a & b) == board({63, 200}));
  CHECK((a - b) == board({0, 64}));
  CHECK(a == board({0, 63, 64, 200}));
}

TEST_CASE("setting a point twice and removing an absent one change nothing") {
  BoardBits bits = board({5});
  bits.set(5);
  bits.reset(6);
  CHECK(bits == board({5}));
}

TEST_CASE("an action list keeps order and content while it grows") {
  ActionList moves;
  CHECK(moves.empty());
  for (Action a = 0; a < kMaxActions; a += 7) moves.push_back(a);
  REQUIRE(moves.size() == (kMaxActions + 6) / 7);
  for (int i = 0; i < moves.size(); ++i) REQUIRE(moves[i] == 7 * i);
}

TEST_CASE("clearing an action list keeps its memory") {
  ActionList moves;
  for (Action a = 0; a < 1000; ++a) moves.push_back(a);
  const ActionId* memory = moves.data();
  moves.clear();
  CHECK(moves.empty());
  CHECK(moves.begin() == moves.end());
  for (Action a = 0; a < 1000; ++a) moves.push_back(a);
  CHECK(moves.data() == memory);
}

TEST_CASE("extend() appends after the existing actions") {
  ActionList moves;
  moves.push_back(3);
  ActionId* room = moves.extend(200);
  for (int i = 0; i < 200; ++i) room[i] = static_cast<ActionId>(i);
  CHECK(moves.size() == 201);
  CHECK(moves[0] == 3);
  CHECK(moves[200] == 199);
  CHECK(moves.end() - moves.begin() == 201);
}

TEST_CASE("moving an action list transfers its actions") {
  ActionList from;
  from.push_back(9);
  const ActionList to = std::move(from);
  CHECK(to.size() == 1);
  CHECK(to[0] == 9);
}

}  // namespace
}  // namespace pyengine
