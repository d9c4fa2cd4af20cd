/// Graphs: the table of positions, sharing, back-up at transpositions, re-rooting.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/janitor.h"
#include "base/rng.h"
#include "eval/simple.h"
#include "search/tree/positions.h"
#include "search_fixtures.h"
#include "tree_check.h"

namespace pyengine {
namespace {

using namespace search_test;

SearchConfig graph_config(std::uint64_t simulations) {
  SearchConfig config;
  config.graph = true;
  config.threads = 1;
  config.simulations = simulations;
  config.cache_entries = 0;
  return config;
}

PositionKey key_of(std::uint64_t number) { return {number / 3, number % 3}; }

/// The path root, edge, position with the given visits and sums.
struct ShortPath {
  Node root;
  Node edge;
  Node position;
  Path path{&root, &edge, &position};

  ShortPath(std::uint32_t edge_visits, double edge_sum, std::uint32_t visits, double sum) {
    edge.visits = edge_visits;
    edge.value_sum = to_fixed(static_cast<float>(edge_sum));
    position.visits = visits;
    position.value_sum = to_fixed(static_cast<float>(sum));
    root.chooser = 1;
  }
};

TEST_SUITE("graph") {
  TEST_CASE("the table finds each of many positions until its last reference is released") {
    const auto pool = std::make_shared<ChunkPool>(std::uint64_t{64} << 20);
    Allocator allocator(std::make_shared<Arena>(pool));
    PositionTable table;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::pair<BlockIndex, int>> known;
    Rng rng(1, 1);
    for (int step = 0; step < 200'000; ++step) {
      const std::uint64_t number = rng.below(30'000);
      const std::uint32_t ply = rng.below(2);
      auto& [block, references] = known[{number, ply}];
      if (rng.below(3) != 0) {
        const auto link = table.acquire(allocator, key_of(number), ply, 0);
        REQUIRE(link.position != 0);
        REQUIRE(link.is_new == (references == 0));
        REQUIRE((link.is_new || link.position == block));
        block = link.position;
        ++references;
      } else if (references > 0) {
        const bool last = table.release(*allocator.arena(), block);
        REQUIRE(last == (--references == 0));
        if (last) allocator.give(block, kPositionUnits);
      }
    }
  }

  TEST_CASE("at the memory limit the table refuses new positions and finds the others") {
    const auto pool = std::make_shared<ChunkPool>(kChunkBytes);
    Allocator allocator(std::make_shared<Arena>(pool));
    PositionTable table;
    std::uint64_t fitting = 0;
    while (table.acquire(allocator, key_of(fitting), 0, 0).position != 0) ++fitting;
    CHECK(fitting > kChunkBytes / 128);
    for (std::uint64_t i = 0; i < fitting; ++i) {
      const auto link = table.acquire(allocator, key_of(i), 0, 0);
      REQUIRE((link.position != 0 && !link.is_new));
    }
  }

  TEST_CASE("a visit of an edge that knows less gives it the mean of its position") {
    ShortPath short_path(2, 1.0, 8, -2.0);
    back_up_mean<Sharing::exclusive>(short_path.path, 0);
    CHECK(short_path.edge.visits == 3);
    CHECK(short_path.edge.value_sum == to_fixed(-0.75F));
    CHECK(short_path.root.value_sum == to_fixed(1.75F));  // the change, for the other player
    CHECK(short_path.root.visits == 1);
    CHECK(short_path.position.visits == 8);
  }

  TEST_CASE("a position whose value is for the other player is turned round") {
    ShortPath short_path(0, 0.0, 4, 2.0);
    short_path.position.chooser = 1;
    back_up_mean<Sharing::shared>(short_path.path, 0);
    CHECK(short_path.edge.value_sum == to_fixed(-0.5F));
  }

  TEST_CASE("a graph has far fewer nodes than a tree, and each is counted once") {
    Patient host;
    const auto game = load_game("connect_four");
    SearchConfig config = graph_config(10'000);
    Searcher graph(game, std::make_shared<UniformEvaluator>(), config);
    const SearchResult shared = graph.search(State(game), config, host);
    const TreeCount count = check_tree(*graph.tree());
    CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
    CHECK(count.nodes == shared.nodes);
    CHECK(total(shared.visits) == 10'000);
    config.graph = false;
    CHECK(2 * shared.nodes < graph.search(State(game), config, host).nodes);
  }

  TEST_CASE("after a move the graph has the nodes that the move leads to") {
    Patient host;
    const auto game = load_game("connect_four");
    const SearchConfig config = graph_config(2'000);
    Searcher searcher(game, std::make_shared<MockEvaluator>(Mock{.immediate = true}), config);
    State state(game);
    for (int ply = 0; ply < 8; ++ply) {
      const SearchResult result = searcher.search(state, config, host);
      REQUIRE(total(result.visits) == result.reused + result.simulations);
      state.apply_action(result.action);
      searcher.advance(result.action);
      wait_for_background();
      const TreeCount count = check_tree(*searcher.tree());
      REQUIRE_MESSAGE(count.wrong == 0, count.first_wrong);
      REQUIRE(count.nodes == searcher.tree()->nodes());
    }
  }

  TEST_CASE("a graph at its memory limit goes on") {
    Patient host;
    const auto game = load_game("connect_four");
    SearchConfig config = graph_config(300'000);
    config.memory_limit = kLeastMemory;
    config.solver = false;
    Searcher searcher(game, std::make_shared<UniformEvaluator>(), config);
    const SearchResult result = searcher.search(State(game), config, host);
    CHECK(total(result.visits) == 300'000);
    const TreeCount count = check_tree(*searcher.tree(), false);
    CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
    CHECK(searcher.stats().refusals != 0);
  }

  TEST_CASE("a proof of a position holds for all moves that lead to it") {
    Patient host;
    const auto game = load_game("connect_four", {{"rows", 4LL}, {"columns", 4LL}});
    const SearchConfig config = graph_config(300'000);
    Searcher searcher(game, std::make_shared<UniformEvaluator>(), config);
    const SearchResult result = searcher.search(random_state(game, 5, 1), config, host);
    CHECK(result.stop_reason == StopReason::proven);
    const TreeCount count = check_tree(*searcher.tree());
    CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
  }

  TEST_CASE("only PUCT searches a graph") {
    SearchConfig config = graph_config(10);
    config.algorithm = Algorithm::uct;
    CHECK_THROWS_WITH_AS(validate(config), doctest::Contains("graph"), ConfigError);
  }
}

}  // namespace
}  // namespace pyengine
