#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "games/any/state_numbers.h"
#include "search/run/position_keys.h"
#include "twice_game.h"

namespace pyengine {
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
  const auto number = [&numbers](const auto& state) {
    return numbers.number(*state, 7, [&state] { return state; }, [] {});
  };
  for (const auto& state : first) given.push_back(number(state));
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(given[i] == i + 1);
    CHECK(number(again[i]) == given[i]);
  }
}

TEST_CASE("a forgotten state gets a new number, and a recently used one is kept") {
  const States all = states();
  StateNumbers numbers(3);
  const auto number = [&](std::size_t i) {
    return numbers.number(*all[i], i % 2, [&] { return all[i]; }, [] {});
  };
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

TEST_CASE("the keys of a user's positions do not depend on the order of the moves") {
  const auto game = search_test::twice_game();
  const auto rules = std::dynamic_pointer_cast<const ForeignGame>(game)->rules();
  const auto after = [&](std::initializer_list<Action> actions) {
    ForeignPosition position(ForeignPosition::Params{rules});
    for (const Action action : actions) position.play(action);
    return position;
  };
  PositionKeys<ForeignPosition> keys;
  const auto key = keys.of(after({0, 1, 2}));
  CHECK(key.has_value());
  CHECK(keys.of(after({0, 2, 1})) == key);
  CHECK(keys.of(after({1, 0, 2})) != key);
  CHECK(PositionKeys<ForeignPosition>().of(after({0, 1, 2})) != key);
  keys.forget();
  CHECK(keys.of(after({0, 1, 2})) != key);
}

}  // namespace
}  // namespace pyengine
