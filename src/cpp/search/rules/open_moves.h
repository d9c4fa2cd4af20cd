/// The solver's choice when PUCT selects a known draw: another visit there adds no information,
/// while proving the node needs all its other moves.
#pragma once

#include "search/rules/rule.h"

namespace pyengine {

/// The best unproven move by PUCT, or nothing. Leaves in flight count as virtual visits, even with
/// virtual loss. `n`: visits of the node, including those in flight.
Selection choose_open_move(const SearchConfig& config, const Tree& tree, const Node& node, double n,
                           bool may_create) noexcept;

}  // namespace pyengine
