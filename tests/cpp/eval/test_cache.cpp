#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "eval/abilities.h"
#include "eval/evaluate_states.h"
#include "eval/mixed.h"
#include "eval/network/cache.h"
#include "eval/network/network.h"
#include "eval/simple.h"
#include "games/any/registry.h"
#include "games/any/state.h"
#include "sum_network.h"

using namespace pyengine;
using namespace pyengine::sum_network;

namespace {

/// A row that identifies the key it was stored under.
std::vector<float> row_of(std::uint64_t number, std::size_t size) {
  std::vector<float> row(size);
  for (std::size_t i = 0; i < size; ++i) {
    row[i] = static_cast<float>(number % 1000) + static_cast<float>(i);
  }
  return row;
}

CacheKey key_of(std::uint64_t number) {
  Rng rng(number, 77);
  return {rng.next(), rng.next()};
}

std::vector<State> random_states(const std::shared_ptr<const AnyGame>& game, int count) {
  std::vector<State> states;
  Rng rng(3);
  ActionList legal;
  for (int i = 0; i < count; ++i) {
    State state(game);
    const std::uint32_t plies = rng.below(20);
    for (std::uint32_t p = 0; p < plies && !state.position().outcome(); ++p) {
      state.position().legal_actions(legal);
      state.apply_action(legal[static_cast<int>(rng.below(static_cast<unsigned>(legal.size())))]);
    }
    states.push_back(std::move(state));
  }
  return states;
}

/// Policies, then values.
std::vector<float> evaluated(BoundEvaluator& bound, const std::vector<State>& states,
                             bool average) {
  std::vector<const State*> pointers;
  for (const State& state : states) pointers.push_back(&state);
  const auto actions = static_cast<std::size_t>(states[0].game()->shape().num_actions);
  std::vector<float> answers(states.size() * (actions + 1));
  const std::span<float> all(answers);
  evaluate_states(bound, pointers, all.first(states.size() * actions), all.last(states.size()),
                  average);
  return answers;
}

}  // namespace

TEST_CASE("a stored row is found until the cache is cleared") {
  EvalCache cache(1024, 1 << 20, 10);
  std::vector<float> row(10);
  for (std::uint64_t i = 0; i < 100; ++i) cache.store(key_of(i), row_of(i, 10).data());
  for (std::uint64_t i = 0; i < 100; ++i) {
    REQUIRE(cache.find(key_of(i), row.data()));
    CHECK(row == row_of(i, 10));
  }
  CHECK_FALSE(cache.find(key_of(100), row.data()));
  CHECK(cache.hits() == 100);
  cache.clear();
  CHECK_FALSE(cache.find(key_of(0), row.data()));
  cache.store(key_of(0), row_of(0, 10).data());
  CHECK(cache.find(key_of(0), row.data()));
}

TEST_CASE("a cache stays within its bytes and entries, and keeps the most recently used ones") {
  const std::uint64_t bytes = 1 << 18;
  EvalCache small(1'000'000, bytes, 362);
  CHECK(small.bytes() <= bytes);
  CHECK(small.capacity() * 362 * sizeof(float) <= bytes);
  CHECK(small.capacity() > 100);
  EvalCache few(64, 1 << 20, 10);
  CHECK(few.capacity() == 64);
  std::vector<float> row(10);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    few.store(key_of(i), row_of(i, 10).data());
    REQUIRE(few.find(key_of(i), row.data()));
  }
  EvalCache none(1024, 100, 10);
  CHECK(none.capacity() == 0);
  none.store(key_of(0), row.data());
  CHECK_FALSE(none.find(key_of(0), row.data()));
}

TEST_CASE("answers are bit-identical with and without the cache") {
  const auto game = load_game("go", {{"board_size", 5LL}});
  const std::vector<State> states = random_states(game, 60);
  NetworkEvaluator evaluator(std::make_shared<SumSource>(), {});
  BindOptions cached;
  cached.cache_entries = 4096;
  cached.cache_bytes = 1 << 22;
  const auto plain = evaluator.bind(game, {});
  const auto with = evaluator.bind(game, cached);
  const std::vector<float> one = evaluated(*plain, states, false);
  const std::vector<float> mean = evaluated(*plain, states, true);
  CHECK(evaluated(*with, states, false) == one);
  CHECK(evaluated(*with, states, true) == mean);  // one of eight answers is cached
  CHECK(evaluated(*with, states, true) == mean);
  CHECK(evaluated(*with, states, false) == one);
  CHECK(stats_of(*with).cache_hits >= 60 * 10);
  const std::uint64_t rows = stats_of(*with).rows;
  CHECK(evaluated(*with, states, true) == mean);
  CHECK(stats_of(*with).rows == rows);
  clear_cache_of(*with);
  CHECK(evaluated(*with, states, true) == mean);
  CHECK(stats_of(*with).rows > rows);
}

TEST_CASE("a mixed value is the same whether or not the network's part is cached") {
  const auto game = load_game("connect_four");
  const std::vector<State> states = random_states(game, 30);
  MixedEvaluator evaluator(
      std::make_shared<NetworkEvaluator>(std::make_shared<SumSource>(), ModelSpec{}),
      std::make_shared<RolloutEvaluator>(3), 0.5);
  BindOptions options;
  options.cache_entries = 1024;
  options.cache_bytes = 1 << 20;
  const auto bound = evaluator.bind(game, options);
  const std::vector<float> first = evaluated(*bound, states, true);
  CHECK(evaluated(*bound, states, true) == first);
  CHECK(stats_of(*bound).cache_hits >= 2 * 30);
}

TEST_SUITE("concurrent") {
  TEST_CASE("threads that share a cache find whole rows or nothing") {
    EvalCache cache(256, 1 << 20, 50);
    std::atomic<int> wrong{0};
    const auto work = [&](std::uint64_t seed) {
      Rng rng(seed);
      std::vector<float> row(50);
      for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t number = rng.below(600);
        if (cache.find(key_of(number), row.data())) {
          if (row != row_of(number, 50)) wrong.fetch_add(1);
        } else {
          cache.store(key_of(number), row_of(number, 50).data());
        }
        if (i % 5000 == 4999) cache.clear();
      }
    };
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) threads.emplace_back(work, t);
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(cache.hits() > 0);
  }

  TEST_CASE("threads with separate batches get the same answers from one evaluator") {
    const auto game = load_game("connect_four");
    const std::vector<State> states = random_states(game, 40);
    NetworkEvaluator evaluator(std::make_shared<SumSource>(), {});
    BindOptions options;
    options.cache_entries = 64;
    options.cache_bytes = 1 << 20;
    const auto bound = evaluator.bind(game, options);
    const std::vector<float> expected = evaluated(*evaluator.bind(game, {}), states, true);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) {
          if (evaluated(*bound, states, true) != expected) wrong.fetch_add(1);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
}
