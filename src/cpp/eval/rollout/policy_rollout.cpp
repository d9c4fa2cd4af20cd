#include "eval/rollout/policy_rollout.h"

#include <atomic>
#include <string>
#include <utility>

#include "base/error.h"

namespace pyengine {
namespace {

/// The board that playouts are played on.
struct PolicyBatch final : EvalBatch {
  using EvalBatch::EvalBatch;
  std::unique_ptr<PolicyPlayouts> playouts;
};

class BoundPolicyRollout final : public BoundEvaluator {
 public:
  BoundPolicyRollout(int rollouts, std::uint64_t seed, std::shared_ptr<const AnyGame> game,
                     std::shared_ptr<const PlayoutPolicy> policy)
      : rollouts_(rollouts), seed_(seed), game_(std::move(game)), policy_(std::move(policy)) {
    static_cast<void>(policy_->bind(*game_));  // throws here and not in the search
  }

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.reads_positions = true, .equal_priors = true};
  }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    auto batch = std::make_unique<PolicyBatch>(capacity);
    batch->playouts = policy_->bind(*game_);
    batch->bytes += batch->playouts->bytes();
    return batch;
  }
  int request(EvalBatch&, const AnyPosition&) override { return 1; }
  void evaluate(EvalBatch& batch) override {
    auto& playouts = *static_cast<PolicyBatch&>(batch).playouts;
    for (int i = 0; i < batch.num_leaves; ++i) {
      EvalLeaf& leaf = batch.leaves[static_cast<std::size_t>(i)];
      leaf.equal_priors = true;
      leaf.value = play(leaf, playouts);
    }
    rows_.fetch_add(static_cast<std::uint64_t>(batch.num_leaves), std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] EvaluatorStats stats() const noexcept override {
    return {.rows = rows_.load(std::memory_order_relaxed),
            .batches = batches_.load(std::memory_order_relaxed)};
  }
  [[nodiscard]] std::string provider() const override { return "rollout policy"; }

 private:
  /// Mean outcome of the playouts for the player to move.
  float play(const EvalLeaf& leaf, PolicyPlayouts& playouts) const {
    Rng rng(seed_, leaf.number);
    playouts.begin(*leaf.position);
    double sum = 0.0;
    for (int i = 0; i < rollouts_; ++i) sum += playouts.play_out(rng).for_player(leaf.to_move);
    return static_cast<float>(sum / rollouts_);
  }

  int rollouts_;
  std::uint64_t seed_;
  std::shared_ptr<const AnyGame> game_;
  std::shared_ptr<const PlayoutPolicy> policy_;
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> batches_{0};
};

}  // namespace

PolicyRolloutEvaluator::PolicyRolloutEvaluator(int rollouts,
                                               std::shared_ptr<const PlayoutPolicy> policy)
    : rollouts_(rollouts), policy_(std::move(policy)) {
  if (rollouts < 1 || rollouts > 1'000'000) {
    throw ConfigError("rollouts must be 1 to 1000000, found " + std::to_string(rollouts));
  }
}

std::unique_ptr<BoundEvaluator> PolicyRolloutEvaluator::bind(std::shared_ptr<const AnyGame> game,
                                                             const BindOptions& options) {
  return std::make_unique<BoundPolicyRollout>(rollouts_, options.seed, std::move(game), policy_);
}

}  // namespace pyengine
