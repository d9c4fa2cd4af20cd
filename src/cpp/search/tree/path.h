/// The nodes visited by a walk.
#pragma once

#include <cstddef>
#include <vector>

#include "search/tree/node.h"

namespace pyengine {

/// From the root to the last node of the walk, inclusive. In a graph an edge node precedes its
/// position.
using Path = std::vector<Node*>;

/// Replaces `moves` by those of a path.
inline void list_moves(const Path& path, std::vector<ActionId>& moves) {
  moves.clear();
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (!is_linked(*path[i - 1])) moves.push_back(path[i]->action);
  }
}

}  // namespace pyengine
