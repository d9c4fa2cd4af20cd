/// Limits of memory and counters: trees and cache, shares of trees, visits, streams.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <vector>

#include "base/janitor.h"
#include "base/memory.h"
#include "eval/mixed.h"
#include "eval/simple.h"
#include "search_fixtures.h"

namespace pyengine {
namespace {

using namespace search_test;

constexpr std::uint64_t kMiB = 1U << 20;

SearchConfig config_of(int threads, std::uint64_t simulations, std::uint64_t memory_limit) {
  SearchConfig config;
  config.threads = threads;
  config.simulations = simulations;
  config.cache_entries = 0;
  config.memory_limit = memory_limit;
  config.solver = false;
  return config;
}

/// A mock evaluator with a cache of a given size.
class CachingMock final : public Evaluator {
 public:
  explicit CachingMock(std::uint64_t bytes) : bytes_(bytes) {}
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override {
    class Bound final : public BoundEvaluator, public WorkCounter {
     public:
      Bound(std::unique_ptr<BoundEvaluator> inner, std::uint64_t bytes)
          : inner_(std::move(inner)), bytes_(bytes) {}
      [[nodiscard]] EvaluatorTraits traits() const noexcept override { return inner_->traits(); }
      int request(EvalBatch& batch, const AnyPosition& position) override {
        return inner_->request(batch, position);
      }
      void evaluate(EvalBatch& batch) override { inner_->evaluate(batch); }
      [[nodiscard]] EvaluatorStats stats() const noexcept override {
        EvaluatorStats stats;
        stats.cache_bytes = bytes_;
        return stats;
      }

     private:
      std::unique_ptr<BoundEvaluator> inner_;
      std::uint64_t bytes_;
    };
    return std::make_unique<Bound>(
        MockEvaluator(Mock{.immediate = true}).bind(std::move(game), options),
        std::min(bytes_, options.cache_bytes));
  }

 private:
  std::uint64_t bytes_;
};

std::shared_ptr<const AnyGame> small_go() { return load_game("go", {{"board_size", 9LL}}); }

// --- memory

TEST_CASE("pieces of a pool do not overlap, and their chunks are returned") {
  const auto pool = std::make_shared<ChunkPool>(2 * kChunkBytes);
  {
    PiecePool pieces(pool, 8192);
    CHECK(pieces.available() == 64);
    std::set<std::byte*> found;
    while (std::byte* piece = pieces.take()) found.insert(piece);
    CHECK(found.size() == 64);
    std::byte* last = nullptr;
    for (std::byte* piece : found) {
      if (last != nullptr) CHECK(piece - last >= 65536);
      last = piece;
    }
    CHECK(pool->available() == 0);
  }
  CHECK(pool->available() == 2);
}

TEST_CASE("an arena with a share takes exactly its pieces, even if others take some concurrently") {
  const auto pool = std::make_shared<ChunkPool>(kChunkBytes);
  const auto pieces = std::make_shared<PiecePool>(pool, 8192);
  Allocator one(std::make_shared<Arena>(pieces, 3));
  Allocator other(std::make_shared<Arena>(pieces, 29));
  int found = 0;
  while (one.take(100) != 0) {
    ++found;
    static_cast<void>(other.take(700));
  }
  CHECK(found == 3 * 81);
  CHECK(pool->refusals() >= 1);
}

TEST_CASE("a pool whose limit is lowered returns its spare memory to the system") {
  ChunkPool pool(4 * kChunkBytes);
  std::vector<std::byte*> chunks;
  for (int i = 0; i < 4; ++i) chunks.push_back(pool.take());
  pool.give_back(std::span(chunks).first(1));
  pool.set_limit(2 * kChunkBytes);
  CHECK(pool.bytes() == 3 * kChunkBytes);
  pool.give_back(std::span(chunks).subspan(1, 2));
  CHECK(pool.bytes() == 2 * kChunkBytes);
  pool.give_back(std::span(chunks).subspan(3));
  std::byte* const again = pool.take();
  CHECK(again != nullptr);
  pool.give_back(std::span(&again, 1));
}

TEST_CASE("trees and an existing cache stay under the limit, even in a call without cache") {
  SearchConfig config = config_of(1, 100000, 32 * kMiB);
  config.cache_entries = 1000;
  Searcher searcher(small_go(), std::make_shared<CachingMock>(8 * kMiB), config);
  Patient host;
  const State state(searcher.game());
  for (const std::uint64_t limit : {32 * kMiB, 24 * kMiB, 16 * kMiB}) {
    SearchConfig call = config;
    call.memory_limit = limit;
    call.cache_entries = 0;
    call.reuse_tree = false;
    CAPTURE(limit);
    CHECK(searcher.search(state, call, host).simulations == 100000);
    CHECK(searcher.stats().bytes <= limit);
    const State* const both[] = {&state, &state};
    searcher.search_many(both, call, host);
    CHECK(searcher.stats().bytes <= limit);
  }
  CHECK(searcher.stats().refusals > 0);
  SearchConfig call = config;
  call.memory_limit = 9 * kMiB;
  CHECK_THROWS_WITH_AS(searcher.search(state, call, host),
                       "memory_limit: expected at least 12582912 bytes, since the engine's cache "
                       "keeps 8388608, got 9437184",
                       ConfigError);
}

TEST_CASE("a mix of two evaluators with caches uses the memory of one cache") {
  const auto mixed = std::make_shared<MixedEvaluator>(std::make_shared<CachingMock>(5 * kMiB),
                                                      std::make_shared<CachingMock>(5 * kMiB), 0.5);
  BindOptions options;
  options.cache_entries = 1000;
  options.cache_bytes = 8 * kMiB;
  CHECK(stats_of(*mixed->bind(small_go(), options)).cache_bytes == 8 * kMiB);
}

TEST_CASE("memory used by search_many is available to the tree that continues afterwards" *
          doctest::test_suite("concurrent")) {
  const auto game = small_go();
  for (const bool deterministic : {false, true}) {
    SearchConfig config = config_of(4, 500, 16 * kMiB);
    config.deterministic = deterministic;
    Searcher searcher(game, std::make_shared<MockEvaluator>(), config);
    Patient host;
    const State state(game);
    searcher.search(state, config, host);
    const std::vector<State> states = random_states(game, 8, 5);
    const std::vector<const State*> pointers = pointers_to(states);
    config.simulations = 2500;
    searcher.search_many(pointers, config, host);
    const std::uint64_t refusals = searcher.stats().refusals;
    config.simulations = 30000;
    config.threads = 1;
    const SearchResult result = searcher.search(state, config, host);
    CHECK(searcher.stats().refusals == refusals);
    CHECK(result.nodes > 29000);  // a visit to a terminal state creates no node
  }
}

TEST_CASE("deterministic trees without a share of the memory are rejected by name") {
  const auto game = small_go();
  SearchConfig config = config_of(2, 10, kLeastMemory);
  config.deterministic = true;
  Searcher searcher(game, std::make_shared<MockEvaluator>(), config);
  Patient host;
  const std::vector<State> states = random_states(game, 97, 5);
  std::vector<const State*> pointers = pointers_to(states);
  CHECK_THROWS_WITH_AS(searcher.search_many(pointers, config, host),
                       "memory_limit: expected room for 97 trees of at least 65536 bytes each, "
                       "because deterministic=True reserves equal shares, got room for 96 under "
                       "8388608 bytes",
                       ConfigError);
  pointers.pop_back();
  for (const SearchResult& result : searcher.search_many(pointers, config, host)) {
    CHECK(result.nodes == 11);
  }
}

TEST_CASE("a call leaves trees the same memory however large its batches are" *
          doctest::test_suite("concurrent")) {
  const auto game = small_go();
  const Mock greedy{.runs_on = on_device(2), .batch_bytes = 2 * kMiB};
  const auto nodes_and_refusals = [&](int searches_before, int threads, bool deterministic) {
    SearchConfig config = config_of(threads, 400, 16 * kMiB);
    Searcher searcher(game, std::make_shared<MockEvaluator>(greedy), config);
    Patient host;
    const std::vector<State> states = random_states(game, 24, 5);
    const std::vector<const State*> pointers = pointers_to(states);
    for (int i = 0; i < searches_before; ++i) {
      for (const SearchResult& result : searcher.search_many(pointers, config, host)) {
        CHECK(total(result.visits) == 400);
      }
    }
    CHECK(searcher.stats().bytes <= config.memory_limit);
    config.deterministic = deterministic;
    std::vector<std::uint64_t> found;
    for (const SearchResult& result : searcher.search_many(pointers, config, host)) {
      found.push_back(result.nodes);
    }
    return found;
  };
  const auto alone = nodes_and_refusals(0, 1, true);
  for (const int threads : {1, 4, 16}) {
    CHECK(nodes_and_refusals(0, threads, true) == alone);
    CHECK(nodes_and_refusals(2, threads, true) == alone);
    nodes_and_refusals(2, threads, false);
  }
}

// --- leaves in flight

/// Rounds of a search with 512 leaves in flight, each one batch.
int rounds_of(std::uint64_t simulations) {
  const auto game = load_game("gomoku");
  SearchConfig config = config_of(1, simulations, 256 * kMiB);
  config.deterministic = true;
  config.in_flight = config.batch_size = 512;
  config.symmetry = SymmetryMode::none;
  const auto evaluator = std::make_shared<MockEvaluator>();
  Searcher searcher(game, evaluator, config);
  Patient host;
  searcher.search(State(game), config, host);
  return evaluator->seen->batches;
}

TEST_CASE("a long search reaches many leaves in flight sooner than a short one") {
  constexpr std::uint64_t kLong = 64 * 512;
  CHECK(rounds_of(kLong) + 10 < rounds_of(kLong - 1));
}

// --- visits

TEST_CASE("a search ends when the root has the largest countable number of visits") {
  const auto game = load_game("connect_four");
  for (const int threads : {1, 4}) {
    SearchConfig config = config_of(threads, 1000, 64 * kMiB);
    Searcher searcher(game, std::make_shared<MockEvaluator>(), config);
    Patient host;
    const State state(game);
    const SearchResult before = searcher.search(state, config, host);
    auto& root = const_cast<Tree*>(searcher.tree())->root();
    constexpr std::uint32_t kLeft = 100;
    const std::uint32_t added = 0xFFFFFFFFU - kLeft - root.visits.load();
    Node* child = child_at(searcher.tree()->arena(), root, 0);
    for (Node* node : {&root, child}) node->visits += added;
    const SearchResult result = searcher.search(state, config, host);
    CHECK(result.simulations == kLeft);
    CHECK(result.stop_reason == StopReason::visits);
    CHECK(root.visits.load() == 0xFFFFFFFFU);
    CHECK(total(result.visits) == 0xFFFFFFFEU);
    const SearchResult full = searcher.search(state, config, host);
    CHECK(full.simulations == 0);
    CHECK(full.stop_reason == StopReason::visits);
    CHECK(full.action == result.action);
    config.simulations.reset();
    config.seconds = 60.0;
    CHECK(searcher.search(state, config, host).stop_reason == StopReason::visits);
    config.seconds.reset();
    config.simulations = 50;
    const int other = child->action == 0 ? 1 : 0;
    State next = state;
    next.apply_action(other);
    searcher.advance(other);
    CHECK(searcher.search(next, config, host).stop_reason == StopReason::simulations);
    CHECK(before.stop_reason == StopReason::simulations);
  }
}

// --- streams of random numbers

/// The root's priors with noise, in the search of this number.
std::vector<float> noisy_priors(const State& state, std::uint64_t search) {
  SearchConfig config = config_of(1, 1, 64 * kMiB);
  config.dirichlet_fraction = 1.0;
  const auto bound = MockEvaluator(Mock{.immediate = true}).bind(state.game(), {});
  const auto pool = std::make_shared<ChunkPool>(4 * kChunkBytes);
  Tree tree(pool);
  TreeSearch first(tree, state, config, 1, 0, *bound);
  Pipeline pipeline(*bound, 8, pool);
  pipeline.prepare(config, 1);
  Patient host;
  const std::atomic<bool> stop{false};
  RunOptions options;
  options.stop = &stop;
  TreeSearch* const one[] = {&first};
  pipeline.run(one, options, host);
  const TreeSearch numbered(tree, state, config, 1, search, *bound);
  return read_tree(tree, 7, config, Rng(), 0).priors;
}

/// The number of the first leaf of the search with this number, as seen by an evaluator.
std::uint64_t first_leaf(const State& state, std::uint64_t search) {
  SearchConfig config = config_of(1, 1, 64 * kMiB);
  const auto bound = MockEvaluator().bind(state.game(), {});
  Tree tree(std::make_shared<ChunkPool>(kChunkBytes));
  TreeSearch numbered(tree, state, config, 1, search, *bound);
  Slot slot;
  slot.batch = bound->make_batch(1);
  slot.flights.resize(1);
  Worker worker;
  const std::atomic<bool> stop{false};
  numbered.gather<Sharing::exclusive>(worker, slot, {1, 1, &stop});
  return slot.batch->leaves[0].number;
}

TEST_CASE("searches have distinct random streams beyond the first 2^24") {
  const State state(load_game("connect_four"));
  const std::vector<std::uint64_t> searches{
      0, 1, 1U << 24, (1U << 24) + 1, 1U << 25, (1U << 30) + 1, std::uint64_t{1} << 40};
  std::set<std::vector<float>> priors;
  std::set<std::uint64_t> streams;
  for (const std::uint64_t search : searches) {
    priors.insert(noisy_priors(state, search));
    streams.insert(2 * first_leaf(state, search));  // the name of a leaf's symmetry stream
  }
  CHECK(priors.size() == searches.size());
  CHECK(streams.size() == searches.size());
  CHECK(first_leaf(state, 5) == std::uint64_t{5} << 39);  // small numbers are unchanged
}

// --- the choice of a move

TEST_CASE("rounding never selects a move of zero probability after a draw") {
  CHECK(draw({0.25, 0.75, 0.0}, 0.1) == 0);
  CHECK(draw({0.25, 0.75, 0.0}, 0.25) == 1);
  CHECK(draw({0.25, 0.7499, 0.0}, 0.99999) == 1);
  CHECK(draw({0.0, 0.0, 1.0 - 1e-16, 0.0}, std::nextafter(1.0, 0.0)) == 2);
}

SearchResult result_of(std::vector<std::uint32_t> visits, std::vector<std::int8_t> proofs) {
  SearchResult result;
  result.visits = std::move(visits);
  result.proofs = std::move(proofs);
  result.priors = {0.5F, 0.25F, 0.125F};
  return result;
}

TEST_CASE("without visits a move is drawn by the priors, and never a known loss") {
  constexpr std::int8_t kOpen = TreeNode::kNotProven;
  using Weights = std::vector<double>;
  CHECK(choice_weights(result_of({1, 2, 3}, {kOpen, kOpen, kOpen})) == Weights{1, 2, 3});
  CHECK(choice_weights(result_of({0, 0, 0}, {kOpen, kOpen, kOpen})) == Weights{0.5, 0.25, 0.125});
  CHECK(choice_weights(result_of({4, 0, 0}, {-1, kOpen, kOpen})) == Weights{0, 0.25, 0.125});
  CHECK(choice_weights(result_of({4, 1, 0}, {-1, kOpen, kOpen})) == Weights{0, 1, 0});
  CHECK(choice_weights(result_of({4, 1, 0}, {-1, -1, -1})) == Weights{4, 1, 0});
  CHECK(visits_of_good_moves(result_of({4, 0, 0}, {-1, kOpen, kOpen})) ==
        std::vector<std::uint32_t>{0, 0, 0});
}

TEST_CASE("a search that ends before its first visit plays by the priors") {
  SearchConfig config;
  config.temperature = 1.0;
  Tree tree(std::make_shared<ChunkPool>(kChunkBytes));
  EvalLeaf leaf;
  for (int a = 0; a < 7; ++a) leaf.legal.push_back(a);
  leaf.priors = {0.9F, 0.1F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F};
  Allocator allocator(tree.shared_arena());
  REQUIRE(tree.expand(allocator, tree.root(), leaf));
  tree.root().visits = 1;
  int first = 0;
  for (std::uint64_t stream = 0; stream < 200; ++stream) {
    const SearchResult result = read_tree(tree, 7, config, Rng(1, stream), 0);
    CHECK(result.action <= 1);
    first += result.action == 0 ? 1 : 0;
  }
  CHECK(first > 160);
}

}  // namespace
}  // namespace pyengine
