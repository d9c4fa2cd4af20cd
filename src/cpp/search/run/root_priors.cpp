#include "search/run/root_priors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/result.h"
#include "search/rules/rule.h"

namespace pyengine {
namespace {

constexpr double kLikely = 0.01;  ///< larger priors are treated as equal
constexpr double kLeast = 1e-20;

}  // namespace

std::vector<double> dirichlet(Rng& rng, std::span<const double> alphas) {
  std::vector<double> noise(alphas.size());
  double total = 0.0;
  for (std::size_t i = 0; i < noise.size(); ++i) total += noise[i] = rng.gamma(alphas[i]);
  const double equal = 1.0 / static_cast<double>(noise.size());
  for (double& x : noise) x = total > 0 ? x / total : equal;
  return noise;
}

std::vector<double> noise_concentrations(const SearchConfig& config,
                                         std::span<const double> priors) {
  const auto moves = static_cast<double>(priors.size());
  const double alpha = config.dirichlet_alpha.value_or(10.0 / moves);
  std::vector<double> alphas(priors.size(), alpha);
  if (!config.dirichlet_shaped) return alphas;
  std::vector<double> above(priors.size());
  std::transform(priors.begin(), priors.end(), above.begin(),
                 [](double prior) { return std::log(std::min(kLikely, prior) + kLeast); });
  const double mean = std::accumulate(above.begin(), above.end(), 0.0) / moves;
  for (double& x : above) x = std::max(0.0, x - mean);
  const double sum = std::accumulate(above.begin(), above.end(), 0.0);
  if (sum <= 0.0) return alphas;  // no move stands out
  for (std::size_t i = 0; i < alphas.size(); ++i) {
    alphas[i] = 0.5 * alpha * (1.0 + moves * above[i] / sum);
  }
  return alphas;
}

std::vector<double> changed_root_priors(const SearchConfig& config, const Tree& tree, Rng& rng) {
  const double fraction = config.dirichlet_fraction;
  const bool tempered = config.root_policy_temperature != 1.0;
  if (!reads_priors(config.algorithm) || (fraction == 0.0 && !tempered)) return {};
  std::vector<double> priors;
  for (const Edge edge : tree.edges(tree.root())) priors.push_back(unpack_prior(edge.prior()));
  if (tempered) priors = at_temperature(priors, config.root_policy_temperature);
  if (fraction == 0.0) return priors;
  const std::vector<double> noise = dirichlet(rng, noise_concentrations(config, priors));
  for (std::size_t i = 0; i < priors.size(); ++i) {
    priors[i] = (1.0 - fraction) * priors[i] + fraction * noise[i];
  }
  return priors;
}

}  // namespace pyengine
