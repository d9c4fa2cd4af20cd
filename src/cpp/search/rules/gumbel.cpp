#include "search/rules/gumbel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace pyengine::gumbel {
namespace {

constexpr double kLeastRange = 1e-8;  ///< minimum range of completed Q-values [mctx, epsilon]
constexpr double kMostScale = 1e100;  ///< finite; exponentials saturate to 0 or 1 long before

}  // namespace

double logit_of(double prior) noexcept { return std::log(std::max(prior, kLeastPrior)); }

void CompletedQ::add(double prior, double visits, double q) noexcept {
  const double p = std::max(prior, kLeastPrior);
  visits_ += visits;
  most_visits_ = std::max(most_visits_, visits);
  prior_ += p;
  prior_times_q_ += p * q;
  least_ = std::min(least_, q);
  most_ = std::max(most_, q);
}

void CompletedQ::complete(double network_value, bool all_visited, double c_visit,
                          double c_scale) noexcept {
  const double weighted_q = visits_ > 0.0 ? prior_times_q_ / prior_ : 0.0;
  mixed_ = (network_value + visits_ * weighted_q) / (1.0 + visits_);
  if (!all_visited) {
    least_ = std::min(least_, mixed_);
    most_ = std::max(most_, mixed_);
  }
  range_ = std::max(most_ - least_, kLeastRange);
  scale_ = std::min((c_visit + most_visits_) * c_scale, kMostScale);
}

double CompletedQ::weight(double prior, double q) const noexcept {
  return std::max(prior, kLeastPrior) * std::exp(sigma(q) - sigma(most_));
}

std::vector<double> improved_policy(const std::vector<float>& priors,
                                    const std::vector<std::uint32_t>& visits,
                                    const std::vector<float>& q, double network_value,
                                    double c_visit, double c_scale) {
  CompletedQ completed;
  bool all_visited = true;
  for (std::size_t i = 0; i < priors.size(); ++i) {
    if (visits[i] != 0) completed.add(priors[i], visits[i], q[i]);
    all_visited = all_visited && visits[i] != 0;
  }
  completed.complete(network_value, all_visited, c_visit, c_scale);
  std::vector<double> policy(priors.size());
  double total = 0.0;
  for (std::size_t i = 0; i < priors.size(); ++i) {
    policy[i] = completed.weight(priors[i], visits[i] != 0 ? q[i] : completed.mixed());
    total += policy[i];
  }
  for (double& p : policy) p /= total;
  return policy;
}

}  // namespace pyengine::gumbel
