/// The sums of squares of a tree's values, for c_puct_stdev.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>

#include "search_fixtures.h"

namespace pyengine {
namespace {

using namespace search_test;

SearchConfig config_of(int threads, int in_flight, double c_puct_stdev) {
  SearchConfig config;
  config.threads = threads;
  config.in_flight = in_flight;
  config.batch_size = 16;
  config.simulations = 4000;
  config.memory_limit = 64U << 20;
  config.solver = false;
  config.c_puct_stdev = c_puct_stdev;
  return config;
}

/// What the visits that reached a node left there: checks that each expanded node has the sum of
/// its own evaluation and of its children.
std::int64_t squares_below(Tree& tree, const Node& node) {
  const std::int64_t own = to_fixed(node.value * node.value);
  if (node.state == NodeState::terminal) return own * node.visits;
  if (node.state != NodeState::expanded) return 0;
  std::int64_t sum = own;
  for_each_child(tree.arena(), node, node.num_children,
                 [&](const Node& child) { sum += squares_below(tree, child); });
  REQUIRE(tree.squares(node) != nullptr);
  CHECK(*tree.squares(node) == sum);
  return sum;
}

TEST_CASE("each node has the squares of all values backed up through it") {
  const auto game = load_game("connect_four");
  for (const int threads : {1, 3}) {
    for (const int in_flight : {1, 256}) {
      const SearchConfig config = config_of(threads, in_flight, 0.8);
      Searcher searcher(game, std::make_shared<MockEvaluator>(), config);
      Patient host;
      State state(game);
      searcher.search(state, config, host);
      squares_below(const_cast<Tree&>(*searcher.tree()), searcher.tree()->root());
      state.apply_action(3);
      searcher.advance(3);
      CHECK(searcher.search(state, config, host).reused > 0);
      squares_below(const_cast<Tree&>(*searcher.tree()), searcher.tree()->root());
    }
  }
}

TEST_CASE("a tree that was grown without squares is not continued by a search that reads them") {
  const auto game = load_game("connect_four");
  const SearchConfig without = config_of(1, 1, 0.0);
  const SearchConfig with = config_of(1, 1, 0.8);
  Searcher searcher(game, std::make_shared<MockEvaluator>(), without);
  Patient host;
  const State state(game);
  searcher.search(state, without, host);
  CHECK(searcher.search(state, with, host).reused == 0);
  CHECK(searcher.search(state, with, host).reused == 4000);
  CHECK(searcher.search(state, without, host).reused == 8000);
  CHECK(searcher.search(state, with, host).reused == 0);
}

}  // namespace
}  // namespace pyengine
