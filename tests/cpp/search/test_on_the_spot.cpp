/// Leaves that an evaluator answers where they are found, without a batch.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "eval/simple.h"
#include "games/any/registry.h"
#include "search/searcher.h"

using namespace pyengine;

namespace {

struct Patient final : Host {
  bool poll() override { return true; }
};

SearchConfig config_of(int threads, bool deterministic) {
  SearchConfig config;
  config.algorithm = Algorithm::uct;
  config.threads = threads;
  config.deterministic = deterministic;
  config.simulations = 500;
  config.solver = false;
  return config;
}

struct Searched {
  SearchResult result;
  SearchStats stats;
};

Searched search(const SearchConfig& config) {
  const auto game = load_game("othello");
  Searcher searcher(game, std::make_shared<RolloutEvaluator>(), config);
  Patient host;
  SearchResult result = searcher.search(State(game), config, host);
  return {std::move(result), searcher.stats()};
}

/// Visits of the root's moves.
auto visits(const SearchConfig& config) { return search(config).result.visits; }

}  // namespace

TEST_CASE("on the spot: a playout's answer is that of a batch") {
  const State state(load_game("othello"));
  const auto bound = RolloutEvaluator(3).bind(state.game(), {});
  REQUIRE(bound->traits().on_the_spot);
  const auto batch = bound->make_batch(4);
  for (std::uint64_t number = 0; number < 20; ++number) {
    EvalLeaf& leaf = batch->next();
    leaf.number = number;
    leaf.to_move = state.position().to_move();
    copy_position(state.position(), leaf.position);
    bound->answer(*batch, state.position());
    const float answered = leaf.value;
    CHECK(leaf.equal_priors);
    leaf.value = 9.0F;
    batch->add_next(bound->request(*batch, state.position()));
    bound->evaluate(*batch);
    bound->decode(*batch);
    CHECK(leaf.value == answered);
    batch->clear();
  }
  CHECK(bound->stats().rows == 40);
  CHECK(bound->stats().batches == 40);
}

TEST_CASE("on the spot: each simulation of one thread is an evaluation, and none collides") {
  const auto [result, stats] = search(config_of(1, false));
  CHECK(result.simulations == 500);
  CHECK(result.evaluations == 501);  // and the root's
  CHECK(stats.collisions == 0);
  // A batch of one leaf is the same search: no leaf is in flight while another is chosen.
  SearchConfig serial = config_of(1, true);
  serial.batch_size = 1;
  serial.in_flight = 1;
  CHECK(visits(serial) == result.visits);
}

TEST_CASE("on the spot: a deterministic search has its rounds at any number of threads") {
  CHECK(visits(config_of(1, true)) == visits(config_of(2, true)));
}
