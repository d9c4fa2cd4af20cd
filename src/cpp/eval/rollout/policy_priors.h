/// The probabilities of a playout policy as priors.
#pragma once

#include <memory>

#include "eval/evaluator.h"
#include "games/any/playout_policy.h"

namespace pyengine {

/// Priors: 0.9 of a policy's probability and 0.1 / moves, since the policy gives 0 to moves that
/// may be good, the pass among them. Value 0: for a mix with playouts.
class PolicyPriorsEvaluator final : public Evaluator {
 public:
  explicit PolicyPriorsEvaluator(std::shared_ptr<const PlayoutPolicy> policy);
  /// Throws ModelError where the policy is for another game.
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override;

 private:
  std::shared_ptr<const PlayoutPolicy> policy_;
};

}  // namespace pyengine
