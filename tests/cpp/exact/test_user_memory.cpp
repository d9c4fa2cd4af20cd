/// The solver's numbers for the outcomes of a user's game.
#include <doctest/doctest.h>

#include <vector>

#include "exact/alphabeta/user_memory.h"

namespace pyengine::alphabeta {
namespace {

TEST_CASE("an outcome is returned unchanged, with its sign") {
  Outcomes outcomes;
  const std::vector<double> given = {0.0, 1.0, 1e9, 1e9 - 1, 5e-324, 1.0 / 3.0, 1.7e308};
  for (const double outcome : given) {
    const int number = outcomes.number(outcome);
    CHECK(outcomes.number(-outcome) == -number);
    CHECK(outcomes.outcome(number) == outcome);
    CHECK(outcomes.outcome(-number) == -outcome);
  }
}

}  // namespace
}  // namespace pyengine::alphabeta
