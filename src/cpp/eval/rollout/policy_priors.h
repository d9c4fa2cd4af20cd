/// The probabilities of a playout policy as priors.
#pragma once

#include <memory>
#include <string>

#include "eval/evaluator.h"
#include "games/any/playout_policy.h"

namespace pyengine {

/// Priors: 0.9 times the policy's probability plus 0.1 / moves, because the policy gives 0 to moves
/// that may be good, including the pass. Value 0: combine it with playouts in a MixedEvaluator.
class PolicyPriorsEvaluator final : public Evaluator {
 public:
  explicit PolicyPriorsEvaluator(std::shared_ptr<const PlayoutPolicy> policy);
  [[nodiscard]] std::string provider() const override { return "rollout policy's priors"; }
  /// Throws ModelError if the policy is for another game.
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override;

 private:
  std::shared_ptr<const PlayoutPolicy> policy_;
};

}  // namespace pyengine
