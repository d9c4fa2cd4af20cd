#include "eval/rollout/policy_priors.h"

#include <cstddef>
#include <span>
#include <utility>

namespace pyengine {
namespace {

constexpr float kEqualShare = 0.1F;  ///< share of the priors that is distributed equally

struct PriorsBatch final : EvalBatch {
  using EvalBatch::EvalBatch;
  std::unique_ptr<PolicyPlayouts> playouts;
};

class BoundPriors final : public BoundEvaluator {
 public:
  BoundPriors(std::shared_ptr<const AnyGame> game, std::shared_ptr<const PlayoutPolicy> policy)
      : game_(std::move(game)), policy_(std::move(policy)) {}

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.answering = Answering::immediate};
  }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = std::make_unique<PriorsBatch>(capacity);
    batch->playouts = policy_->bind(*game_);
    batch->bytes += batch->playouts->bytes();
    return batch;
  }
  int request(EvalBatch& batch, const AnyPosition& position) override {
    EvalLeaf& leaf = batch.next();
    PolicyPlayouts& playouts = *static_cast<PriorsBatch&>(batch).playouts;
    const auto moves = static_cast<std::size_t>(leaf.legal.size());
    leaf.priors.resize(moves);
    playouts.begin(position);
    playouts.probabilities({leaf.legal.data(), moves}, leaf.priors);
    const float share = kEqualShare / static_cast<float>(moves);
    for (float& prior : leaf.priors) prior = (1.0F - kEqualShare) * prior + share;
    leaf.equal_priors = false;
    leaf.value = 0.0F;
    return kAnswered;
  }

 private:
  std::shared_ptr<const AnyGame> game_;
  std::shared_ptr<const PlayoutPolicy> policy_;
};

}  // namespace

PolicyPriorsEvaluator::PolicyPriorsEvaluator(std::shared_ptr<const PlayoutPolicy> policy)
    : policy_(std::move(policy)) {}

std::unique_ptr<BoundEvaluator> PolicyPriorsEvaluator::bind(std::shared_ptr<const AnyGame> game,
                                                            const BindOptions&) {
  static_cast<void>(policy_->bind(*game));  // throws now rather than during a search
  return std::make_unique<BoundPriors>(std::move(game), policy_);
}

}  // namespace pyengine
