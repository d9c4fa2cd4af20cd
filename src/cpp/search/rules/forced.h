/// Forced playouts: a move at the root that noise made likely is searched for long enough to find
/// out what it is worth (D. Wu, "Accelerating self-play learning in Go", 2019, section 3.2). The
/// policy target takes them back: selfplay/policy_target.h.
#pragma once

#include "search/tree/tree.h"

namespace pyengine {

/// A visited child of the root with fewer than sqrt(k P n) visits, or nullptr; leaves in flight
/// count. `n`: visits of the root. `solver`: children that are proven lost are left out.
[[nodiscard]] Node* forced_child(const Tree& tree, double n, double k, bool solver) noexcept;

}  // namespace pyengine
