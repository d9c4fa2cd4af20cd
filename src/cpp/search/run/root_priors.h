/// The priors that a search uses at its root: the evaluator's, flattened and mixed with noise so
/// that self-play also explores moves that the network rates low.
#pragma once

#include <span>
#include <vector>

#include "base/rng.h"
#include "search/config.h"
#include "search/tree/tree.h"

namespace pyengine {

/// A sample from a Dirichlet distribution: nonnegative numbers with sum 1.
[[nodiscard]] std::vector<double> dirichlet(Rng& rng, std::span<const double> alphas);

/// Concentrations of the root noise for these priors. Their mean is SearchConfig::dirichlet_alpha
/// or 10 / moves. All are equal unless SearchConfig::dirichlet_shaped is set: then half of the sum
/// is distributed in proportion to max(0, l - mean l), l = ln(min(0.01, prior) + 1e-20) [D. Wu,
/// KataGoMethods.md, "Shaped Dirichlet Noise"; the formula is from KataGo's search].
[[nodiscard]] std::vector<double> noise_concentrations(const SearchConfig& config,
                                                       std::span<const double> priors);

/// The root's priors in the order of its edges: prior^(1 / root_policy_temperature), normalised
/// [SAI; KataGo], then mixed with `dirichlet_fraction` of noise from `rng`. Empty if the search
/// uses the priors unchanged.
[[nodiscard]] std::vector<double> changed_root_priors(const SearchConfig& config, const Tree& tree,
                                                      Rng& rng);

}  // namespace pyengine
