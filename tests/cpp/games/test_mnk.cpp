#include <doctest/doctest.h>

#include <unordered_map>

#include "ascii_boards.h"
#include "games/mnk.h"

using namespace pyengine;
using namespace pyengine::test;

namespace {

/// Value for the player to move, by exhaustive search.
int value(const Mnk& position, std::unordered_map<std::uint64_t, int>& known) {
  if (const auto outcome = position.outcome()) {
    return static_cast<int>(outcome->for_player(position.to_move()));
  }
  if (const auto found = known.find(position.hash()); found != known.end()) return found->second;
  int best = -1;
  for (const int action : legal(position)) {
    Mnk next = position;
    next.play(action);
    best = std::max(best, -value(next, known));
    if (best == 1) break;
  }
  known[position.hash()] = best;
  return best;
}

int value_of(int rows, int columns, int k) {
  std::unordered_map<std::uint64_t, int> known;
  return value(Mnk(Mnk::Params{rows, columns, k}), known);
}

}  // namespace

TEST_CASE("m,n,k games keep the promises of a game on boards of every shape") {
  for (const Mnk::Params params :
       {Mnk::Params{3, 3, 3}, {1, 1, 1}, {1, 7, 2}, {7, 1, 3}, {4, 5, 3}, {6, 3, 7}, {9, 8, 4}}) {
    check_promises<Mnk>(params, 5);
  }
  check_promises<Mnk>({20, 20, 5}, 1);
}

TEST_CASE("3,3,3 is a draw, and one more column wins for the first player") {
  CHECK(value_of(3, 3, 3) == 0);
  CHECK(value_of(3, 4, 3) == 1);
  CHECK(value_of(4, 3, 3) == 1);
  CHECK(value_of(2, 5, 3) == 0);
  CHECK(value_of(2, 3, 2) == 1);
  CHECK(value_of(1, 2, 2) == 0);
  CHECK(value_of(1, 1, 1) == 1);
}

TEST_CASE("rows count in four directions and never wrap around the edge") {
  const Mnk::Params params{4, 5, 3};
  const auto winner = [&](const char* drawing) {
    const auto outcome = Mnk::from_setup(params, board(drawing)).outcome();
    return outcome ? outcome->first : 9.0F;
  };
  CHECK(winner("..... .XXX. ..... .....") == 1.0F);
  CHECK(winner("....O ....O ....O .....") == -1.0F);
  CHECK(winner("..... X.... .X... ..X..") == 1.0F);
  CHECK(winner("....O ...O. ..O.. .....") == -1.0F);
  CHECK(winner("...XX X.... ..... .....") == 9.0F);
  CHECK(winner("....X X.... .X... .....") == 9.0F);
  CHECK(winner("....O ...O. O.... .....") == 9.0F);
  CHECK(winner("X.... ....X ...X. .....") == 9.0F);
}

TEST_CASE("more than k in a row also wins") {
  Mnk position = Mnk::from_setup({1, 7, 3}, board("XX.XX.."));
  play_named(position, {"c1"});
  CHECK(position.outcome() == Outcome{1.0F});
}

TEST_CASE("an m,n,k position reached in two orders is the same position") {
  Mnk one(Mnk::Params{4, 4, 3});
  Mnk other = one;
  play_named(one, {"a1", "b1", "c3", "d4"});
  play_named(other, {"c3", "d4", "a1", "b1"});
  CHECK(one == other);
  CHECK(one.hash() == other.hash());
  CHECK(one.last_move(0) != other.last_move(0));
}

TEST_CASE("m,n,k boards have rows and columns from 1 to 20") {
  const auto params = Mnk::parse({{"rows", 2LL}, {"columns", 20LL}, {"k", 4LL}});
  CHECK(params == Mnk::Params{2, 20, 4});
  CHECK(Mnk::describe(params) == ParamMap{{"rows", 2LL}, {"columns", 20LL}, {"k", 4LL}});
  CHECK(Mnk::shape(params).symmetry == SymmetryGroup::rectangle);
  CHECK(Mnk::shape({5, 5, 4}).symmetry == SymmetryGroup::square);
  for (const char* name : {"rows", "columns", "k"}) {
    CHECK_THROWS_AS(Mnk::parse({{name, 0LL}}), ConfigError);
    CHECK_THROWS_AS(Mnk::parse({{name, 21LL}}), ConfigError);
  }
  CHECK_THROWS_AS(Mnk::parse({{"m", 3LL}}), ConfigError);
}

TEST_CASE("two winners of an m,n,k game are rejected") {
  CHECK(setup_error<Mnk>({3, 4, 3}, board("XXX. OOO. ....")).find("winner") != std::string::npos);
}
