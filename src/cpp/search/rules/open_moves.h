/// The solver's choice where PUCT chooses a move that is known to draw: another visit there tells
/// nothing, and a proof of the node needs all its other moves.
#pragma once

#include "search/rules/rule.h"

namespace pyengine {

/// The best move by PUCT among those that are not proven, or nothing. Leaves in flight count as
/// virtual visits under virtual loss too. `n`: visits of the node, those in flight included.
Selection choose_open_move(const SearchConfig& config, const Tree& tree, const Node& node, double n,
                           bool may_create) noexcept;

}  // namespace pyengine
