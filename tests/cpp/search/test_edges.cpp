/// The order of an evaluated node's edges.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "search/tree/edges.h"
#include "search/tree/tree.h"

namespace pyengine {
namespace {

TEST_CASE("edges are ordered by larger prior, then smaller action, for any number of edges") {
  const auto pool = std::make_shared<ChunkPool>(4 * kChunkBytes);
  Tree tree(pool);
  Allocator allocator(tree.shared_arena());
  for (int actions = 1; actions < 700; actions += actions < 140 ? 1 : 37) {
    for (const bool coarse : {false, true}) {  // coarse: many equal priors
      Rng rng(static_cast<std::uint64_t>(actions));
      EvalLeaf leaf;
      std::vector<Edge> expected;
      for (int i = 0; i < actions; ++i) {
        const Action action = 3 * i + 1;
        const auto p = static_cast<float>(coarse ? rng.below(4) / 8.0 : rng.uniform());
        leaf.legal.push_back(action);
        leaf.priors.push_back(p);
        expected.emplace_back(pack_prior(p), static_cast<ActionId>(action));
      }
      std::sort(expected.begin(), expected.end());
      Node node;
      REQUIRE(tree.expand(allocator, node, leaf));
      const auto found = tree.edges(node);
      CHECK(std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                       [](Edge a, Edge b) { return !(a < b) && !(b < a); }));
    }
  }
}

TEST_CASE("a sum of squares changes no edge and is freed with the edges") {
  const auto pool = std::make_shared<ChunkPool>(4 * kChunkBytes);
  const auto arena = std::make_shared<Arena>(pool);
  Allocator allocator(arena);
  for (const bool equal : {false, true}) {
    for (const int actions : {1, 7, 80}) {
      EvalLeaf leaf;
      leaf.equal_priors = equal;
      for (int action = 0; action < actions; ++action) {
        leaf.legal.push_back(action);
        leaf.priors.push_back(static_cast<float>(1 + action) / 4000.0F);
      }
      Node with;
      Node without;
      with.visits = 4;  // earlier visits of mean 0.5
      with.value_sum = 2 * to_fixed(1.0F);
      REQUIRE(store_edges(allocator, leaf, with, {.squares = true}));
      REQUIRE(store_edges(allocator, leaf, without));
      CHECK(square_sum(*arena, with) == to_fixed(1.0F));
      square_sum(*arena, with) = -1;
      for (int place = 0; place < actions; ++place) {
        CHECK(stored_edge(*arena, with, place).action() ==
              stored_edge(*arena, without, place).action());
      }
      CHECK(stored_edge_units(*arena, with) == stored_edge_units(*arena, without));
      const BlockIndex block = with.edges - 1;
      free_edges(allocator, with);
      CHECK(allocator.take(stored_edge_units(*arena, without) + 1) == block);
    }
  }
}

TEST_CASE("the sum of the remaining priors is the same whether stored or added up") {
  const auto pool = std::make_shared<ChunkPool>(4 * kChunkBytes);
  const auto arena = std::make_shared<Arena>(pool);
  Allocator allocator(arena);
  for (int actions = 1; actions < 700; actions += actions < 10 ? 1 : 53) {
    for (const float total : {1.0F, 3.0F}) {  // 3: too far from 1 to be stored
      Rng rng(static_cast<std::uint64_t>(actions));
      EvalLeaf leaf;
      float sum = 0.0F;
      for (int action = 0; action < actions; ++action) {
        leaf.legal.push_back(action);
        leaf.priors.push_back(static_cast<float>(rng.uniform()));
        sum += leaf.priors.back();
      }
      for (float& prior : leaf.priors) prior *= total / sum;
      Node with_sum;
      Node without;
      REQUIRE(store_edges(allocator, leaf, with_sum, {.priors = true}));
      REQUIRE(store_edges(allocator, leaf, without));
      CHECK(stored_edge_units(*arena, with_sum) == edge_units(actions + 1));
      double before = 0.0;
      for (int first = 0; first <= actions; ++first) {
        CHECK(prior_sum(*arena, with_sum, first, before) ==
              prior_sum(*arena, without, first, before));
        if (first < actions) before += unpack_prior(stored_edge(*arena, without, first).prior());
      }
    }
  }
}

}  // namespace
}  // namespace pyengine
