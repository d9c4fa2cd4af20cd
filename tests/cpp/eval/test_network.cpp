/// A network evaluator between request() and decode(): the rows of leaves and their use.
#include <doctest/doctest.h>

#include <memory>
#include <utility>
#include <vector>

#include "eval/network/decode.h"
#include "search_fixtures.h"
#include "sum_network.h"

namespace pyengine {
namespace {

using namespace search_test;
using namespace sum_network;

NetworkEvaluator default_network() { return {std::make_shared<SumSource>(), ModelSpec{}}; }

/// Priors, then the value.
using FlatAnswer = std::vector<float>;

FlatAnswer answer_of(const EvalLeaf& leaf) {
  FlatAnswer answer = leaf.priors;
  answer.push_back(leaf.value);
  return answer;
}

/// Requests batch.next() without adding it.
int ask(BoundEvaluator& bound, EvalBatch& batch, const State& state, LeafSymmetry symmetry,
        std::uint64_t seed = 0) {
  EvalLeaf& leaf = batch.next();
  state.position().legal_actions(leaf.legal);
  leaf.to_move = state.position().to_move();
  leaf.symmetry = symmetry;
  leaf.seed = seed;
  return bound.request(batch, state.position());
}

std::vector<FlatAnswer> answers(BoundEvaluator& bound, EvalBatch& batch) {
  bound.evaluate(batch);
  bound.decode(batch);
  std::vector<FlatAnswer> all;
  for (int i = 0; i < batch.num_leaves; ++i) {
    all.push_back(answer_of(batch.leaves[static_cast<std::size_t>(i)]));
  }
  return all;
}

/// The answer for a single position.
FlatAnswer alone(const State& state, LeafSymmetry symmetry) {
  const auto bound = default_network().bind(state.game(), {});
  const auto batch = bound->make_batch(8);
  batch->add_next(ask(*bound, *batch, state, symmetry));
  return answers(*bound, *batch)[0];
}

/// The raw network's answer for a position under one symmetry.
FlatAnswer under(const State& state, int symmetry) {
  const Encoder encoder({}, *state.game());
  const Decoder decoder({}, *state.game());
  const NetworkShape shape{encoder.shape(), decoder.policy_size(), decoder.value_size()};
  SumNetwork network(shape);
  FloatMemory memory(shape, 1);
  EvalLeaf leaf;
  state.position().legal_actions(leaf.legal);
  leaf.to_move = state.position().to_move();
  PlaneStack planes;
  encoder.open(state.position(), leaf.legal, planes);
  encoder.write(planes, symmetry, ElementType::float32, memory.planes);
  network.run(memory, 1);
  SymmetryMean answer;
  answer.add(decoder, memory.policy, memory.value, symmetry, leaf);
  answer.finish(leaf);
  return answer_of(leaf);
}

}  // namespace

TEST_CASE("network: a leaf that the caller drops leaves no rows behind") {
  const std::vector<State> states =
      random_states(load_game("gomoku", {{"board_size", 7LL}}), 3, 10);
  const auto bound = default_network().bind(states[0].game(), {});
  const auto batch = bound->make_batch(16);
  for (int round = 0; round < 2; ++round) {
    batch->clear();
    batch->add_next(ask(*bound, *batch, states[0], LeafSymmetry::identity));
    CHECK(ask(*bound, *batch, states[1], LeafSymmetry::all) == 8);
    batch->add_next(ask(*bound, *batch, states[2], LeafSymmetry::all));
    CHECK(ask(*bound, *batch, states[1], LeafSymmetry::identity) == 1);
    CHECK(batch->num_rows == 9);
    const std::uint64_t rows = stats_of(*bound).rows;
    const std::vector<FlatAnswer> found = answers(*bound, *batch);
    CHECK(stats_of(*bound).rows == rows + 9);
    CHECK(found[0] == alone(states[0], LeafSymmetry::identity));
    CHECK(found[1] == alone(states[2], LeafSymmetry::all));
  }
}

TEST_CASE("network: fill() gives spare rows to further symmetries, leaf by leaf") {
  const std::vector<State> states = random_states(load_game("connect_four"), 3, 10);
  const auto bound = default_network().bind(states[0].game(), {});
  const auto batch = bound->make_batch(5);
  for (const State& state : states) {
    batch->add_next(ask(*bound, *batch, state, LeafSymmetry::identity));
  }
  row_filler_of(*bound)->fill(*batch);
  CHECK(batch->num_rows == 5);
  CHECK(batch->leaves[0].rows + batch->leaves[1].rows + batch->leaves[2].rows == 5);
  const std::vector<FlatAnswer> found = answers(*bound, *batch);
  CHECK(found[0] == alone(states[0], LeafSymmetry::all));
  CHECK(found[1] == alone(states[1], LeafSymmetry::all));
  CHECK(found[2] == alone(states[2], LeafSymmetry::identity));
}

TEST_CASE("network: a random symmetry is determined by position and seed") {
  const State state = random_state(load_game("gomoku", {{"board_size", 7LL}}), 11, 4);
  PlaneStack planes;
  ActionList legal;
  state.position().legal_actions(legal);
  Encoder({}, *state.game()).open(state.position(), legal, planes);
  const auto bound = default_network().bind(state.game(), {});
  const auto batch = bound->make_batch(20);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    batch->add_next(ask(*bound, *batch, state, LeafSymmetry::random, seed));
  }
  const std::vector<FlatAnswer> found = answers(*bound, *batch);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(found[seed] == under(state, random_symmetry(planes, seed, 8)));
  }
  CHECK(under(state, 1) != under(state, 2));
}

TEST_CASE("network: with all symmetries, cached ones are answered and the others take rows") {
  const State state = random_state(load_game("gomoku", {{"board_size", 7LL}}), 11, 4);
  BindOptions options;
  options.cache_entries = 1024;
  options.cache_bytes = 1U << 20;
  const auto bound = default_network().bind(state.game(), options);
  const auto batch = bound->make_batch(8);
  for (const auto& [symmetry, rows] : {std::pair{LeafSymmetry::identity, 1},
                                       {LeafSymmetry::all, 7},
                                       {LeafSymmetry::all, kAnswered}}) {
    batch->clear();
    CHECK(ask(*bound, *batch, state, symmetry) == rows);
    if (rows != kAnswered) {
      batch->add_next(rows);
      answers(*bound, *batch);
    }
    CHECK(answer_of(batch->leaves[0]) == alone(state, symmetry));
  }
}

}  // namespace pyengine
