/// Endgame solving at leaves, with every rule and several threads, and its interruption by the
/// caller.
#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>

#include "eval/simple.h"
#include "search_fixtures.h"
#include "tree_check.h"

namespace pyengine {
namespace {

using namespace search_test;

constexpr Algorithm kAlgorithms[] = {Algorithm::puct, Algorithm::gumbel, Algorithm::uct,
                                     Algorithm::flat_ucb};

SearchConfig solving(Algorithm algorithm, int threads, int empties) {
  SearchConfig config;
  config.algorithm = algorithm;
  config.threads = threads;
  config.endgame_solver_empties = empties;
  config.cache_entries = 0;
  return config;
}

/// Reads the result so far at each poll and ends the search at the third.
class Impatient final : public Host {
 public:
  explicit Impatient(const Searcher& searcher, bool throws = false)
      : searcher_(searcher), throws_(throws) {}
  bool poll() override {
    static_cast<void>(searcher_.progress());
    if (++polls_ < 3) return true;
    if (throws_) throw std::runtime_error("interrupted");
    return false;
  }

 private:
  const Searcher& searcher_;
  const bool throws_;
  int polls_ = 0;
};

TEST_SUITE("concurrent") {
  TEST_CASE("endgames are solved with every rule and any number of threads") {
    const auto game = load_game("connect_four");
    for (const Algorithm algorithm : kAlgorithms) {
      for (const int threads : {1, 4}) {
        CAPTURE(static_cast<int>(algorithm));
        CAPTURE(threads);
        SearchConfig config = solving(algorithm, threads, 14);
        config.simulations = 400;
        Searcher searcher(game, std::make_shared<RolloutEvaluator>(), config);
        Patient host;
        State state = random_state(game, 22, 5);
        for (int ply = 0; ply < 3 && !state.position().outcome(); ++ply) {
          const SearchResult result = searcher.search(state, config, host);
          REQUIRE((result.simulations == 400 || result.stop_reason == StopReason::proven));
          if (algorithm != Algorithm::flat_ucb) {
            const TreeCount count = check_tree(*searcher.tree());
            REQUIRE_MESSAGE(count.wrong == 0, count.first_wrong);
          }
          state.apply_action(result.action);
          searcher.advance(result.action);
        }
      }
    }
  }

  TEST_CASE("an endgame that takes hours is abandoned when the caller ends the search") {
    const auto game = load_game("othello");
    const State state(game);
    for (const Algorithm algorithm : kAlgorithms) {
      for (const int threads : {1, 4}) {
        CAPTURE(static_cast<int>(algorithm));
        CAPTURE(threads);
        const SearchConfig config = solving(algorithm, threads, 64);
        Searcher searcher(game, std::make_shared<RolloutEvaluator>(), config);
        Impatient host(searcher);
        CHECK(searcher.search(state, config, host).stop_reason == StopReason::stopped);
        Impatient interrupted(searcher, true);
        CHECK_THROWS_AS(searcher.search(state, config, interrupted), std::runtime_error);
        SearchConfig timed = config;
        timed.seconds = 0.01;
        Patient patient;
        const State* const two[] = {&state, &state};
        for (const SearchResult& result : searcher.search_many(two, timed, patient)) {
          CHECK(result.stop_reason == StopReason::seconds);
        }
      }
    }
  }
}

}  // namespace
}  // namespace pyengine
