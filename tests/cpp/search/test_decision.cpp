/// Searches that end when the move is decided.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"
#include "search_fixtures.h"
#include "selfplay/config.h"

namespace pyengine {
namespace {

using namespace search_test;

SearchConfig deciding_config(std::uint64_t simulations) {
  SearchConfig config;
  config.threads = 1;
  config.batch_size = 1;
  config.in_flight = 1;
  config.simulations = simulations;
  config.solver = false;
  config.stop_when_decided = true;
  config.memory_limit = 64U << 20;
  return config;
}

SearchResult search_of(const State& state, const SearchConfig& config, Mock mock = {}) {
  Searcher searcher(state.game(), std::make_shared<MockEvaluator>(mock), config);
  Patient host;
  return searcher.search(state, config, host);
}

std::uint64_t lead_of(const SearchResult& result) {
  std::vector<std::uint32_t> visits = result.visits;
  std::sort(visits.begin(), visits.end(), std::greater<>());
  return visits[0] - visits[1];
}

/// A game of tic-tac-toe with one empty point.
State one_move_left() {
  State state(load_game("tic_tac_toe"));
  for (const int move : {0, 1, 2, 4, 3, 5, 7, 6}) state.apply_action(move);
  return state;
}

TEST_CASE("a serial search ends with the first simulation after which the rest cannot matter") {
  const auto game = load_game("connect_four");
  for (const Algorithm algorithm : {Algorithm::puct, Algorithm::uct, Algorithm::flat_ucb}) {
    for (const bool immediate : {false, true}) {
      for (const State& state : random_states(game, 10, 6)) {
        SearchConfig config = deciding_config(600);
        config.algorithm = algorithm;
        const Mock mock{.immediate = immediate};
        const SearchResult result = search_of(state, config, mock);
        config.stop_when_decided = false;
        const SearchResult whole = search_of(state, config, mock);
        CHECK(whole.stop_reason == StopReason::simulations);
        CHECK(result.action == whole.action);
        if (result.stop_reason != StopReason::decided) continue;
        const std::uint64_t left = 600 - result.simulations;
        CHECK(total(result.visits) == result.simulations);
        CHECK(lead_of(result) > left);
        CHECK(lead_of(result) - 1 <= left + 1);
      }
    }
  }
}

TEST_CASE("a decided search is the same with any number of threads if it is deterministic") {
  SearchConfig config = deciding_config(2000);
  config.batch_size = 8;
  config.in_flight = 16;
  config.deterministic = true;
  for (const State& state : random_states(load_game("connect_four"), 5, 6)) {
    const SearchResult one = search_of(state, config);
    config.threads = 4;
    const SearchResult four = search_of(state, config);
    config.threads = 1;
    CHECK(one.visits == four.visits);
    CHECK(one.stop_reason == four.stop_reason);
  }
}

TEST_CASE("a single legal move takes one simulation with every algorithm, and any budget") {
  for (const Algorithm algorithm :
       {Algorithm::puct, Algorithm::gumbel, Algorithm::uct, Algorithm::flat_ucb}) {
    for (const int threads : {1, 4}) {
      SearchConfig config = deciding_config(1000);
      config.algorithm = algorithm;
      config.threads = threads;
      config.batch_size = 8;
      config.in_flight = 16;
      config.temperature = 1.0;
      if (threads == 4) {
        config.simulations.reset();
        config.seconds = 1e6;
      }
      const SearchResult result = search_of(one_move_left(), config);
      CHECK(result.stop_reason == StopReason::decided);
      CHECK(result.action == 8);
      CHECK(result.simulations == 1);
      CHECK(total(result.visits) == 1);
    }
  }
}

TEST_CASE("if the other moves are proven to lose, the last one is decided") {
  SearchConfig config = deciding_config(100000);
  config.solver = true;
  State state(load_game("connect_four"));  // three of the second player in column 3
  for (const int move : {0, 3, 0, 3, 6, 3}) state.apply_action(move);
  const SearchResult result = search_of(state, config);
  CHECK(result.stop_reason == StopReason::decided);
  CHECK(result.action == 3);
  CHECK(result.simulations < 5000);
}

TEST_CASE("visits do not decide with Gumbel, the best mean or a temperature") {
  const State state = random_state(load_game("connect_four"), 6, 1);
  const auto ends = [&](auto&& change) {
    SearchConfig config = deciding_config(600);
    change(config);
    return search_of(state, config).stop_reason;
  };
  CHECK(ends([](SearchConfig&) {}) == StopReason::decided);
  CHECK(ends([](SearchConfig& c) { c.algorithm = Algorithm::gumbel; }) == StopReason::simulations);
  CHECK(ends([](SearchConfig& c) { c.choose = MoveChoice::mean; }) == StopReason::simulations);
  CHECK(ends([](SearchConfig& c) { c.choose = MoveChoice::lcb; }) == StopReason::simulations);
  CHECK(ends([](SearchConfig& c) { c.temperature = 0.1; }) == StopReason::simulations);
}

TEST_CASE("with a budget in seconds the rate so far decides") {
  SearchConfig config = deciding_config(1);
  config.simulations.reset();
  config.seconds = 0.3;
  State state(load_game("connect_four"));  // column 0 wins, so most visits go there
  for (const int move : {0, 1, 0, 1, 0, 1}) state.apply_action(move);
  const SearchResult result = search_of(state, config, {.immediate = true});
  CHECK(result.stop_reason == StopReason::decided);
  CHECK(result.action == 0);
  CHECK(result.simulations >= 100);
}

TEST_CASE("self-play refuses to end searches early") {
  SelfPlayConfig config;
  config.search.simulations = 10;
  config.search.stop_when_decided = true;
  CHECK_THROWS_WITH_AS(validate(config), doctest::Contains("stop_when_decided"), ConfigError);
}

TEST_SUITE("concurrent") {
  TEST_CASE("threads, leases and many trees end when they are decided") {
    const auto game = load_game("connect_four");
    const std::vector<State> states = random_states(game, 20, 8);
    for (const bool immediate : {false, true}) {
      SearchConfig config = deciding_config(20000);
      config.threads = 4;
      config.batch_size = 8;
      config.in_flight.reset();
      const Mock mock{.immediate = immediate};
      Searcher searcher(game, std::make_shared<MockEvaluator>(mock), config);
      Patient host;
      std::vector<SearchResult> results = searcher.search_many(pointers_to(states), config, host);
      results.push_back(searcher.search(states.front(), config, host));
      for (const SearchResult& result : results) {
        if (result.stop_reason == StopReason::simulations) continue;
        CHECK(result.stop_reason == StopReason::decided);
        CHECK(lead_of(result) > 20000 - result.simulations);
      }
      CHECK(std::any_of(results.begin(), results.end(), [](const SearchResult& result) {
        return result.stop_reason == StopReason::decided;
      }));
    }
  }
}

}  // namespace
}  // namespace pyengine
