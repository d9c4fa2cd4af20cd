/// Forced playouts: a move at the root that noise made likely is tried for long enough to find out
/// what it is worth (D. Wu, "Accelerating self-play learning in Go", 2019, section 3.2).
#pragma once

#include <span>
#include <vector>

#include "search/result.h"
#include "search/tree/tree.h"

namespace pyengine {

/// A visited child of the root with fewer than sqrt(k P n) visits, those in flight included, where
/// n are the root's; nullptr when there is none. `solver`: children that lose are left alone.
[[nodiscard]] Node* forced_child(Tree& tree, double k, bool solver) noexcept;

/// Visits of a policy target: of every move but the most visited one, as many of its forced visits
/// are taken back as leave PUCT in favour of the latter; a move that keeps one visit keeps none.
[[nodiscard]] std::vector<std::uint32_t> without_forced(const SearchResult& result, double k,
                                                        const SearchConfig& config);

}  // namespace pyengine
