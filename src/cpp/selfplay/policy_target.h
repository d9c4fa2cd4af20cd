/// What the policy learns from a search: visits, without those that the search made for other
/// reasons than the move's worth.
#pragma once

#include <cstdint>
#include <vector>

#include "search/result.h"

namespace pyengine {

/// Visits of `result.actions` as a policy target. Where the root is a proven win, the winning move
/// alone, since the search ended there; else visits_of_good_moves(), without forced playouts.
[[nodiscard]] std::vector<std::uint32_t> policy_target(const SearchResult& result,
                                                       const SearchConfig& config);

/// Policy target pruning (D. Wu, "Accelerating self-play learning in Go", 2019, section 3.2). Every
/// move but the most visited one loses forced playouts, at most sqrt(k P n) of its visits, as long
/// as PUCT would still choose the most visited move; a move that keeps one visit loses it too.
[[nodiscard]] std::vector<std::uint32_t> without_forced(const SearchResult& result, double k,
                                                        const SearchConfig& config);

}  // namespace pyengine
