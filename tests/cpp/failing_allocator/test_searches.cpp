/// Searches that run out of memory at every allocation: each ends with an error or its result,
/// leaves a valid tree, and the next search is unaffected.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/janitor.h"
#include "eval/mixed.h"
#include "eval/modelled_device.h"
#include "eval/network/network.h"
#include "eval/simple.h"
#include "failing_allocator/allocator.h"
#include "search_fixtures.h"
#include "selfplay/self_play.h"
#include "tree_check.h"

namespace pyengine {
namespace {

using namespace search_test;
using failing_allocator::Failing;
using failing_allocator::Failures;

/// Ends the program if a case hangs, because nothing else could.
class Watchdog {
 public:
  explicit Watchdog(std::string what) : thread_([this, what = std::move(what)] { watch(what); }) {}
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    over_ = true;
    thread_.join();
  }
  void still_alive() { seen_ = std::chrono::steady_clock::now(); }

 private:
  void watch(const std::string& what) {
    while (!over_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (std::chrono::steady_clock::now() - seen_.load() < std::chrono::seconds(60)) continue;
      MESSAGE("a search hangs: " << what);
      std::abort();
    }
  }
  std::atomic<bool> over_{false};
  std::atomic<std::chrono::steady_clock::time_point> seen_{std::chrono::steady_clock::now()};
  std::thread thread_;
};

#if defined(__SANITIZE_THREAD__)
constexpr std::int64_t kEach = 30;  // it detects races, of which a path has few, at a high cost
#else
constexpr std::int64_t kEach = 150;
#endif

/// Indices of allocations that fail in turn: every early one, then increasingly sparse.
std::int64_t next_number(std::int64_t number) {
  return number < kEach ? number + 1 : number + 1 + number * 6 / kEach;
}

/// Runs `attempt` with one allocation after another failing, until no more are made; after each
/// run, calls `afterwards` with memory available.
void with_failures(const std::string& what, const std::function<void()>& attempt,
                   const std::function<void()>& afterwards) {
  for (const Failures failures : {Failures::one, Failures::all}) {
    Watchdog watchdog(what);
    bool failed = true;
    for (std::int64_t number = 0; failed; number = next_number(number)) {
      {
        const Failing failing(number, failures);
        try {
          attempt();
        } catch (const std::exception&) {
          // bad_alloc, or the error of a thread that could not be started.
        }
        failed = Failing::has_failed();
      }
      wait_for_background();
      watchdog.still_alive();
      CAPTURE(number);
      CAPTURE(static_cast<int>(failures));
      afterwards();
    }
  }
}

struct Case {
  std::string name;
  std::shared_ptr<Evaluator> evaluator;
  int threads = 1;
  SymmetryMode symmetry = SymmetryMode::random;
  bool deterministic = false;
  std::uint64_t cache_entries = 0;
  double noise = 0.0;
  int in_flight = 0;  ///< 0: the default
  bool graph = false;
};

std::shared_ptr<Evaluator> mock(Mock behaviour) {
  return std::make_shared<MockEvaluator>(behaviour);
}

std::shared_ptr<Evaluator> network(int streams) {
  const DeviceModel model{.latency = 0.0, .per_row = 0.0, .streams = streams};
  return std::make_shared<NetworkEvaluator>(std::make_shared<ModelledDevice>(model), ModelSpec());
}

std::vector<Case> cases() {
  const auto playouts = std::make_shared<RolloutEvaluator>(1);
  return {
      {"one worker", mock({})},
      {"workers that meet", mock({.answered = 0.3}), 4},
      {"no rows", std::make_shared<UniformEvaluator>()},
      {"playouts", playouts, 2},
      {"noise", mock({}), 2, SymmetryMode::none, false, 0, 0.25},
      {"device", mock({.runs_on = on_device(2)}), 3},
      {"joint walks", mock({.runs_on = on_device(2), .answered = 0.2}), 2, SymmetryMode::none,
       false, 0, 0.0, 512},
      {"graph", mock({}), 3, SymmetryMode::none, false, 0, 0.0, 64, true},
      {"calling thread", mock({.runs_on = {EvalThread::calling}}), 3},
      {"fill", mock({.under_symmetries = true}), 2, SymmetryMode::fill},
      {"all symmetries", mock({.under_symmetries = true}), 2, SymmetryMode::average},
      {"deterministic", mock({}), 3, SymmetryMode::random, true},
      {"network", network(0), 2, SymmetryMode::random, false, 1000},
      {"network on a device", network(2), 2, SymmetryMode::fill, false, 1000},
      {"mix", std::make_shared<MixedEvaluator>(network(0), playouts, 0.5), 2, SymmetryMode::random,
       false, 1000},
  };
}

SearchConfig config_of(const Case& one, std::uint64_t simulations) {
  SearchConfig config;
  config.threads = one.threads;
  config.simulations = simulations;
  config.symmetry = one.symmetry;
  config.deterministic = one.deterministic;
  config.cache_entries = one.cache_entries;
  config.dirichlet_fraction = one.noise;
  if (one.in_flight != 0) config.in_flight = one.in_flight;
  config.graph = one.graph;
  config.memory_limit = 32U << 20;
  config.seed = 7;
  return config;
}

void search_without_memory(const State& state, const Case& one, std::uint64_t simulations) {
  CAPTURE(one.name);
  const SearchConfig config = config_of(one, simulations);
  Patient host;
  std::unique_ptr<Searcher> searcher;
  const auto check_sound = [&] {  // a failed chunk counts as the memory limit
    const bool exact = searcher->stats().refusals == 0;
    const TreeCount count = check_tree(*searcher->tree(), exact);
    CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
  };
  with_failures(
      one.name,
      [&] {
        searcher.reset();
        searcher = std::make_unique<Searcher>(state.game(), one.evaluator, config);
        State now = state;
        const SearchResult result = searcher->search(now, config, host);
        now.apply_action(result.action);
        searcher->advance(result.action);
        searcher->search(now, config, host);
      },
      [&] {
        if (searcher == nullptr) return;
        if (searcher->tree() != nullptr) check_sound();
        const SearchResult again = searcher->search(state, config, host);
        CHECK(total(again.visits) >= simulations);
        CHECK((again.stop_reason == StopReason::simulations ||
               again.stop_reason == StopReason::proven));
        check_sound();
      });
}

TEST_SUITE("concurrent") {
  TEST_CASE("a search that runs out of memory ends, and the next one is unaffected") {
    const State gomoku = random_state(load_game("gomoku", {{"board_size", 6LL}}), 4, 1);
    for (const Case& one : cases()) search_without_memory(gomoku, one, 60);
  }

  TEST_CASE("games whose positions store their history run out of memory like others") {
    const State go(load_game("go", {{"board_size", 5LL}}));
    for (const std::size_t i : {0U, 1U, 3U}) search_without_memory(go, cases()[i], 40);
  }

  TEST_CASE("searches of many trees that run out of memory end, and so do the next ones") {
    const auto game = load_game("connect_four");
    const std::vector<State> states = random_states(game, 6, 4);
    const std::vector<const State*> pointers = pointers_to(states);
    for (const Case& one : cases()) {
      CAPTURE(one.name);
      const SearchConfig config = config_of(one, 24);
      Searcher searcher(game, one.evaluator, config);
      Patient host;
      with_failures(
          one.name, [&] { searcher.search_many(pointers, config, host); },
          [&] {
            const auto results = searcher.search_many(pointers, config, host);
            for (const SearchResult& result : results) {
              CHECK((total(result.visits) == 24 || result.stop_reason == StopReason::proven));
            }
          });
    }
  }

  TEST_CASE("self-play that runs out of memory ends, and its games continue") {
    const auto game = load_game("tic_tac_toe");
    for (const Case& one : cases()) {
      if (one.deterministic) continue;
      CAPTURE(one.name);
      SelfPlayConfig config;
      config.search = config_of(one, 12);
      config.concurrent_games = 4;
      Patient host;
      const auto play = std::make_unique<SelfPlay>(game, one.evaluator, config, ModelSpec());
      with_failures(
          one.name, [&] { play->run(6, host); },
          [&] {
            CHECK(play->run(2, host) == RunEnd::completed);
            const SelfPlayCounters counters = play->counters();
            CHECK(counters.begun == counters.finished);
            play->take_finished();
          });
    }
  }
}

}  // namespace
}  // namespace pyengine
