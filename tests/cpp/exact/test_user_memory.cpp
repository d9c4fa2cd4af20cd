/// The solver's memory of a user's game: numbers for its states and outcomes.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "exact/alphabeta/user_memory.h"
#include "twice_game.h"

namespace pyengine::alphabeta {
namespace {

using States = std::vector<std::shared_ptr<const ForeignState>>;

/// The states after one action, all different.
States states() {
  States found;
  for (Action action = 0; action < 12; ++action) {
    auto state = std::make_shared<search_test::TwiceState>(0);
    state->apply_action(action);
    found.push_back(std::move(state));
  }
  return found;
}

TEST_CASE("states with the same hash have different numbers, and equal states the same") {
  const States first = states();
  const States again = states();
  StateNumbers numbers(100);
  std::vector<std::uint64_t> given;
  for (const auto& state : first) given.push_back(numbers.number(state, 7, [] {}));
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(given[i] == i + 1);
    CHECK(numbers.number(again[i], 7, [] {}) == given[i]);
  }
}

TEST_CASE("a forgotten state gets a new number, and a recently used one is kept") {
  const States all = states();
  StateNumbers numbers(3);
  const auto number = [&](std::size_t i) { return numbers.number(all[i], i % 2, [] {}); };
  const std::uint64_t first = number(0);
  std::uint64_t last = first;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::uint64_t next = number(i);
    CHECK(next > last);
    last = next;
    CHECK(numbers.size() <= 3);
    CHECK(number(0) == first);  // used in every round
  }
  CHECK(number(1) > last);
  numbers.clear();
  CHECK(numbers.size() == 0);
  CHECK(number(0) > last);
}

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
