/// Forced playouts: a root move made likely by noise is searched enough to estimate its value (D.
/// Wu, "Accelerating self-play learning in Go", 2019, section 3.2). The policy target removes these
/// visits again: selfplay/policy_target.h.
#pragma once

#include "search/tree/tree.h"

namespace pyengine {

/// A visited root child with fewer than sqrt(k P n) visits (including leaves in flight), or
/// nullptr. `n`: visits of the root. `solver`: skip children that are proven lost.
[[nodiscard]] Node* forced_child(const Tree& tree, double n, double k, bool solver) noexcept;

}  // namespace pyengine
