/// The solver's choice where PUCT's is a move that is known to draw: another visit there would tell
/// nothing, while a proof of the node needs all the other moves.
#pragma once

#include "search/config.h"
#include "search/rules/select.h"
#include "search/tree/tree.h"

namespace pyengine {

/// The best move by PUCT among those that are not proven; Selection::none when there is none.
Selection choose_open_move(const SearchConfig& config, const Tree& tree, const Node& node,
                           bool may_create) noexcept;

}  // namespace pyengine
