/// A node with random statistics, for tests of selection rules.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <memory>

#include "search/config.h"
#include "search/tree/tree.h"
#include "search_fixtures.h"

namespace pyengine::search_test {

/// The root of a tree, with random statistics.
struct RandomNode {
  std::shared_ptr<ChunkPool> pool = std::make_shared<ChunkPool>(4 * kChunkBytes);
  Tree tree{pool};
  Allocator allocator{tree.shared_arena()};
  SearchConfig config;

  /// `coarse`: priors and values that produce many ties.
  RandomNode(int actions, int children, std::uint64_t seed, bool coarse) {
    EvalLeaf leaf;
    leaf.to_move = static_cast<int>(seed % 2);
    for (int a = 0; a < actions; ++a) {
      leaf.legal.push_back(a);
      const double p = unit(seed + static_cast<std::uint64_t>(a) * 17);
      leaf.priors.push_back(static_cast<float>(coarse ? std::ceil(p * 3) / 16 : p / actions));
    }
    Node& root = tree.root();
    root.chooser = static_cast<int>(seed / 2 % 2) & 1;
    REQUIRE(tree.expand(allocator, root, leaf));
    std::uint32_t below = 1;
    for (int i = 0; i < children; ++i) {
      bool full = false;
      Node* child = tree.create_child(allocator, root, full);
      REQUIRE(child != nullptr);
      const std::uint64_t r = mixed(seed * 7919 + static_cast<std::uint64_t>(i));
      const auto visits = static_cast<std::uint32_t>(coarse ? r % 3 : r % 50);
      const double mean = coarse ? static_cast<double>(r / 64 % 3) - 1.0 : 2.0 * unit(r) - 1.0;
      child->visits = visits;
      child->value_sum = static_cast<std::int64_t>(mean * visits * 0x1p24);
      child->in_flight = static_cast<std::uint32_t>(r / 1024 % 4 == 0 ? r / 4096 % 3 : 0);
      below += visits;
    }
    root.visits = below;
    root.in_flight = static_cast<std::uint32_t>(seed % 3);
    root.value_sum = static_cast<std::int64_t>((2.0 * unit(seed) - 1.0) * below * 0x1p24);
  }
};

}  // namespace pyengine::search_test
