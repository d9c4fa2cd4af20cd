/// The formulas of Gumbel AlphaZero, defined only here.
///
///   improved policy    pi'(a) = softmax(log P(a) + sigma(completed Q(a)))
///   completed Q        Q(a) if the action has visits, else the mixed value
///   mixed value        (V + n sum P(b) Q(b) / sum P(b)) / (1 + n), sums over actions with visits
///   sigma(q)           (c_visit + max N) c_scale (q - least) / (most - least), least and most of
///                      the completed Q of all actions of the node: as in mctx
///
///   Q(a)   mean value of the action's visits, in [-1, 1], for the player to move at the node
///   P(a)   prior of the action
///   N(a)   visits of the action; n their sum
///   V      value of the node's own evaluation, for the player to move
///
/// Source: Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel",
/// 2022; the rescaling to [0, 1] follows mctx (qtransform_completed_by_mix_value).
#pragma once

#include <cstdint>
#include <vector>

namespace pyengine::gumbel {

/// Finite even for a prior of 0, which 16 bits cannot distinguish from a very small one.
inline constexpr double kLeastPrior = 1e-30;

/// log P(a), from a prior in [0, 1].
[[nodiscard]] double logit_of(double prior) noexcept;

/// The completed Q-values of one node: add() each visited action, then complete().
class CompletedQ {
 public:
  void add(double prior, double visits, double q) noexcept;
  /// `all_visited`: every action of the node was added.
  void complete(double network_value, bool all_visited, double c_visit, double c_scale) noexcept;

  /// The Q of unvisited actions.
  [[nodiscard]] double mixed() const noexcept { return mixed_; }
  [[nodiscard]] double sigma(double q) const noexcept { return scale_ * (q - least_) / range_; }
  /// pi'(a) up to a factor shared by all actions of the node; does not overflow.
  [[nodiscard]] double weight(double prior, double q) const noexcept;

 private:
  double visits_ = 0.0;
  double most_visits_ = 0.0;
  double prior_ = 0.0;  ///< sum over visited actions
  double prior_times_q_ = 0.0;
  double least_ = 1.0;
  double most_ = -1.0;
  double mixed_ = 0.0;
  double range_ = 1.0;
  double scale_ = 0.0;
};

/// pi' of all actions. `priors`, `visits` and `q` cover the legal actions; q is read only for
/// visited ones.
std::vector<double> improved_policy(const std::vector<float>& priors,
                                    const std::vector<std::uint32_t>& visits,
                                    const std::vector<float>& q, double network_value,
                                    double c_visit, double c_scale);

}  // namespace pyengine::gumbel
