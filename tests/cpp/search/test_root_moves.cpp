/// Searches restricted to some of the root's moves.
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "search/config_fields.h"
#include "search_fixtures.h"
#include "tree_check.h"

namespace pyengine {
namespace {

using namespace search_test;

constexpr std::array kEveryAlgorithm{Algorithm::puct, Algorithm::gumbel, Algorithm::uct,
                                     Algorithm::flat_ucb};

struct RestrictedBench {
  std::shared_ptr<const AnyGame> game;
  SearchConfig config;
  Searcher searcher;
  Patient host;

  RestrictedBench(const char* name, const SearchConfig& settings, Mock mock = {})
      : game(load_game(name)),
        config(settings),
        searcher(game, std::make_shared<MockEvaluator>(mock), settings) {}

  SearchResult search(const RootMoves& moves = {}) { return search(State(game), moves); }
  SearchResult search(const State& state, const RootMoves& moves) {
    return searcher.search(state, config, host, moves);
  }
};

SearchConfig restricted_config(std::uint64_t simulations, int threads = 1) {
  SearchConfig config;
  config.threads = threads;
  config.simulations = simulations;
  config.solver = false;
  config.deterministic = true;
  config.memory_limit = 64U << 20;
  return config;
}

TEST_CASE("only the allowed moves are searched, the same with any number of threads") {
  const RootMoves moves{.allow = {{6, 1, 4, 4}}, .avoid = {4, 0}};
  for (const Mock& mock : {Mock{}, Mock{.immediate = true}, Mock{.answered = 0.5}}) {
    for (const Algorithm algorithm : kEveryAlgorithm) {
      CAPTURE(Names<Algorithm>::values[static_cast<std::size_t>(algorithm)]);
      std::vector<std::uint32_t> first;
      for (const int threads : {1, 4}) {
        SearchConfig config = restricted_config(300, threads);
        config.algorithm = algorithm;
        config.dirichlet_fraction = 0.25;
        RestrictedBench bench("connect_four", config, mock);
        const SearchResult result = bench.search(moves);
        CHECK(result.actions == std::vector<std::int32_t>{1, 6});
        CHECK(total(result.visits) == 300);
        CHECK((result.action == 1 || result.action == 6));
        CHECK(check_tree(*bench.searcher.tree(), algorithm != Algorithm::flat_ucb).wrong == 0);
        if (first.empty()) first = result.visits;
        CHECK(result.visits == first);
      }
    }
  }
}

TEST_CASE("the evaluation is the position's, with its priors normalised over the moves") {
  RestrictedBench all("connect_four", restricted_config(1));
  RestrictedBench some("connect_four", restricted_config(1));
  const SearchResult whole = all.search();
  const SearchResult part = some.search({.allow = {{0, 5}}, .avoid = {}});
  CHECK(part.network_value == whole.network_value);
  const double sum = double{whole.priors[0]} + whole.priors[5];
  CHECK(part.priors[0] == doctest::Approx(whole.priors[0] / sum).epsilon(0.001));
  CHECK(part.priors[1] == doctest::Approx(whole.priors[5] / sum).epsilon(0.001));
}

TEST_CASE("a restriction that removes nothing equals none") {
  RestrictedBench bench("connect_four", restricted_config(100));
  bench.search();
  const RootMoves all{.allow = {{6, 5, 4, 3, 2, 1, 0}}, .avoid = {}};
  CHECK(bench.search(all).reused == 100);
}

TEST_CASE("a tree continues only with the same moves, and advance() lifts the restriction") {
  RestrictedBench bench("connect_four", restricted_config(100));
  const RootMoves moves{.allow = {{2, 3}}, .avoid = {}};
  bench.search(moves);
  const SearchResult again = bench.search({.allow = {{3, 2}}, .avoid = {}});
  CHECK(again.reused == 100);
  CHECK(bench.search().reused == 0);
  CHECK(bench.search().reused == 100);
  const SearchResult last = bench.search(moves);
  CHECK(last.reused == 0);
  bench.searcher.advance(last.action);
  State next(bench.game);
  next.apply_action(last.action);
  const SearchResult below = bench.search(next, {});
  CHECK(below.reused > 0);
  CHECK(below.actions.size() == 7);
}

TEST_CASE("a proof for the moves searched ends the search but is not the position's") {
  SearchConfig config = restricted_config(5000);
  config.solver = true;
  RestrictedBench bench("tic_tac_toe", config);
  State state(bench.game);
  for (const int move : {0, 3, 1, 4})
    state.apply_action(move);  // c1 (2) wins, a move that ignores c2 (5) loses
  const SearchResult lost = bench.search(state, {.allow = {{6, 7}}, .avoid = {}});
  CHECK(lost.stop_reason == StopReason::proven);
  CHECK_FALSE(lost.proven.has_value());
  CHECK(lost.tree.front().proven == TreeNode::kNotProven);
  CHECK(lost.value == -1.0);
  CHECK(bench.search(state, {}).proven == 1);
}

TEST_CASE("illegal actions and an empty remainder are refused, and the tree survives") {
  RestrictedBench bench("connect_four", restricted_config(50));
  bench.search();
  const auto refused = [&](const RootMoves& moves, const char* message) {
    CHECK_THROWS_WITH(bench.search(moves), doctest::Contains(message));
  };
  refused({.allow = {{3, 7}}, .avoid = {}}, "allow: action 7 does not exist, expected 0..6");
  refused({.allow = {}, .avoid = {-1}}, "avoid: action -1 does not exist");
  refused({.allow = std::vector<Action>(), .avoid = {}}, "expected at least one move");
  refused({.allow = {{3, 4}}, .avoid = {3, 4}}, "expected at least one move");
  CHECK_THROWS_AS(bench.search({.allow = {{9}}, .avoid = {}}), IllegalActionError);
  CHECK(bench.search().reused == 50);
}

TEST_SUITE("concurrent") {
  TEST_CASE("leased and concurrent searches respect the restriction") {
    for (const bool immediate : {false, true}) {
      SearchConfig config = restricted_config(20000, 4);
      config.deterministic = false;
      RestrictedBench bench("othello", config, {.immediate = immediate});
      const SearchResult result = bench.search({.allow = {}, .avoid = {19}});
      CHECK(result.actions == std::vector<std::int32_t>{26, 37, 44});
      CHECK(total(result.visits) == 20000);
    }
  }
}

}  // namespace
}  // namespace pyengine
