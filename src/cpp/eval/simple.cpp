#include "eval/simple.h"

#include <atomic>
#include <string>

#include "base/error.h"

namespace pyengine {
namespace {

class BoundUniform final : public BoundEvaluator {
 public:
  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.equal_priors = true, .immediate = true};
  }
  int request(EvalBatch& batch, const AnyPosition&) override {
    EvalLeaf& leaf = batch.next();
    leaf.equal_priors = true;
    leaf.value = 0.0F;
    return kAnswered;
  }
  [[nodiscard]] std::string provider() const override { return "uniform"; }
};

struct PlayoutBatch final : EvalBatch {
  using EvalBatch::EvalBatch;
  PlayoutSpace space;
};

class BoundRollout final : public BoundEvaluator {
 public:
  BoundRollout(int rollouts, std::uint64_t seed) : rollouts_(rollouts), seed_(seed) {}

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.reads_positions = true, .equal_priors = true, .on_the_spot = true};
  }
  [[nodiscard]] std::unique_ptr<EvalBatch> make_batch(int capacity) override {
    return std::make_unique<PlayoutBatch>(capacity);
  }
  int request(EvalBatch&, const AnyPosition&) override { return 1; }
  void evaluate(EvalBatch& batch) override {
    auto& own = static_cast<PlayoutBatch&>(batch);
    for (int i = 0; i < batch.num_leaves; ++i) {
      EvalLeaf& leaf = batch.leaves[static_cast<std::size_t>(i)];
      play(leaf, *leaf.position, own.space);
    }
    rows_.fetch_add(static_cast<std::uint64_t>(batch.num_leaves), std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
  }
  void answer(EvalBatch& batch, const AnyPosition& position) override {
    play(batch.next(), position, static_cast<PlayoutBatch&>(batch).space);
    answers_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] EvaluatorStats stats() const noexcept override {
    const std::uint64_t answers = answers_.load(std::memory_order_relaxed);
    return {.rows = rows_.load(std::memory_order_relaxed) + answers,
            .batches = batches_.load(std::memory_order_relaxed) + answers};
  }
  [[nodiscard]] std::string provider() const override { return "rollout"; }

 private:
  /// The leaf's value becomes the mean outcome of the playouts for the player to move.
  void play(EvalLeaf& leaf, const AnyPosition& position, PlayoutSpace& space) const {
    Rng rng(seed_, leaf.number);
    double sum = 0.0;
    for (int i = 0; i < rollouts_; ++i) {
      sum += position.play_out(rng, space).outcome.for_player(leaf.to_move);
    }
    leaf.equal_priors = true;
    leaf.value = static_cast<float>(sum / rollouts_);
  }

  int rollouts_;
  std::uint64_t seed_;
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> batches_{0};
  std::atomic<std::uint64_t> answers_{0};  ///< on the spot, each a row and a batch
};

}  // namespace

std::unique_ptr<BoundEvaluator> UniformEvaluator::bind(std::shared_ptr<const AnyGame>,
                                                       const BindOptions&) {
  return std::make_unique<BoundUniform>();
}

RolloutEvaluator::RolloutEvaluator(int rollouts) : rollouts_(rollouts) {
  if (rollouts < 1 || rollouts > 1'000'000) {
    throw ConfigError("rollouts must be 1 to 1000000, found " + std::to_string(rollouts));
  }
}

std::unique_ptr<BoundEvaluator> RolloutEvaluator::bind(std::shared_ptr<const AnyGame>,
                                                       const BindOptions& options) {
  return std::make_unique<BoundRollout>(rollouts_, options.seed);
}

}  // namespace pyengine
