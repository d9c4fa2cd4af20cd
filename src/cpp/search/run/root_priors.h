/// The priors with which a search begins at its root: those of the evaluator, made flatter and
/// mixed with noise, so that self-play also looks at moves of which the network thinks little.
#pragma once

#include <span>
#include <vector>

#include "base/rng.h"
#include "search/config.h"
#include "search/tree/tree.h"

namespace pyengine {

/// One draw from a Dirichlet distribution: numbers of at least 0 with the sum 1.
[[nodiscard]] std::vector<double> dirichlet(Rng& rng, std::span<const double> alphas);

/// The concentrations of the noise at a root with these priors. Their mean is
/// SearchConfig::dirichlet_alpha or 10 / moves; all are equal, but with
/// SearchConfig::dirichlet_shaped, where half of their sum is given out in proportion to
/// max(0, l - mean l), l = ln(min(0.01, prior) + 1e-20) [D. Wu, KataGoMethods.md, "Shaped
/// Dirichlet Noise"; the formula is that of KataGo's search].
[[nodiscard]] std::vector<double> noise_concentrations(const SearchConfig& config,
                                                       std::span<const double> priors);

/// Per edge of the expanded root, in their order: prior^(1 / root_policy_temperature), normalised
/// [SAI; KataGo], then mixed with `dirichlet_fraction` of noise from `rng`. Empty where the search
/// takes the priors as they are.
[[nodiscard]] std::vector<double> changed_root_priors(const SearchConfig& config, const Tree& tree,
                                                      Rng& rng);

}  // namespace pyengine
