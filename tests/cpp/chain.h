/// Nodes without a tree.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "search/tree/path.h"

namespace pyengine::search_test {

/// A chain of nodes; `movers[i]` is to move at node i, and moved to node i + 1.
struct Chain {
  std::vector<std::unique_ptr<Node>> nodes;
  Path path;
  explicit Chain(const std::vector<int>& movers) {
    int chooser = 1 - movers[0];
    for (const int mover : movers) {
      nodes.push_back(std::make_unique<Node>());
      nodes.back()->chooser = chooser & 1;
      nodes.back()->mover = mover & 1;
      chooser = mover;
      path.push_back(nodes.back().get());
    }
  }
  [[nodiscard]] double mean(std::size_t i) const { return nodes[i]->mean_for_chooser(); }
};

}  // namespace pyengine::search_test
