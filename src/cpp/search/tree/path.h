/// The nodes visited by a walk.
#pragma once

#include <vector>

#include "search/tree/node.h"

namespace pyengine {

/// From the root to the last node of the walk, inclusive.
using Path = std::vector<Node*>;

}  // namespace pyengine
