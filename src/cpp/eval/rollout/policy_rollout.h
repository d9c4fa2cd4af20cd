/// An evaluator that plays playouts with a policy.
#pragma once

#include <memory>
#include <string>

#include "eval/evaluator.h"
#include "games/any/playout_policy.h"

namespace pyengine {

/// Equal priors and the mean value of `rollouts` playouts with a policy from the leaf. As in
/// RolloutEvaluator, the random stream of a leaf is (seed, number of the leaf).
class PolicyRolloutEvaluator final : public Evaluator {
 public:
  /// Throws ConfigError unless 1 <= rollouts <= 1'000'000.
  PolicyRolloutEvaluator(int rollouts, std::shared_ptr<const PlayoutPolicy> policy);
  [[nodiscard]] std::string provider() const override { return "rollout policy"; }
  /// Throws ModelError if the policy is for another game.
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override;

 private:
  int rollouts_;
  std::shared_ptr<const PlayoutPolicy> policy_;
};

}  // namespace pyengine
