/// The policy target of a search: its visits, without forced playouts and visits to bad moves, or
/// the improved policy of a Gumbel search.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "base/types.h"
#include "search/result.h"

namespace pyengine {

/// The policy target as integers, parallel to `result.actions`: visits_of_good_moves() without
/// forced playouts, or the improved policy of these moves in units of 1 / kPolicyUnits for Gumbel.
/// A proof ends a search before it has compared the moves. The target of a proven win is therefore
/// the winning move alone; the target of a proven draw with fewer than `least` visits is one visit
/// for each drawing move.
[[nodiscard]] std::vector<std::uint32_t> policy_target(const SearchResult& result,
                                                       const SearchConfig& config,
                                                       std::uint64_t least);

/// Whether a search without a proof gave most of its visits to moves known to lose, and fewer than
/// `least` to the others, which is too few for a target. Always false for Gumbel.
[[nodiscard]] bool compares_too_little(const SearchResult& result, const SearchConfig& config,
                                       std::uint64_t least);

/// The move to play if `target`, which has at least one visit, is recorded. This is the search's
/// choice, except that a move sampled with forced playouts is sampled again from the target, with
/// the same random number.
[[nodiscard]] Action taught_move(const SearchResult& result,
                                 const std::vector<std::uint32_t>& target,
                                 const SearchConfig& config, Rng rng);

/// The divergence KL(target || priors) in nats, at least 0 [D. Wu, KataGoMethods.md, "Policy
/// Surprise Weighting", which uses the priors with noise]. `target` has at least one visit.
/// `priors`: of `result.actions`, in any order.
[[nodiscard]] double policy_surprise(const SearchResult& result,
                                     const std::vector<std::uint32_t>& target,
                                     std::vector<Edge> priors);

/// Fits the 16 bits of a record.
inline constexpr double kPolicyUnits = 65535.0;

/// Policy target pruning [D. Wu, "Accelerating self-play learning in Go", 2019, section 3.2]. Every
/// move except the most visited one loses up to sqrt(k P n) forced playouts, as long as PUCT would
/// still choose the most visited move. A move left with a single visit loses it too.
[[nodiscard]] std::vector<std::uint32_t> without_forced(const SearchResult& result, double k,
                                                        const SearchConfig& config);

}  // namespace pyengine
