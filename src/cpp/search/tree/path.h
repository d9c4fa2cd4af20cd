/// The nodes that a walk passed.
#pragma once

#include <vector>

#include "search/tree/node.h"

namespace pyengine {

/// From the root to the node where the walk ended, both included.
using Path = std::vector<Node*>;

}  // namespace pyengine
