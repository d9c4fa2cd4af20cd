#include "eval/rollout/policy_rollout.h"

#include <utility>

#include "eval/playouts.h"

namespace pyengine {

PolicyRolloutEvaluator::PolicyRolloutEvaluator(int rollouts,
                                               std::shared_ptr<const PlayoutPolicy> policy)
    : rollouts_(checked_rollouts(rollouts)), policy_(std::move(policy)) {}

std::unique_ptr<BoundEvaluator> PolicyRolloutEvaluator::bind(std::shared_ptr<const AnyGame> game,
                                                             const BindOptions& options) {
  static_cast<void>(policy_->bind(*game));  // throws now rather than during a search
  return std::make_unique<BoundPlayouts<PolicyPlayouts>>(
      rollouts_, options.seed, Answering::on_the_spot,
      [policy = policy_, game = std::move(game)] { return policy->bind(*game); });
}

}  // namespace pyengine
