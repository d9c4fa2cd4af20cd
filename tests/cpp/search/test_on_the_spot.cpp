/// Leaves that an evaluator answers immediately, without a batch.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "eval/mixed.h"
#include "eval/rollout/policy_priors.h"
#include "eval/rollout/policy_rollout.h"
#include "eval/simple.h"
#include "games/any/registry.h"
#include "games/go/rollout.h"
#include "search/searcher.h"
#include "search_fixtures.h"

using namespace pyengine;
using search_test::Patient;

namespace {

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

TEST_CASE("on the spot: a playout gives the same answer as in a batch") {
  const State state(load_game("othello"));
  const auto bound = RolloutEvaluator(3).bind(state.game(), {});
  REQUIRE(bound->traits().on_the_spot());
  const auto batch = bound->make_batch(4);
  for (std::uint64_t number = 0; number < 20; ++number) {
    EvalLeaf& leaf = batch->next();
    leaf.number = number;
    leaf.to_move = state.position().to_move();
    copy_position(state.position(), leaf.position);
    leaf.on_the_spot = true;
    CHECK(bound->request(*batch, state.position()) == kAnswered);
    const float answered = leaf.value;
    CHECK(leaf.equal_priors);
    leaf.on_the_spot = false;
    leaf.value = 9.0F;
    batch->add_next(bound->request(*batch, state.position()));
    bound->evaluate(*batch);
    bound->decode(*batch);
    CHECK(leaf.value == answered);
    batch->clear();
  }
  CHECK(stats_of(*bound).rows == 40);
  CHECK(stats_of(*bound).batches == 40);
}

TEST_CASE("on the spot: with one thread each simulation is an evaluation, and none collides") {
  const auto [result, stats] = search(config_of(1, false));
  CHECK(result.simulations == 500);
  CHECK(result.evaluations == 501);  // including the root's
  CHECK(stats.collisions == 0);
  // A batch of one leaf gives the same search: no leaf is in flight while another is chosen.
  SearchConfig serial = config_of(1, true);
  serial.batch_size = 1;
  serial.in_flight = 1;
  CHECK(visits(serial) == result.visits);
}

TEST_CASE("on the spot: playouts are brief if they take little time") {
  const auto is_brief = [](const char* game, int rollouts) {
    return RolloutEvaluator(rollouts).bind(load_game(game), {})->traits().answering ==
        Answering::brief;
  };
  CHECK_FALSE(is_brief("tic_tac_toe", 1000));
  CHECK_FALSE(is_brief("go", 1));
}

TEST_CASE("on the spot: a deterministic search has the same rounds for any number of threads") {
  CHECK(visits(config_of(1, true)) == visits(config_of(2, true)));
}

TEST_SUITE("concurrent") {
  TEST_CASE("workers that share a tree run its playouts, for any rule and game") {
    const auto zeros = [](std::size_t count) { return std::vector<float>(count, 0.0F); };
    GoRolloutWeights weights;
    weights.pattern = zeros(kGoPatterns);
    weights.response = zeros(kGoPatterns);
    const auto policy = std::make_shared<GoRolloutPolicy>(weights);
    for (const char* name : {"tic_tac_toe", "mnk", "connect_four", "gomoku", "othello", "go"}) {
      CAPTURE(name);
      const auto game = load_game(name);
      std::vector<std::shared_ptr<Evaluator>> evaluators{std::make_shared<RolloutEvaluator>()};
      if (std::string_view(name) == "go") {
        const auto rollouts = std::make_shared<PolicyRolloutEvaluator>(1, policy);
        const auto priors = std::make_shared<PolicyPriorsEvaluator>(policy);
        evaluators.push_back(rollouts);
        evaluators.push_back(std::make_shared<MixedEvaluator>(priors, rollouts, 1.0));
      }
      for (const auto& evaluator : evaluators) {
        for (const Algorithm algorithm : {Algorithm::uct, Algorithm::puct, Algorithm::gumbel}) {
          SearchConfig config = config_of(4, false);
          config.algorithm = algorithm;
          config.simulations = 200;
          Searcher searcher(game, evaluator, config);
          Patient host;
          const auto visits = searcher.search(State(game), config, host).visits;
          CHECK(std::accumulate(visits.begin(), visits.end(), 0U) == 200);
        }
      }
    }
  }
}
