/// Gumbel AlphaZero: its formulas, its noise, and its visits with batched evaluation.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "search/rules/gumbel.h"
#include "search/rules/gumbel_plan.h"
#include "search_fixtures.h"

namespace pyengine {
namespace {

using search_test::Mock;
using search_test::MockEvaluator;
using search_test::Patient;

SearchConfig gumbel_config(std::uint64_t simulations, int in_flight = 1) {
  SearchConfig config;
  config.algorithm = Algorithm::gumbel;
  config.simulations = simulations;
  config.threads = 1;
  config.batch_size = in_flight;
  config.in_flight = in_flight;
  config.symmetry = SymmetryMode::none;
  config.solver = false;
  config.gumbel_noise = false;
  return config;
}

SearchResult search(const State& state, const SearchConfig& config, Mock mock = {}) {
  Searcher searcher(state.game(), std::make_shared<MockEvaluator>(mock), config);
  Patient host;
  return searcher.search(state, config, host);
}

/// The non-zero visits, largest first.
std::vector<std::uint32_t> sorted_visits(const SearchResult& result) {
  std::vector<std::uint32_t> visits = result.visits;
  std::sort(visits.begin(), visits.end(), std::greater<>());
  visits.erase(std::find(visits.begin(), visits.end(), 0U), visits.end());
  return visits;
}

// --- formulas

TEST_CASE("the mixed value combines the node's own evaluation with the values of its visits") {
  gumbel::CompletedQ completed;
  completed.add(0.5, 3, 0.2);
  completed.add(0.25, 1, -0.4);
  completed.complete(0.6, false, 50, 0.1);
  const double weighted = (0.5 * 0.2 + 0.25 * -0.4) / 0.75;
  CHECK(completed.mixed() == doctest::Approx((0.6 + 4 * weighted) / 5));
  // The values range over -0.4, the mixed value 0.12 and 0.2; the largest visit count is 3.
  CHECK(completed.sigma(-0.4) == 0.0);
  CHECK(completed.sigma(0.2) == doctest::Approx(5.3));
  CHECK(completed.sigma(-0.1) == doctest::Approx(5.3 / 2));
}

TEST_CASE("if all actions are visited, the mixed value is not one of the compared values") {
  for (const bool all_visited : {false, true}) {
    gumbel::CompletedQ completed;
    completed.add(0.5, 1, 0.5);
    completed.add(0.5, 1, 0.6);
    completed.complete(-1.0, all_visited, 50, 0.1);  // the mixed value is 0.0333
    CHECK(completed.sigma(0.5) ==
          doctest::Approx(all_visited ? 0.0 : 5.1 * (0.5 - 0.1 / 3) / (0.6 - 0.1 / 3)));
  }
}

TEST_CASE("without visits the improved policy is the prior") {
  const auto policy =
      gumbel::improved_policy({0.5F, 0.25F, 0.25F}, {0, 0, 0}, {NAN, NAN, NAN}, 0.3, 50, 0.1);
  CHECK(policy[0] == doctest::Approx(0.5));
  CHECK(policy[1] == doctest::Approx(0.25));
}

TEST_CASE("very large visit counts do not overflow, and a prior of 0 has a finite logarithm") {
  const auto policy = gumbel::improved_policy({1.0F, 0.0F, 0.0F}, {4000000000U, 1, 0},
                                              {-1.0F, 1.0F, NAN}, 0, 50, 1);
  CHECK(policy[0] == 0.0);
  CHECK(policy[1] == doctest::Approx(1.0));
}

// --- noise

TEST_CASE("the noise has the Gumbel distribution") {
  constexpr int kDraws = 20000;
  Rng rng(3, 1);
  std::vector<double> drawn;
  for (int i = 0; i < kDraws; ++i) drawn.push_back(rng.gumbel());
  std::sort(drawn.begin(), drawn.end());
  double most = 0.0;  // Kolmogorov-Smirnov
  for (int i = 0; i < kDraws; ++i) {
    const double expected = std::exp(-std::exp(-drawn[static_cast<std::size_t>(i)]));
    most = std::max(most, std::abs(expected - (i + 0.5) / kDraws));
  }
  CHECK(most < 1.63 / std::sqrt(kDraws));  // exceeded by one stream in a hundred
}

TEST_CASE("each legal action has one noise value, regardless of edge order") {
  const std::vector<Edge> edges{{900, 4}, {800, 0}, {700, 9}};
  const std::vector<Edge> other{{900, 9}, {800, 4}, {700, 0}};
  Rng a(5, 1);
  Rng b(5, 1);
  Rng c(5, 3);
  const auto noise = gumbel_noise(a, edges);
  CHECK(noise.size() == 10);
  CHECK(noise == gumbel_noise(b, other));
  CHECK(noise != gumbel_noise(c, edges));
  CHECK(noise[1] == 0.0);
}

TEST_CASE("noise determines the considered moves, by seed and number of the search") {
  const State state = search_test::random_state(load_game("gomoku"), 6, 1);
  SearchConfig config = gumbel_config(16);
  const auto clean = search(state, config).visits;
  config.gumbel_noise = true;
  const auto noisy = search(state, config).visits;
  CHECK(noisy != clean);
  CHECK(search(state, config).visits == noisy);
  config.seed = 1;
  CHECK(search(state, config).visits != noisy);

  config.reuse_tree = false;
  Searcher searcher(state.game(), std::make_shared<MockEvaluator>(), config);
  Patient host;
  const auto first = searcher.search(state, config, host).visits;
  CHECK(searcher.search(state, config, host).visits != first);
}

TEST_CASE("priors do not change, with noise and after it") {
  const State state(load_game("connect_four"));
  SearchConfig config = gumbel_config(20);
  const auto clean = search(state, config).priors;
  config.gumbel_noise = true;
  Searcher searcher(state.game(), std::make_shared<MockEvaluator>(), config);
  Patient host;
  CHECK(searcher.search(state, config, host).priors == clean);
  config.algorithm = Algorithm::puct;
  CHECK(searcher.search(state, config, host).priors == clean);
}

// --- batches

/// Two moves with 15 visits, two with 7, four with 3, eight with 1.
const std::vector<std::uint32_t> kPlanned{15, 15, 7, 7, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1};

TEST_CASE("a round of a halving is one batch, and the visits are as planned") {
  const State state(load_game("gomoku"));
  for (const bool noise : {false, true}) {
    for (const bool deterministic : {false, true}) {
      SearchConfig config = gumbel_config(64, 16);
      config.gumbel_noise = noise;
      config.deterministic = deterministic;
      const auto evaluator = std::make_shared<MockEvaluator>();
      Searcher searcher(state.game(), evaluator, config);
      Patient host;
      const SearchResult result = searcher.search(state, config, host);
      CHECK(sorted_visits(result) == kPlanned);
      CHECK(evaluator->seen->largest == 16);
      // One batch for the root, and one for each time that 16, 8, 4 or 2 moves are visited.
      CHECK(evaluator->seen->batches == 1 + 1 + 2 + 4 + 8);
    }
  }
}

TEST_CASE("simulations are divided as in the serial search even if walks collide") {
  // Few replies, so many walks collide.
  const State state = search_test::random_state(load_game("connect_four"), 8, 3);
  for (const std::uint64_t simulations : {7U, 16U, 33U, 64U, 200U}) {
    const auto serial = sorted_visits(search(state, gumbel_config(simulations)));
    for (const int in_flight : {2, 8, 64}) {
      CAPTURE(simulations);
      CAPTURE(in_flight);
      CHECK(sorted_visits(search(state, gumbel_config(simulations, in_flight))) == serial);
    }
  }
}

TEST_CASE("the action is one of the most visited") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const State state = search_test::random_state(load_game("othello"), 10, seed);
    const SearchResult result = search(state, gumbel_config(50, 8));
    const auto place = std::find(result.actions.begin(), result.actions.end(), result.action);
    const auto visits = result.visits[static_cast<std::size_t>(place - result.actions.begin())];
    CHECK(visits == *std::max_element(result.visits.begin(), result.visits.end()));
  }
}

// --- trees that are continued, proofs, limits

TEST_CASE("in a reused tree the plan covers the simulations of the call") {
  const State state(load_game("gomoku"));
  const SearchConfig config = gumbel_config(64, 16);
  Searcher searcher(state.game(), std::make_shared<MockEvaluator>(), config);
  Patient host;
  const SearchResult first = searcher.search(state, config, host);
  SearchResult second = searcher.search(state, config, host);
  CHECK(search_test::total(second.visits) == 128);
  for (std::size_t i = 0; i < second.visits.size(); ++i) second.visits[i] -= first.visits[i];
  CHECK(sorted_visits(second) == kPlanned);
}

TEST_CASE("Gumbel finds the only non-losing move") {
  const auto game = load_game("tic_tac_toe");
  State state(game);
  for (const int action : {0, 4, 1}) state.apply_action(action);  // X X . / . O . / . . .
  for (const int in_flight : {1, 8}) {
    SearchConfig config = gumbel_config(400, in_flight);
    config.solver = true;
    CHECK(search(state, config).action == 2);
  }
}

TEST_CASE("proofs are found, and a move that is proven lost gets no more visits") {
  const auto game = load_game("tic_tac_toe");
  SearchConfig config = gumbel_config(20000, 4);
  config.solver = true;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const State state = search_test::random_state(game, 3, seed);
    const SearchResult gumbel = search(state, config);
    SearchConfig puct = config;
    puct.algorithm = Algorithm::puct;
    CHECK(gumbel.proven.has_value());
    CHECK(gumbel.proven == search(state, puct).proven);
  }
}

TEST_CASE("at the memory limit simulations continue within the existing tree") {
  const State state(load_game("go"));
  SearchConfig config = gumbel_config(30000, 8);
  config.memory_limit = kLeastMemory;
  config.cache_entries = 0;
  CHECK(search_test::total(search(state, config).visits) == 30000);
}

TEST_CASE("with only a deadline, halvings follow one another until it passes") {
  const State state(load_game("connect_four"));
  SearchConfig config = gumbel_config(1);
  config.simulations.reset();
  config.seconds = 0.05;
  const SearchResult result = search(state, config);
  CHECK(result.stop_reason == StopReason::seconds);
  CHECK(search_test::total(result.visits) == result.simulations);
  CHECK(result.action >= 0);
}

TEST_SUITE("concurrent") {
  TEST_CASE("many threads change neither the number of simulations nor their division") {
    const State state(load_game("gomoku"));
    for (const int device_batches : {0, 2}) {
      for (const bool solver : {false, true}) {
        SearchConfig config = gumbel_config(64, 16);
        config.threads = 4;
        config.batch_size = 4;
        config.solver = solver;
        Mock mock;
        mock.runs_on = on_device(device_batches);
        CHECK(sorted_visits(search(state, config, mock)) == kPlanned);
      }
    }
  }

  TEST_CASE("a deterministic Gumbel search is the same for any number of threads") {
    const State state = search_test::random_state(load_game("othello"), 6, 2);
    SearchConfig config = gumbel_config(300, 16);
    config.gumbel_noise = true;
    config.deterministic = true;
    const auto one = search(state, config);
    config.threads = 4;
    const auto four = search(state, config);
    CHECK(one.visits == four.visits);
    CHECK(one.q == four.q);
    CHECK(one.action == four.action);
  }

  TEST_CASE("many trees share batches, each with its own plan") {
    const auto game = load_game("gomoku");
    const auto states = search_test::random_states(game, 12, 4);
    SearchConfig config = gumbel_config(64, 8);
    config.threads = 4;
    Searcher searcher(game, std::make_shared<MockEvaluator>(), config);
    Patient host;
    for (const SearchResult& result :
         searcher.search_many(search_test::pointers_to(states), config, host)) {
      CHECK(sorted_visits(result) == kPlanned);
    }
  }
}

}  // namespace
}  // namespace pyengine
