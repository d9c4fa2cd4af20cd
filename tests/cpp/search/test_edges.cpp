/// The order of an evaluated node's edges.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "search/tree/tree.h"

namespace pyengine {
namespace {

TEST_CASE("edges are ordered by larger prior, then smaller action, whatever their number") {
  const auto pool = std::make_shared<ChunkPool>(4 * kChunkBytes);
  Tree tree(pool);
  Allocator allocator(tree.shared_arena());
  for (int actions = 1; actions < 700; actions += actions < 40 ? 1 : 37) {
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

}  // namespace
}  // namespace pyengine
