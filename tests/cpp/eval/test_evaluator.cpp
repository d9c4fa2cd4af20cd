/// The requirements on an evaluator, shown with a minimal one and a remote one.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "eval/evaluate_states.h"
#include "remote_evaluator.h"
#include "search_fixtures.h"
#include "tree_check.h"

namespace pyengine {
namespace {

using namespace search_test;
using namespace remote_test;
using std::chrono::microseconds;

float value_of(std::uint64_t position) { return static_cast<float>(1.8 * unit(position) - 0.9); }

/// A minimal evaluator: equal priors and a value that is a function of the position.
class ValueOfHash final : public Evaluator {
 public:
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame>,
                                       const BindOptions&) override {
    class Bound final : public BoundEvaluator {
      [[nodiscard]] EvaluatorTraits traits() const noexcept override {
        return {.answering = Answering::immediate};
      }
      int request(EvalBatch& batch, const AnyPosition& position) override {
        batch.next().equal_priors = true;
        batch.next().value = value_of(position.hash());
        return kAnswered;
      }
    };
    return std::make_unique<Bound>();
  }
};

/// A server with the answers of ValueOfHash.
std::shared_ptr<Server> server() {
  const auto answer = [](const Question& question) {
    const float prior = 1.0F / static_cast<float>(question.legal.size());
    return Reply{std::vector<float>(question.legal.size(), prior), value_of(question.position)};
  };
  return std::make_shared<Server>(answer, microseconds(20));
}

SearchConfig threaded_config(int threads) {
  SearchConfig config;
  config.threads = threads;
  config.simulations = 400;
  config.memory_limit = 16U << 20;
  config.solver = false;
  return config;
}

/// Visits of the root's moves after a search of the initial position.
std::vector<std::uint32_t> visits(const std::shared_ptr<Evaluator>& evaluator,
                                  const SearchConfig& config) {
  const auto game = load_game("gomoku", {{"board_size", 7LL}});
  Searcher searcher(game, evaluator, config);
  Patient host;
  const SearchResult result = searcher.search(State(game), config, host);
  const TreeCount count = check_tree(*searcher.tree());
  CHECK_MESSAGE(count.wrong == 0, count.first_wrong);
  CHECK(total(result.visits) == config.simulations);
  return result.visits;
}

}  // namespace

TEST_CASE("a minimal evaluator answers every leaf immediately") {
  const std::vector<State> states = random_states(load_game("connect_four"), 20, 6);
  const auto bound = ValueOfHash().bind(states[0].game(), {});
  std::vector<float> policy(states.size() * 7);
  std::vector<float> value(states.size());
  evaluate_states(*bound, pointers_to(states), policy, value);
  for (std::size_t i = 0; i < states.size(); ++i) {
    CHECK(value[i] == value_of(states[i].position().hash()));
  }
  CHECK(visits(std::make_shared<ValueOfHash>(), threaded_config(4)).size() > 0);
}

TEST_SUITE("concurrent") {
  TEST_CASE("a remote evaluator works with any number of threads") {
    const auto remote = std::make_shared<RemoteEvaluator>(server());
    for (const int threads : {1, 2, 4, 8}) visits(remote, threaded_config(threads));
  }

  TEST_CASE("with one leaf in flight, remote and local evaluators give the same visits") {
    SearchConfig config = threaded_config(1);
    config.in_flight = 1;
    const std::vector<std::uint32_t> local = visits(std::make_shared<ValueOfHash>(), config);
    const auto remote = std::make_shared<RemoteEvaluator>(server());
    for (const int threads : {1, 4}) {
      config.threads = threads;
      CHECK(visits(remote, config) == local);
    }
  }

  TEST_CASE("a server that is down ends the search with an error, and the next search works") {
    const auto game = load_game("gomoku", {{"board_size", 7LL}});
    const auto line = server();
    const SearchConfig config = threaded_config(4);
    Searcher searcher(game, std::make_shared<RemoteEvaluator>(line), config);
    Patient host;
    for (int round = 0; round < 5; ++round) {
      line->down = true;
      CHECK_THROWS_WITH_AS(searcher.search(State(game), config, host),
                           doctest::Contains("does not answer"), EvaluationError);
      CHECK(check_tree(*searcher.tree()).wrong == 0);
      line->down = false;
      CHECK(searcher.search(State(game), config, host).simulations == config.simulations);
    }
  }
}

}  // namespace pyengine
