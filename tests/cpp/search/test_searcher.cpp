/// Searches with hash-based evaluators: budgets, invariants of the tree, failures, memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/janitor.h"
#include "eval/simple.h"
#include "search_fixtures.h"
#include "tree_check.h"
#include "twice_game.h"

namespace pyengine {
namespace {

using namespace search_test;

SearchConfig uncached_config(int threads, std::uint64_t simulations) {
  SearchConfig config;
  config.threads = threads;
  config.simulations = simulations;
  config.cache_entries = 0;
  config.memory_limit = 64U << 20;
  config.solver = false;
  return config;
}

/// A searcher with a mock evaluator.
struct Bench {
  std::shared_ptr<const AnyGame> game;
  std::shared_ptr<MockEvaluator> evaluator;
  SearchConfig config;
  std::unique_ptr<Searcher> searcher;
  Patient host;

  Bench(std::shared_ptr<const AnyGame> played, const SearchConfig& settings, Mock mock = {})
      : game(std::move(played)),
        evaluator(std::make_shared<MockEvaluator>(mock)),
        config(settings),
        searcher(std::make_unique<Searcher>(game, evaluator, settings)) {}

  SearchResult search(const State& state) { return searcher->search(state, config, host); }
  SearchResult search() { return search(State(game)); }
  [[nodiscard]] TreeCount check(bool exact = true) const {
    return check_tree(*searcher->tree(), exact);
  }
};

State after(const std::shared_ptr<const AnyGame>& game, const std::vector<int>& actions) {
  State state(game);
  for (const int action : actions) state.apply_action(action);
  return state;
}

void check_result(const Bench& bench, const SearchResult& result, std::uint64_t simulations) {
  const TreeCount count = bench.check();
  CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
  CHECK(result.simulations == simulations);
  CHECK(result.stop_reason == StopReason::simulations);
  CHECK(total(result.visits) == simulations);
  CHECK(bench.searcher->tree()->root().visits.load() == simulations + 1);
  CHECK(bench.evaluator->seen->waiting.load() == 0);
  CHECK(bench.evaluator->seen->largest.load() <=
        std::max(bench.config.batch_size, bench.game->symmetries().count()));
  CHECK(result.nodes == count.nodes);
  CHECK(result.value >= -1.0);
  CHECK(result.value <= 1.0);
}

std::vector<Mock> kinds_of_mocks() {
  using std::chrono::microseconds;
  return {
      {},
      {.delay = microseconds(50)},
      {.immediate = true},
      {.answered = 0.5},
      {.runs_on = {EvalThread::calling}, .delay = microseconds(20)},
      {.runs_on = on_device(2), .delay = microseconds(50)},
      {.runs_on = on_device(1), .answered = 0.2},
      {.under_symmetries = true, .answered = 0.3},
      {.runs_on = on_device(2), .under_symmetries = true},
  };
}

TEST_CASE("every simulation is one visit, for any evaluator, number of threads and symmetry") {
  const auto game = load_game("gomoku", {{"board_size", 7LL}});
  std::uint64_t turn = 0;
  for (const Mock& mock : kinds_of_mocks()) {
    for (const int threads : {1, 2, 4, 16}) {
      for (const bool deterministic : {false, true}) {
        SearchConfig config = uncached_config(threads, 300);
        config.symmetry = static_cast<SymmetryMode>(turn++ % 5);
        config.deterministic = deterministic;
        config.batch_size = turn % 3 == 0 ? 1 : 8;
        config.collision = static_cast<CollisionRule>(turn % 2);
        CAPTURE(threads);
        CAPTURE(deterministic);
        CAPTURE(turn);
        Bench bench(game, config, mock);
        check_result(bench, bench.search(), 300);
        if (mock.runs_on.calling_thread()) CHECK(bench.evaluator->seen->elsewhere.load() == 0);
      }
    }
  }
}

TEST_CASE("every simulation is one visit with joint walks") {
  std::uint64_t turn = 0;
  for (const char* name : {"gomoku", "connect_four", "tic_tac_toe"}) {
    for (const Mock& mock : kinds_of_mocks()) {
      for (const int threads : {1, 2, 8}) {
        SearchConfig config = uncached_config(threads, 3000);
        config.symmetry = static_cast<SymmetryMode>(turn++ % 5);
        config.in_flight = turn % 2 == 0 ? 128 : 1024;
        config.batch_size = turn % 3 == 0 ? 8 : 256;
        config.solver = turn % 4 != 0;
        config.forced_playouts = turn % 5 == 0 ? 2.0 : 0.0;
        config.endgame_solver_empties = turn % 7 == 0 ? 3 : 0;
        config.collision = static_cast<CollisionRule>(turn % 2);
        CAPTURE(turn);
        Bench bench(load_game(name), config, mock);
        const SearchResult result = bench.search();
        if (result.stop_reason != StopReason::proven) check_result(bench, result, 3000);
        const TreeCount count = bench.check(result.stop_reason != StopReason::proven);
        CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
      }
    }
  }
}

TEST_CASE("joint walks at the memory limit continue within the tree") {
  for (const int threads : {1, 4}) {
    SearchConfig config = uncached_config(threads, 40000);
    config.memory_limit = kLeastMemory;
    config.in_flight = 512;
    config.batch_size = 64;
    Bench bench(load_game("go", {{"board_size", 9LL}}), config, {.answered = 0.5});
    CHECK(bench.search().simulations == 40000);
    CHECK(bench.searcher->stats().refusals > 0);
    const TreeCount count = bench.check(false);
    CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
  }
}

TEST_CASE("root_average uses a larger batch only for the root") {
  SearchConfig config = uncached_config(1, 200);
  config.symmetry = SymmetryMode::root_average;
  config.batch_size = 2;
  Bench bench(load_game("gomoku", {{"board_size", 7LL}}), config, {.under_symmetries = true});
  check_result(bench, bench.search(), 200);
  CHECK(bench.evaluator->seen->largest.load() == 8);
  const int later = bench.evaluator->seen->batches.load() - 1;
  CHECK(bench.evaluator->seen->rows.load() - 8 <= 2 * later);
}

TEST_CASE("the rows of a leaf whose request fails are not evaluated") {
  const auto game = load_game("gomoku", {{"board_size", 7LL}});
  for (const bool deterministic : {false, true}) {
    for (const int fail_at : {0, 3, 9, 17, 30}) {
      CAPTURE(deterministic);
      CAPTURE(fail_at);
      SearchConfig config = uncached_config(2, 300);
      config.symmetry = SymmetryMode::average;
      config.batch_size = 16;
      config.deterministic = deterministic;
      Bench bench(game, config, {.under_symmetries = true});
      bench.evaluator->seen->fail_request_at = fail_at;
      CHECK_THROWS_AS(bench.search(), EvaluationError);
      const TreeCount count = bench.check();
      CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
      bench.evaluator->seen->fail_request_at = -1;
      CHECK(bench.search().simulations == 300);
      CHECK(bench.evaluator->seen->strays.load() == 0);
    }
  }
}

TEST_CASE("a batch that does not fit into the memory limit is rejected by name") {
  SearchConfig config = uncached_config(1, 50);
  config.memory_limit = kLeastMemory;
  const auto game = load_game("connect_four");
  Bench bench(game, config, {.batch_bytes = 7U << 20});
  CHECK_THROWS_WITH_AS(bench.search(), doctest::Contains("memory_limit: expected room for a tree"),
                       ConfigError);
  bench.config.memory_limit = 64U << 20;
  CHECK(bench.search().simulations == 50);
}

TEST_CASE("batches count against the memory limit, and the search continues with fewer") {
  SearchConfig config = uncached_config(4, 2000);
  config.memory_limit = 24U << 20;
  config.batch_size = 16;
  Bench bench(
      load_game("gomoku"), config,
      {.runs_on = on_device(2), .delay = std::chrono::microseconds(50), .batch_bytes = 6U << 20});
  const SearchResult result = bench.search();
  CHECK(result.simulations == 2000);
  CHECK(bench.searcher->stats().bytes <= config.memory_limit);
  CHECK(bench.searcher->stats().bytes >= 6U << 20);
}

TEST_CASE("budgets are exact from 1 to 70 simulations") {
  const auto game = load_game("connect_four");
  for (const int threads : {1, 3}) {
    for (std::uint64_t simulations = 1; simulations <= 70; simulations += 1 + simulations / 8) {
      Bench bench(game, uncached_config(threads, simulations));
      check_result(bench, bench.search(), simulations);
    }
  }
}

TEST_CASE("all games work, including those that end after a few moves") {
  for (const char* name : {"tic_tac_toe", "mnk", "connect_four", "gomoku", "othello"}) {
    CAPTURE(name);
    for (const bool deterministic : {false, true}) {
      SearchConfig config = uncached_config(4, 500);
      config.deterministic = deterministic;
      Bench bench(load_game(name), config);
      check_result(bench, bench.search(), 500);
    }
  }
}

TEST_CASE("a player may move twice in a row") {
  const auto game = twice_game();
  for (const bool solver : {false, true}) {
    SearchConfig config = uncached_config(2, 3000);
    config.solver = solver;
    Bench bench(game, config);
    const SearchResult result = bench.search();
    const TreeCount count = bench.check();
    CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
    if (!solver) CHECK(total(result.visits) == 3000);
  }
}

TEST_CASE("at most in_flight leaves wait, for any number of threads") {
  const auto game = load_game("gomoku", {{"board_size", 9LL}});
  for (const int in_flight : {1, 2, 5}) {
    for (const int threads : {1, 2, 8}) {
      for (const int device : {0, 2}) {
        SearchConfig config = uncached_config(threads, 400);
        config.in_flight = in_flight;
        CAPTURE(in_flight);
        CAPTURE(threads);
        CAPTURE(device);
        Bench bench(game, config,
                    {.runs_on = on_device(device), .delay = std::chrono::microseconds(20)});
        check_result(bench, bench.search(), 400);
        CHECK(bench.evaluator->seen->most_waiting.load() <= in_flight);
      }
    }
  }
}

TEST_CASE("a reused tree adds the simulations to its visits") {
  const auto game = load_game("connect_four");
  for (const int threads : {1, 4}) {
    Bench bench(game, uncached_config(threads, 200));
    bench.search();
    const SearchResult result = bench.search();
    CHECK(result.simulations == 200);
    CHECK(total(result.visits) == 400);
    CHECK(bench.check().wrong == 0);
  }
}

TEST_CASE("chains of search and advance keep all counts") {
  for (const char* name : {"connect_four", "othello"}) {
    const auto game = load_game(name);
    for (const int threads : {1, 4}) {
      CAPTURE(name);
      CAPTURE(threads);
      Bench bench(game, uncached_config(threads, 150));
      State state(game);
      std::uint64_t kept = 0;
      while (!state.position().outcome()) {
        const SearchResult result = bench.search(state);
        REQUIRE(result.simulations == 150);
        REQUIRE(total(result.visits) == kept + 150);
        const auto best = std::find(result.actions.begin(), result.actions.end(), result.action);
        kept = result.visits[static_cast<std::size_t>(best - result.actions.begin())] - 1;
        state.apply_action(result.action);
        bench.searcher->advance(result.action);
        const TreeCount count = bench.check();
        REQUIRE_MESSAGE(count.wrong == 0, count.first_wrong);
        wait_for_background();
        REQUIRE(count.nodes == bench.searcher->tree()->nodes());
      }
    }
  }
}

TEST_CASE("advancing to a move without a child starts a new tree there") {
  const auto game = load_game("connect_four");
  Bench bench(game, uncached_config(1, 1));
  const SearchResult result = bench.search();
  const int other = result.action == 0 ? 1 : 0;
  bench.searcher->advance(other);
  State next(game);
  next.apply_action(other);
  check_result(bench, bench.search(next), 1);
  CHECK_THROWS_AS(bench.searcher->advance(99), IllegalActionError);
}

TEST_CASE("search_many gives every state its budget") {
  const auto game = load_game("connect_four");
  const std::vector<State> states = random_states(game, 64, 8);
  const std::vector<const State*> pointers = pointers_to(states);
  for (const Mock& mock : kinds_of_mocks()) {
    for (const int threads : {1, 4}) {
      SearchConfig config = uncached_config(threads, 40);
      config.symmetry = threads == 1 ? SymmetryMode::average : SymmetryMode::fill;
      config.batch_size = 16;
      Bench bench(game, config, mock);
      const auto results = bench.searcher->search_many(pointers, config, bench.host);
      REQUIRE(results.size() == 64);
      for (const SearchResult& result : results) {
        CHECK(result.simulations == 40);
        CHECK(total(result.visits) == 40);
      }
      CHECK(bench.evaluator->seen->waiting.load() == 0);
    }
  }
}

TEST_CASE("a failing batch raises its error, and the next search is unaffected") {
  const auto game = load_game("gomoku", {{"board_size", 7LL}});
  for (const Mock& mock : kinds_of_mocks()) {
    if (mock.immediate) continue;
    for (const int threads : {1, 4}) {
      for (const bool deterministic : {false, true}) {
        for (const int fail_at : {0, 1, 7, 20}) {
          SearchConfig config = uncached_config(threads, 400);
          config.deterministic = deterministic;
          Bench bench(game, config, mock);
          bench.evaluator->seen->fail_at = fail_at;
          CHECK_THROWS_AS(bench.search(), EvaluationError);
          const TreeCount count = bench.check();
          CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
          CHECK(count.nodes == bench.searcher->tree()->nodes());
          const std::uint64_t before = bench.searcher->tree()->root().visits.load();
          bench.evaluator->seen->fail_at = -1;
          const SearchResult result = bench.search();
          CHECK(result.simulations == 400);
          CHECK(total(result.visits) == 400 + (before == 0 ? 0 : before - 1));
          CHECK(bench.check().wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("a user's game that fails midway raises its error and leaves a valid tree") {
  for (const int fail_at : {2, 3, 6}) {
    const auto game = twice_game(fail_at);
    Bench bench(game, uncached_config(2, 2000));
    CHECK_THROWS_WITH(bench.search(), "the user's game fails");
    const TreeCount count = bench.check();
    CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
    CHECK(count.nodes == bench.searcher->tree()->nodes());
    CHECK_THROWS_WITH(bench.search(), "the user's game fails");
    CHECK(bench.check().wrong == 0);
  }
}

class Stopping final : public Host {
 public:
  explicit Stopping(int polls) : left_(polls) {}
  bool poll() override { return left_-- > 0; }

 private:
  int left_;
};
class Throwing final : public Host {
 public:
  bool poll() override { throw std::runtime_error("the host gives up"); }
};

TEST_CASE("a host that returns false ends the search; its exceptions are passed on") {
  const auto game = load_game("gomoku");
  for (const int threads : {1, 4}) {
    Bench bench(game, uncached_config(threads, 1U << 31),
                {.delay = std::chrono::microseconds(100)});
    Stopping stopping(3);
    const SearchResult result = bench.searcher->search(State(game), bench.config, stopping);
    CHECK(result.stop_reason == StopReason::stopped);
    CHECK(total(result.visits) == result.simulations);
    CHECK(bench.check().wrong == 0);
    Throwing throwing;
    CHECK_THROWS_WITH(bench.searcher->search(State(game), bench.config, throwing),
                      "the host gives up");
    CHECK(bench.check().wrong == 0);
  }
}

TEST_CASE("a search whose time is over immediately has evaluated the root and can name a move") {
  const auto game = load_game("connect_four");
  for (const int threads : {1, 4}) {
    SearchConfig config = uncached_config(threads, 1);
    config.simulations.reset();
    config.seconds = 1e-9;
    Bench bench(game, config, {.delay = std::chrono::microseconds(2000)});
    const SearchResult result = bench.search();
    CHECK(result.stop_reason == StopReason::seconds);
    CHECK(result.actions.size() == 7);
    CHECK(State(game).position().is_legal(result.action));
    Stopping stopping(0);
    const SearchResult stopped =
        bench.searcher->search(random_state(game, 1, 1), uncached_config(threads, 100), stopping);
    CHECK(stopped.actions.size() == 7);
  }
}

TEST_CASE("a time budget is kept") {
  const auto game = load_game("connect_four");
  SearchConfig config = uncached_config(2, 1);
  config.simulations.reset();
  config.seconds = 0.1;
  Bench bench(game, config, {.immediate = true});
  const auto begun = std::chrono::steady_clock::now();
  const SearchResult result = bench.search();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  CHECK(result.stop_reason == StopReason::seconds);
  CHECK(took.count() >= 0.1);
  CHECK(took.count() < 0.6);
  CHECK(result.simulations > 100);
}

TEST_CASE("terminal states and states of other games are rejected, and the tree is unchanged") {
  const auto game = load_game("tic_tac_toe");
  Bench bench(game, uncached_config(1, 50));
  bench.search();
  State over(game);
  for (const int action : {0, 3, 1, 4, 2}) over.apply_action(action);
  CHECK_THROWS_AS(bench.search(over), ConfigError);
  CHECK_THROWS_AS(bench.search(State(load_game("connect_four"))), ConfigError);
  CHECK(total(bench.search().visits) == 100);
}

TEST_CASE("noise applies to the search that asks for it, and not to the next") {
  const auto game = load_game("connect_four");
  SearchConfig config = uncached_config(1, 60);
  Bench bench(game, config);
  const auto clean = bench.search().priors;
  config.dirichlet_fraction = 0.25;
  const auto noisy = bench.searcher->search(State(game), config, bench.host).priors;
  const auto other = bench.searcher->search(State(game), config, bench.host).priors;
  CHECK(noisy != clean);
  CHECK(noisy != other);  // each search has its own stream
  double sum = 0.0;
  for (const float prior : noisy) sum += prior;
  CHECK(sum == doctest::Approx(1.0).epsilon(0.002));
  CHECK(bench.search().priors == clean);
  CHECK(bench.check().wrong == 0);
}

TEST_CASE("the solver proves the root, and the search ends there") {
  const auto game = load_game("tic_tac_toe");
  const State corner = after(game, {0, 4, 8});
  for (const int threads : {1, 2, 8}) {
    SearchConfig config = uncached_config(threads, 100000);
    config.solver = true;
    Patient host;
    Searcher searcher(game, std::make_shared<UniformEvaluator>(), config);
    const SearchResult result = searcher.search(corner, config, host);
    CHECK(result.stop_reason == StopReason::proven);
    CHECK(result.proven == 0);
    CHECK(result.value == 0.0);
    const TreeCount count = check_tree(*searcher.tree());
    CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
    const SearchResult again = searcher.search(corner, config, host);
    CHECK(again.simulations == 0);
    CHECK(again.proven == 0);
  }
}

TEST_CASE("known draws do not absorb the simulations: a few per node prove tic-tac-toe") {
  const auto game = load_game("tic_tac_toe");
  for (const int batch : {1, 8, 32}) {
    SearchConfig config = uncached_config(2, 200000);
    config.solver = true;
    config.batch_size = batch;
    Patient host;
    Searcher rollout(game, std::make_shared<RolloutEvaluator>(1), config);
    for (const int first : {0, 1, 4}) {
      const SearchResult result = rollout.search(after(game, {first}), config, host);
      CHECK(result.proven == 0);
      CHECK(result.simulations <
            50 * result.nodes);  // hundreds per node if known draws absorbed them
    }
  }
}

TEST_CASE("the solver proves results that an earlier search without it has reached") {
  const auto game = load_game("tic_tac_toe");
  const State corner = after(game, {0, 4, 8});
  SearchConfig config = uncached_config(1, 20000);
  Patient host;
  Searcher searcher(game, std::make_shared<UniformEvaluator>(), config);
  searcher.search(corner, config, host);
  config.solver = true;
  config.simulations = 100000;
  CHECK(searcher.search(corner, config, host).proven == 0);
}

TEST_CASE("a small memory is filled and never exceeded, and the search continues") {
  const auto game = load_game("go", {{"board_size", 9LL}});
  for (const int threads : {1, 4}) {
    SearchConfig config = uncached_config(threads, 60000);
    config.memory_limit = kLeastMemory;
    Bench bench(game, config, {.answered = 0.9});
    const SearchResult result = bench.search();
    CHECK(result.simulations == 60000);
    CHECK(bench.searcher->tree()->root().visits.load() == 60001);
    CHECK(total(result.visits) == 60000);
    CHECK(bench.searcher->stats().bytes <= kLeastMemory);
    CHECK(bench.searcher->stats().refusals > 0);
    const TreeCount count = bench.check(false);
    CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
    CHECK(count.nodes == result.nodes);
  }
}

TEST_CASE("a full memory does not prevent the search of another state") {
  const auto game = load_game("go", {{"board_size", 9LL}});
  SearchConfig config = uncached_config(4, 40000);
  config.memory_limit = kLeastMemory;
  Bench bench(game, config, {.answered = 0.9});
  bench.search();
  // Fewer threads, so some of the earlier ones do not take part.
  config.threads = 1;
  config.simulations = 500;
  const State other = random_state(game, 5, 3);
  const SearchResult fresh = bench.searcher->search(other, config, bench.host);
  CHECK(fresh.simulations == 500);
  CHECK(total(fresh.visits) == 500);
  CHECK(fresh.nodes > 300);
}

TEST_CASE("a full memory does not prevent search_many") {
  const auto game = load_game("go", {{"board_size", 9LL}});
  SearchConfig config = uncached_config(4, 40000);
  config.memory_limit = kLeastMemory;
  Bench bench(game, config, {.answered = 0.9});
  bench.search();
  config.simulations = 50;
  const std::vector<State> states = random_states(game, 8, 5);
  const std::vector<const State*> pointers = pointers_to(states);
  for (const SearchResult& result : bench.searcher->search_many(pointers, config, bench.host)) {
    CHECK(total(result.visits) == 50);
    CHECK(result.action != kNoAction);
  }
}

TEST_CASE("a long game at the memory limit has room for new nodes") {
  const auto game = load_game("go", {{"board_size", 9LL}});
  SearchConfig config = uncached_config(2, 6000);
  config.memory_limit = kLeastMemory;
  Bench bench(game, config, {.answered = 0.95});
  State state(game);
  for (int ply = 0; ply < 40; ++ply) {
    const SearchResult result = bench.search(state);
    REQUIRE(result.simulations == 6000);
    CHECK(bench.searcher->stats().bytes <= kLeastMemory);
    state.apply_action(result.action);
    // Two passes; the meeting of threads decides where. A winning pass takes nearly all visits.
    if (state.position().outcome()) break;
    CAPTURE(ply);
    CHECK(result.nodes >
          300);  // about 12,000 fit; if dropped nodes were not freed, hardly any would be left
    bench.searcher->advance(result.action);
    wait_for_background();
  }
}

TEST_CASE("leaf numbers differ between searches, so playouts do too") {
  const auto game = load_game("connect_four");
  SearchConfig config = uncached_config(1, 30);
  config.reuse_tree = false;
  Searcher searcher(game, std::make_shared<RolloutEvaluator>(1), config);
  Patient host;
  const SearchResult first = searcher.search(State(game), config, host);
  const SearchResult second = searcher.search(State(game), config, host);
  CHECK(first.q != second.q);
  Searcher again(game, std::make_shared<RolloutEvaluator>(1), config);
  CHECK(again.search(State(game), config, host).q == first.q);
  config.seed = 7;
  Searcher other(game, std::make_shared<RolloutEvaluator>(1), uncached_config(1, 30));
  const SearchResult seeded = other.search(State(game), config, host);
  CHECK(seeded.q != first.q);  // the seed of one call applies to its playouts too
}

}  // namespace
}  // namespace pyengine
