/// Targets for ThreadSanitizer and AddressSanitizer: searches by many threads, stops, failures and
/// re-rooting with the background thread running, all at random times.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/janitor.h"
#include "eval/simple.h"
#include "search_fixtures.h"
#include "tree_check.h"

namespace pyengine {
namespace {

using namespace search_test;
using std::chrono::microseconds;

struct Setting {
  int threads;
  Mock mock;
  SymmetryMode symmetry = SymmetryMode::random;
  bool deterministic = false;
  int in_flight = 0;  ///< 0: the default
  bool graph = false;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all{
      {2, {}},
      {4, {.answered = 0.5}},
      {16, {.delay = microseconds(30)}},
      {4, {.runs_on = on_device(2), .delay = microseconds(50)}, SymmetryMode::fill},
      {3, {.runs_on = {EvalThread::calling}, .under_symmetries = true}, SymmetryMode::average},
      {8, {.under_symmetries = true}, SymmetryMode::root_average},
      {4, {.delay = microseconds(10)}, SymmetryMode::none, true},
      {16, {.runs_on = on_device(2), .answered = 0.3}, SymmetryMode::random, true},
      {4, {.runs_on = on_device(2), .answered = 0.2}, SymmetryMode::random, false, 512},
      {16, {.delay = microseconds(30)}, SymmetryMode::random, false, 64, true},
      {4, {.answered = 0.5}, SymmetryMode::random, false, 0, true},
      {4, {.runs_on = on_device(2), .delay = microseconds(20)}, SymmetryMode::none, true, 0, true},
  };
  return all;
}

SearchConfig config_of(const Setting& setting, std::uint64_t simulations) {
  SearchConfig config;
  config.threads = setting.threads;
  config.simulations = simulations;
  config.symmetry = setting.symmetry;
  config.deterministic = setting.deterministic;
  if (setting.in_flight != 0) config.in_flight = config.batch_size = setting.in_flight;
  config.graph = setting.graph;
  config.cache_entries = 0;
  config.memory_limit = 16U << 20;
  return config;
}

/// Runs `work` on another thread while in scope.
class Beside {
 public:
  template <class Work>
  explicit Beside(Work work)
      : thread_([this, work] {
          for (std::uint64_t turn = 0; !over_.load(); ++turn) work(turn);
        }) {}
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

void nap(std::uint64_t random, std::uint64_t most_us) {
  std::this_thread::sleep_for(microseconds(mixed(random) % most_us));
}

void check_sound(const Searcher& searcher, bool exact = true) {
  const TreeCount count = check_tree(*searcher.tree(), exact);
  REQUIRE_MESSAGE(count.wrong == 0, count.first_wrong);
}

TEST_SUITE("concurrent") {
  TEST_CASE("trees stay sound while another thread reads the statistics") {
    const auto game = load_game("connect_four");
    for (const Setting& setting : settings()) {
      CAPTURE(setting.threads);
      const SearchConfig config = config_of(setting, 250);
      Searcher searcher(game, std::make_shared<MockEvaluator>(setting.mock), config);
      Patient host;
      const Beside reader([&](std::uint64_t turn) {
        static_cast<void>(searcher.stats());
        nap(turn, 200);
      });
      for (std::uint64_t round = 0; round < 2; ++round) {
        State state = random_state(game, 4, round);
        for (int ply = 0; ply < 6 && !state.position().outcome(); ++ply) {
          const SearchResult result = searcher.search(state, config, host);
          REQUIRE((result.simulations == 250 || result.stop_reason == StopReason::proven));
          state.apply_action(result.action);
          searcher.advance(
              result.action);  // continue immediately, while the background thread is still freeing
        }
        check_sound(searcher);
      }
    }
  }

  TEST_CASE("another thread can stop a search at any time") {
    const auto game = load_game("gomoku", {{"board_size", 9LL}});
    std::uint64_t seed = 0;
    for (const Setting& setting : settings()) {
      CAPTURE(setting.threads);
      SearchConfig config = config_of(setting, 1U << 30);
      config.memory_limit = 1U << 30;  // it is unknown how far a search gets before it is stopped
      Searcher searcher(game, std::make_shared<MockEvaluator>(setting.mock), config);
      Patient host;
      for (int round = 0; round < 3; ++round) {
        const Beside stopper([&](std::uint64_t turn) {
          nap(++seed * 31 + turn, 6000);
          searcher.stop();
        });
        const SearchResult result = searcher.search(State(game), config, host);
        REQUIRE((result.stop_reason == StopReason::stopped ||
                 result.stop_reason == StopReason::proven));
        REQUIRE(result.actions.size() == 81);
        check_sound(searcher);
      }
    }
  }

  TEST_CASE("searches succeed after batches that fail at random times") {
    const auto game = load_game("connect_four");
    for (const Setting& setting : settings()) {
      CAPTURE(setting.threads);
      const SearchConfig config = config_of(setting, 200);
      const auto evaluator = std::make_shared<MockEvaluator>(setting.mock);
      Searcher searcher(game, evaluator, config);
      Patient host;
      for (std::uint64_t round = 0; round < 8; ++round) {
        const int now = evaluator->seen->batches.load();
        evaluator->seen->fail_at = now + static_cast<int>(mixed(round) % 25);
        const State state = random_state(game, 3, round / 2);
        try {
          searcher.search(state, config, host);
        } catch (const EvaluationError&) {
        }
        check_sound(searcher);
        evaluator->seen->fail_at = -1;
        searcher.search(state, config, host);
        check_sound(searcher);
      }
    }
  }

  TEST_CASE("many threads search many trees and report a failed batch") {
    const auto game = load_game("connect_four");
    const std::vector<State> states = random_states(game, 24, 6);
    const std::vector<const State*> pointers = pointers_to(states);
    for (const Setting& setting : settings()) {
      const SearchConfig config = config_of(setting, 40);
      const auto evaluator = std::make_shared<MockEvaluator>(setting.mock);
      Searcher searcher(game, evaluator, config);
      Patient host;
      for (const SearchResult& result : searcher.search_many(pointers, config, host)) {
        REQUIRE((result.simulations == 40 || result.stop_reason == StopReason::proven));
      }
      evaluator->seen->fail_at = evaluator->seen->batches.load() + 5;
      CHECK_THROWS_AS(searcher.search_many(pointers, config, host), EvaluationError);
    }
  }

  TEST_CASE("with many trees each one is searched as in a serial search") {
    const auto game = load_game("gomoku", {{"board_size", 7LL}});
    const std::vector<State> states = random_states(game, 120, 4);
    const std::vector<const State*> pointers = pointers_to(states);
    const auto visits_of = [&](const Mock& mock, int threads, int in_flight) {
      SearchConfig config = config_of({threads, {}}, 60);
      config.in_flight = in_flight;
      config.symmetry = SymmetryMode::none;
      Searcher searcher(game, std::make_shared<MockEvaluator>(mock), config);
      Patient host;
      std::vector<std::vector<std::uint32_t>> visits;
      for (const SearchResult& result : searcher.search_many(pointers, config, host)) {
        visits.push_back(result.visits);
      }
      return visits;
    };
    const auto serial = visits_of({}, 1, 1);
    const std::vector<Mock> waiting{{.runs_on = on_device(2), .delay = microseconds(300)},
                                    {.runs_on = {EvalThread::calling}, .delay = microseconds(300)}};
    for (const Mock& mock : waiting) {
      for (const int threads : {1, 2, 4, 16}) {
        CAPTURE(mock.runs_on.device_batches);
        CAPTURE(threads);
        const auto found = visits_of(mock, threads, 16);
        int same = 0;
        for (std::size_t i = 0; i < found.size(); ++i) same += found[i] == serial[i] ? 1 : 0;
        // At the end of the run few trees are left; their number depends on which threads are
        // delayed.
        CHECK(same >= 108);
      }
    }
  }

  TEST_CASE("with few trees the evaluator still gets full batches") {
    const auto game = load_game("gomoku", {{"board_size", 9LL}});
    const std::vector<State> states = random_states(game, 2, 4);
    const std::vector<const State*> pointers = pointers_to(states);
    for (const Mock& mock : {Mock{.runs_on = on_device(2), .delay = microseconds(100)},
                             Mock{.runs_on = {EvalThread::calling}, .delay = microseconds(100)}}) {
      const auto evaluator = std::make_shared<MockEvaluator>(mock);
      const SearchConfig config = config_of({4, {}}, 800);
      Searcher searcher(game, evaluator, config);
      Patient host;
      searcher.search_many(pointers, config, host);
      const double fill =
          static_cast<double>(evaluator->seen->rows.load()) / evaluator->seen->batches;
      CHECK(fill > 5.0);  // rows, of at most 8
      CHECK(evaluator->seen->most_waiting.load() > 8);
    }
  }

  TEST_CASE("leaves of one tree are divided among all workers if workers evaluate") {
    const auto game = load_game("gomoku", {{"board_size", 9LL}});
    const auto evaluator =
        std::make_shared<MockEvaluator>(Mock{.delay = std::chrono::milliseconds(1)});
    const SearchConfig config = config_of({16, {}}, 400);  // 16 leaves in flight
    Searcher searcher(game, evaluator, config);
    Patient host;
    const SearchResult result = searcher.search(State(game), config, host);
    CHECK(total(result.visits) == 400);
    CHECK(evaluator->seen->largest.load() == 1);
    check_sound(searcher);
  }

  TEST_CASE("an error is raised if the first of many batches fails while no tree has a root") {
    const auto game = load_game("connect_four");
    const State state(game);
    const std::vector<const State*> pointers(64, &state);
    for (const int device_batches : {0, 1}) {
      for (const int threads : {1, 3}) {
        const auto evaluator = std::make_shared<MockEvaluator>(
            Mock{.runs_on = on_device(device_batches), .delay = std::chrono::milliseconds(5)});
        evaluator->seen->fail_at = 0;
        Searcher searcher(game, evaluator, config_of({threads, {}}, 50));
        Patient host;
        CHECK_THROWS_AS(searcher.search_many(pointers, config_of({threads, {}}, 50), host),
                        EvaluationError);
      }
    }
  }

  TEST_CASE("evaluators without rows (uniform, rollout) serve several trees and threads") {
    const auto game = load_game("othello");
    const std::vector<State> states = random_states(game, 6, 40);
    const std::vector<const State*> pointers = pointers_to(states);
    SearchConfig config;
    config.threads = 4;
    config.simulations = 1000;
    config.memory_limit = 32U << 20;
    Patient host;
    Searcher uniform(game, std::make_shared<UniformEvaluator>(), config);
    for (const SearchResult& result : uniform.search_many(pointers, config, host)) {
      CHECK((result.simulations == 1000 || result.stop_reason == StopReason::proven));
    }
    config.simulations = 100;
    Searcher rollout(game, std::make_shared<RolloutEvaluator>(1), config);
    for (const State& state : states) rollout.search(state, config, host);
    check_sound(rollout);
  }

  TEST_CASE("several threads stay within the memory limit while another reads the counters") {
    const auto game = load_game("go", {{"board_size", 9LL}});
    for (const int threads : {2, 8}) {
      SearchConfig config = config_of({threads, {}}, 14000);
      config.memory_limit = kLeastMemory;
      config.solver = false;
      Searcher searcher(game, std::make_shared<MockEvaluator>(Mock{.answered = 0.9}), config);
      Patient host;
      std::atomic<std::uint64_t> most{0};
      State state(game);
      {
        const Beside reader([&](std::uint64_t turn) {
          most = std::max(most.load(), searcher.stats().bytes);
          nap(turn, 300);
        });
        for (int ply = 0; ply < 3; ++ply) {
          const SearchResult result = searcher.search(state, config, host);
          REQUIRE(result.simulations == 14000);
          check_sound(searcher, false);
          state.apply_action(result.action);
          searcher.advance(result.action);
        }
      }
      CHECK(most.load() <= kLeastMemory);
    }
  }

  TEST_CASE("a second search is rejected while the first runs and does no harm") {
    const auto game = load_game("gomoku");
    SearchConfig config = config_of({2, {}}, 1U << 30);
    Searcher searcher(game, std::make_shared<MockEvaluator>(Mock{.delay = microseconds(100)}),
                      config);
    Patient host;
    std::thread first([&] {
      const SearchResult result = searcher.search(State(game), config, host);
      CHECK(result.stop_reason == StopReason::stopped);
    });
    while (searcher.stats().nodes < 20) std::this_thread::yield();
    CHECK_THROWS_AS(searcher.search(State(game), config, host), EngineError);
    CHECK_THROWS_AS(searcher.advance(0), EngineError);
    CHECK_THROWS_AS(searcher.clear(), EngineError);
    searcher.stop();
    first.join();
    check_sound(searcher);
  }

  TEST_CASE("engines are created and destroyed while the background thread frees trees of others") {
    const auto game = load_game("connect_four");
    std::vector<std::thread> users;
    for (int user = 0; user < 3; ++user) {
      users.emplace_back([&] {
        for (int round = 0; round < 4; ++round) {
          const SearchConfig config = config_of({2, {}}, 150);
          Searcher searcher(game, std::make_shared<MockEvaluator>(), config);
          Patient host;
          const SearchResult result = searcher.search(State(game), config, host);
          searcher.advance(result.action);
          if (round % 2 == 0) searcher.clear();
        }
      });
    }
    for (std::thread& user : users) user.join();
    wait_for_background();
  }

  TEST_CASE(
      "a deterministic search is the same for any number of threads, even at the memory limit") {
    const auto game = load_game("go", {{"board_size", 9LL}});
    for (const bool tight : {false, true}) {
      std::vector<std::vector<std::uint32_t>> found;
      for (const int threads : {1, 2, 4, 16}) {
        SearchConfig config =
            config_of({threads, {}, SymmetryMode::random, true}, tight ? 9000 : 300);
        config.memory_limit = tight ? kLeastMemory : 64U << 20;
        config.dirichlet_fraction = 0.25;
        Searcher searcher(game, std::make_shared<MockEvaluator>(Mock{.under_symmetries = true}),
                          config);
        Patient host;
        std::vector<std::uint32_t> all;
        State state(game);
        for (int ply = 0; ply < 3; ++ply) {
          const SearchResult result = searcher.search(state, config, host);
          all.insert(all.end(), result.visits.begin(), result.visits.end());
          all.push_back(static_cast<std::uint32_t>(result.nodes));
          all.push_back(static_cast<std::uint32_t>(result.evaluations));
          state.apply_action(result.action);
          searcher.advance(result.action);
        }
        found.push_back(all);
      }
      for (const auto& other : found) CHECK(other == found[0]);
    }
  }

  TEST_CASE(
      "many deterministic trees are the same for any number of threads, even at the memory limit") {
    const auto game = load_game("go", {{"board_size", 9LL}});
    const std::vector<State> states = random_states(game, 24, 6);
    const std::vector<const State*> pointers = pointers_to(states);
    for (const int batch :
         {8, 4096}) {  // large batches take more memory the more threads there are
      std::vector<std::vector<std::uint64_t>> found;
      for (const int threads : {1, 2, 4, 4, 16}) {
        SearchConfig config = config_of({threads, {}, SymmetryMode::random, true}, 1200);
        config.batch_size = batch;
        config.memory_limit = kLeastMemory;
        config.dirichlet_fraction = 0.25;
        SearchConfig own = config;
        own.simulations = 12000;
        Searcher searcher(game, std::make_shared<MockEvaluator>(Mock{.under_symmetries = true}),
                          config);
        Patient host;
        std::vector<std::uint64_t> all;
        const auto keep = [&](const SearchResult& result) {
          all.insert(all.end(), result.visits.begin(), result.visits.end());
          all.push_back(result.nodes);
          all.push_back(result.evaluations);
        };
        for (int round = 0; round < 2; ++round) {
          for (const auto& result : searcher.search_many(pointers, config, host)) keep(result);
          all.push_back(searcher.stats().refusals);
          CHECK(all.back() > 0);
          keep(searcher.search(states[0], own, host));
          all.push_back(searcher.stats().refusals);
        }
        CHECK(searcher.stats().bytes <= kLeastMemory);
        found.push_back(all);
      }
      CAPTURE(batch);
      for (const auto& other : found) CHECK(other == found[0]);
    }
  }
}

TEST_CASE("random stops, failures and advances for half a minute" * doctest::test_suite("slow")) {
  const auto game = load_game("othello");
  const auto begun = std::chrono::steady_clock::now();
  for (std::uint64_t seed = 0; std::chrono::steady_clock::now() - begun < std::chrono::seconds(30);
       ++seed) {
    const Setting& setting = settings()[seed % settings().size()];
    SearchConfig config = config_of(setting, 20 + mixed(seed) % 800);
    const auto evaluator = std::make_shared<MockEvaluator>(setting.mock);
    Searcher searcher(game, evaluator, config);
    Patient host;
    const Beside stopper([&](std::uint64_t turn) {
      nap(seed * 77 + turn, 20000);
      searcher.stop();
    });
    State state(game);
    for (std::uint64_t ply = 0; ply < 12 && !state.position().outcome(); ++ply) {
      const bool fails = mixed(seed + ply) % 3 == 0;
      evaluator->seen->fail_at =
          fails ? evaluator->seen->batches.load() + static_cast<int>(mixed(ply) % 20) : -1;
      try {
        const SearchResult result = searcher.search(state, config, host);
        REQUIRE(result.action != kNoAction);
        state.apply_action(result.action);
        searcher.advance(result.action);
      } catch (const EvaluationError&) {
        check_sound(searcher);
      }
    }
  }
}

}  // namespace
}  // namespace pyengine
