/// What the policy learns from a search: visits, without those that the search made for other
/// reasons than the move's worth; or the improved policy of a search by Gumbel.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "base/types.h"
#include "search/result.h"

namespace pyengine {

/// The policy target as whole numbers, of `result.actions`: visits_of_good_moves(), without forced
/// playouts; by Gumbel the improved policy of these moves in units of 1 / kPolicyUnits. A proof
/// ends a search before it has compared the moves: of a proven win the target is the winning move
/// alone, and of a proven draw that left fewer than `least` visits one visit of each move that
/// draws.
[[nodiscard]] std::vector<std::uint32_t> policy_target(const SearchResult& result,
                                                       const SearchConfig& config,
                                                       std::uint64_t least);

/// Whether a search that proved nothing gave most of its visits to moves that are known to lose,
/// and fewer than `least` to the others: too few to teach them. Never by Gumbel.
[[nodiscard]] bool compares_too_little(const SearchResult& result, const SearchConfig& config,
                                       std::uint64_t least);

/// The move to play where `target`, which has a visit, is taught. What the search chose, but that a
/// move drawn among forced playouts is drawn anew, by the same number of `rng`, among those that
/// are taught.
[[nodiscard]] Action taught_move(const SearchResult& result,
                                 const std::vector<std::uint32_t>& target,
                                 const SearchConfig& config, Rng rng);

/// How much `target`, which has a visit, says that the evaluator did not: the divergence
/// KL(target || priors) in nats, at least 0 [D. Wu, KataGoMethods.md, "Policy Surprise Weighting",
/// which takes the priors with their noise]. `priors`: of `result.actions`, in any order.
[[nodiscard]] double policy_surprise(const SearchResult& result,
                                     const std::vector<std::uint32_t>& target,
                                     std::vector<Edge> priors);

/// Fits into the 16 bits of a record.
inline constexpr double kPolicyUnits = 65535.0;

/// Policy target pruning (D. Wu, "Accelerating self-play learning in Go", 2019, section 3.2). Every
/// move but the most visited one loses forced playouts, at most sqrt(k P n) of its visits, as long
/// as PUCT would still choose the most visited move; a move that keeps one visit loses it too.
[[nodiscard]] std::vector<std::uint32_t> without_forced(const SearchResult& result, double k,
                                                        const SearchConfig& config);

}  // namespace pyengine
