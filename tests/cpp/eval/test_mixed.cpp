/// A mix of two evaluators: the threads that evaluate its parts, and its answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "eval/evaluate_states.h"
#include "eval/mixed.h"
#include "eval/modelled_device.h"
#include "eval/network/network.h"
#include "eval/simple.h"
#include "search_fixtures.h"
#include "tree_check.h"

namespace pyengine {
namespace {

using namespace search_test;
using std::chrono::microseconds;

/// A network with a cache; its answers are a function of the position. 0 streams: no device.
std::shared_ptr<Evaluator> network(int streams = 0) {
  const DeviceModel model{.latency = 20e-6, .per_row = 0.0, .streams = streams};
  return std::make_shared<NetworkEvaluator>(std::make_shared<ModelledDevice>(model), ModelSpec{});
}

/// A stand-in for a Python evaluator: evaluated on the calling thread only.
std::shared_ptr<MockEvaluator> python_part(double answered = 0.0) {
  return std::make_shared<MockEvaluator>(
      Mock{.runs_on = {EvalThread::calling}, .answered = answered, .delay = microseconds(5)});
}

SearchConfig config_of(int threads, SymmetryMode symmetry = SymmetryMode::random) {
  SearchConfig config;
  config.threads = threads;
  config.simulations = 300;
  config.symmetry = symmetry;
  config.memory_limit = 16U << 20;
  config.reuse_tree = false;
  config.solver = false;
  return config;
}

/// Policies, then values.
std::vector<float> evaluated(BoundEvaluator& bound, const std::vector<State>& states,
                             bool average = false) {
  const std::vector<const State*> pointers = pointers_to(states);
  const auto actions = static_cast<std::size_t>(states[0].game()->shape().num_actions);
  std::vector<float> answers(states.size() * (actions + 1));
  const std::span<float> all(answers);
  evaluate_states(bound, pointers, all.first(states.size() * actions), all.last(states.size()),
                  average);
  return answers;
}

std::vector<float> evaluated(Evaluator& evaluator, const std::vector<State>& states,
                             bool average = false) {
  return evaluated(*evaluator.bind(states[0].game(), {}), states, average);
}

/// The network's policies and the mixed values.
std::vector<float> blend(std::vector<float> network, const std::vector<float>& other, float mix,
                         std::size_t states) {
  for (std::size_t i = network.size() - states; i < network.size(); ++i) {
    network[i] = (1.0F - mix) * network[i] + mix * other[i];
  }
  return network;
}

BindOptions with_cache(std::uint64_t bytes = 1U << 22) {
  BindOptions options;
  options.cache_entries = 4096;
  options.cache_bytes = bytes;
  return options;
}

/// Requests batch.next() directly.
int ask(BoundEvaluator& bound, EvalBatch& batch, const State& state) {
  EvalLeaf& leaf = batch.next();
  state.position().legal_actions(leaf.legal);
  leaf.to_move = state.position().to_move();
  return bound.request(batch, state.position());
}

}  // namespace

TEST_CASE("with a mix of 0 or 1 the value is that of one part") {
  const std::vector<State> states = random_states(load_game("connect_four"), 40, 8);
  const auto net = network();
  const auto mock = python_part();
  for (const bool average : {false, true}) {
    const std::vector<float> own = evaluated(*net, states, average);
    const std::vector<float> other = evaluated(*mock, states);
    for (const double mix : {0.0, 0.3, 1.0}) {
      MixedEvaluator mixed(net, mock, mix);
      CHECK(evaluated(mixed, states, average) ==
            blend(own, other, static_cast<float>(mix), states.size()));
    }
  }
}

TEST_CASE("a mix of mixes has the mixed values, on either side, cached or not") {
  const std::vector<State> states = random_states(load_game("connect_four"), 40, 8);
  const auto net = network();
  const auto inner = std::make_shared<MixedEvaluator>(net, python_part(0.5), 0.25);
  const auto mock = std::make_shared<MockEvaluator>();
  const std::vector<float> own = evaluated(*inner, states);
  const std::vector<float> other = evaluated(*mock, states);
  MixedEvaluator left(inner, mock, 0.5);
  MixedEvaluator right(mock, inner, 0.5);
  for (MixedEvaluator* mixed : {&left, &right}) {
    const auto bound = mixed->bind(states[0].game(), with_cache());
    const std::vector<float> expected = mixed == &left ? blend(own, other, 0.5F, states.size())
                                                       : blend(other, own, 0.5F, states.size());
    CHECK(evaluated(*bound, states) == expected);
    CHECK(evaluated(*bound, states) == expected);  // the network's part is cached
    CHECK(bound->traits().runs_on.calling_thread());
  }
}

TEST_CASE("a leaf waits for the other part even if the network's part is cached") {
  const State state(load_game("connect_four"));
  const auto mock = python_part();
  const auto bound = MixedEvaluator(network(), mock, 0.5).bind(state.game(), with_cache());
  const auto batch = bound->make_batch(4);
  std::vector<float> priors;
  for (const int rows : {1, 0}) {
    batch->clear();
    CHECK(ask(*bound, *batch, state) == rows);
    batch->add_next(rows);
    CHECK(batch->num_rows == rows);
    bound->evaluate(*batch);
    bound->decode(*batch);
    if (rows == 1) priors = batch->leaves[0].priors;
    CHECK(batch->leaves[0].priors == priors);
  }
  CHECK(mock->seen->rows == 2);
  CHECK(stats_of(*bound).rows == 1);
}

TEST_CASE("neither part evaluates rows of a failed leaf") {
  const State state(load_game("connect_four"));
  const State later = random_state(state.game(), 5, 1);
  const auto own = std::make_shared<MockEvaluator>();
  const auto other = std::make_shared<MockEvaluator>();
  const auto bound = MixedEvaluator(own, other, 0.5).bind(state.game(), {});
  const auto batch = bound->make_batch(4);
  batch->add_next(ask(*bound, *batch, state));
  CHECK(ask(*bound, *batch, state) == 1);  // dropped and replaced by another leaf
  SUBCASE("another leaf takes its place") { batch->add_next(ask(*bound, *batch, later)); }
  SUBCASE("it was the last") {}
  const int leaves = batch->num_leaves;
  bound->evaluate(*batch);
  bound->decode(*batch);
  CHECK(batch->num_rows == leaves);
  CHECK(own->seen->rows == leaves);
  CHECK(other->seen->rows == leaves);
}

TEST_CASE("spare rows go to the network's part only") {
  const State state(load_game("connect_four"));
  const auto other = python_part();
  const auto bound = MixedEvaluator(network(), other, 0.5).bind(state.game(), {});
  const auto batch = bound->make_batch(4);
  batch->add_next(ask(*bound, *batch, state));
  row_filler_of(*bound)->fill(*batch);
  CHECK(batch->num_rows == 2);
  CHECK(batch->leaves[0].rows == 2);
  bound->evaluate(*batch);
  bound->decode(*batch);
  CHECK(stats_of(*bound).rows == 2);
  CHECK(other->seen->rows == 1);
}

TEST_CASE("the caches of both parts share one limit and are cleared together") {
  const std::vector<State> states = random_states(load_game("connect_four"), 30, 8);
  const std::uint64_t cap = 1U << 18;
  BindOptions options = with_cache(cap);
  options.cache_entries = 1U << 20;
  const auto both = MixedEvaluator(network(), network(), 0.5).bind(states[0].game(), options);
  CHECK(stats_of(*both).cache_bytes <= cap);
  CHECK(stats_of(*both).cache_bytes > cap * 8 / 10);
  const auto one = MixedEvaluator(network(), python_part(), 0.5).bind(states[0].game(), options);
  CHECK(stats_of(*one).cache_bytes > cap * 8 / 10);
  // stats() counts rows of the first part only; the device counts those of the other.
  const auto inner = std::make_shared<ModelledDevice>(DeviceModel{.latency = 0.0, .streams = 0});
  const auto counted = std::make_shared<NetworkEvaluator>(inner, ModelSpec{});
  const auto bound = MixedEvaluator(network(), counted, 0.5).bind(states[0].game(), with_cache());
  evaluated(*bound, states);
  const std::uint64_t rows = inner->counters().rows;
  evaluated(*bound, states);
  CHECK(inner->counters().rows == rows);
  clear_cache_of(*bound);
  evaluated(*bound, states);
  CHECK(inner->counters().rows > rows);
}

TEST_CASE("a batch that bypasses the cache reads neither part's cache") {
  const State state(load_game("connect_four"));
  const auto bound = MixedEvaluator(network(), network(), 0.5).bind(state.game(), with_cache());
  const auto batch = bound->make_batch(2);
  evaluated(*bound, {state});
  for (const bool use : {true, false}) {
    batch->use_cache = use;
    CHECK(ask(*bound, *batch, state) == (use ? kAnswered : 1));
  }
}

TEST_SUITE("concurrent") {
  TEST_CASE("a part bound to the calling thread is evaluated there, one batch at a time") {
    const auto game = load_game("connect_four");
    const std::vector<State> states = random_states(game, 6, 6);
    for (const int streams : {0, 2}) {
      for (const bool first : {false, true}) {
        for (const std::uint64_t cache : {0U, 1U << 16}) {
          for (const double answered : {0.0, 0.5}) {
            CAPTURE(streams);
            CAPTURE(first);
            CAPTURE(cache);
            CAPTURE(answered);
            const auto python = python_part(answered);
            const auto net = network(streams);
            const auto mixed = first ? std::make_shared<MixedEvaluator>(python, net, 0.5)
                                     : std::make_shared<MixedEvaluator>(net, python, 0.5);
            SearchConfig config = config_of(4);
            config.cache_entries = cache;
            Searcher searcher(game, mixed, config);
            Patient host;
            for (int turn = 0; turn < 2; ++turn) {
              CHECK(searcher.search(states[0], config, host).simulations == 300);
            }
            searcher.search_many(pointers_to(states), config, host);
            CHECK(python->seen->batches > 10);
            CHECK(python->seen->elsewhere == 0);
            CHECK(python->seen->most_inside == 1);
          }
        }
      }
    }
  }

  TEST_CASE("two parts can be bound to the calling thread, one of them in a nested mix") {
    const auto game = load_game("connect_four");
    const auto one = python_part(0.3);
    const auto two = python_part();
    const auto inner = std::make_shared<MixedEvaluator>(network(2), one, 0.5);
    for (const bool first : {false, true}) {
      const auto mixed = first ? std::make_shared<MixedEvaluator>(inner, two, 0.5)
                               : std::make_shared<MixedEvaluator>(two, inner, 0.5);
      const SearchConfig config = config_of(4);
      Searcher searcher(game, mixed, config);
      Patient host;
      CHECK(searcher.search(State(game), config, host).simulations == 300);
    }
    CHECK(one->seen->elsewhere + two->seen->elsewhere == 0);
    CHECK(std::max(one->seen->most_inside.load(), two->seen->most_inside.load()) == 1);
  }

  TEST_CASE("if one part is on a device, workers evaluate the other part") {
    const auto game = load_game("connect_four");
    for (const bool first : {false, true}) {
      const auto device = std::make_shared<MockEvaluator>(
          Mock{.runs_on = on_device(2), .answered = 0.2, .delay = microseconds(20)});
      const auto other = std::make_shared<MockEvaluator>();
      const auto mixed = first ? std::make_shared<MixedEvaluator>(other, device, 0.5)
                               : std::make_shared<MixedEvaluator>(device, other, 0.5);
      const SearchConfig config = config_of(4);
      Searcher searcher(game, mixed, config);
      Patient host;
      CHECK(searcher.search(State(game), config, host).simulations == 300);
      CHECK(check_tree(*searcher.tree(), true).wrong == 0);
      for (const std::thread::id thread : device->seen->threads) {
        CHECK(other->seen->threads.count(thread) == 0);
      }
    }
  }

  TEST_CASE("deterministic searches with mixes are the same with 1, 2 and 4 threads") {
    const auto game = load_game("gomoku", {{"board_size", 9LL}});
    const auto rollout = std::make_shared<RolloutEvaluator>();
    const std::array<std::shared_ptr<Evaluator>, 5> mixes{
        std::make_shared<MixedEvaluator>(network(), rollout, 0.5),
        std::make_shared<MixedEvaluator>(network(2), rollout, 0.5),
        std::make_shared<MixedEvaluator>(network(), python_part(0.5), 0.5),
        std::make_shared<MixedEvaluator>(python_part(), network(), 0.5),
        std::make_shared<MixedEvaluator>(network(), network(2), 0.5)};
    for (const auto& mixed : mixes) {
      for (const SymmetryMode symmetry : {SymmetryMode::random, SymmetryMode::fill}) {
        std::vector<std::uint32_t> visits;
        for (const int threads : {1, 2, 4}) {
          SearchConfig config = config_of(threads, symmetry);
          config.deterministic = true;
          Searcher searcher(game, mixed, config);
          Patient host;
          const SearchResult result = searcher.search(State(game), config, host);
          if (threads == 1) visits = result.visits;
          CHECK(result.visits == visits);
        }
      }
    }
  }

  TEST_CASE("a failed batch of either part does not change the next search") {
    const auto game = load_game("connect_four");
    for (const bool first : {false, true}) {
      const auto own = std::make_shared<MockEvaluator>(Mock{.answered = 0.3});
      const auto other = python_part(0.3);
      const auto mixed = std::make_shared<MixedEvaluator>(own, other, 0.5);
      SearchConfig config = config_of(4);
      config.deterministic = true;
      Searcher searcher(game, mixed, config);
      Patient host;
      const SearchResult expected = searcher.search(State(game), config, host);
      Seen& failing = first ? *own->seen : *other->seen;
      for (std::uint64_t round = 0; round < 8; ++round) {
        const State state = random_state(game, 3, round);
        failing.fail_at = failing.batches.load() + static_cast<int>(round * 3);
        CHECK_THROWS_AS(searcher.search(state, config, host), EvaluationError);
        failing.fail_at = -1;
        CHECK(searcher.search(State(game), config, host).visits == expected.visits);
      }
    }
  }

  TEST_CASE("a mix keeps the budget in all symmetry modes") {
    const auto game = load_game("connect_four");
    for (const SymmetryMode symmetry : {SymmetryMode::none, SymmetryMode::average,
                                        SymmetryMode::root_average, SymmetryMode::fill}) {
      for (const int streams : {0, 2}) {
        const auto python = python_part();
        const auto mixed = std::make_shared<MixedEvaluator>(network(streams), python, 0.5);
        const SearchConfig config = config_of(4, symmetry);
        Searcher searcher(game, mixed, config);
        Patient host;
        for (int turn = 0; turn < 2; ++turn) {
          CHECK(searcher.search(State(game), config, host).simulations == 300);
          CHECK(check_tree(*searcher.tree(), true).wrong == 0);
        }
      }
    }
  }
}

}  // namespace pyengine
