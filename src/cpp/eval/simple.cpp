#include "eval/simple.h"

#include <memory>
#include <string>

#include "base/error.h"
#include "eval/playouts.h"

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

/// By the position itself.
class UniformPlayouts {
 public:
  void begin(const AnyPosition& position) noexcept { position_ = &position; }
  Outcome play_out(Rng& rng) { return position_->play_out(rng, space_).outcome; }
  [[nodiscard]] static std::size_t bytes() noexcept { return 0; }

 private:
  const AnyPosition* position_ = nullptr;
  PlayoutSpace space_;
};

}  // namespace

std::unique_ptr<BoundEvaluator> UniformEvaluator::bind(std::shared_ptr<const AnyGame>,
                                                       const BindOptions&) {
  return std::make_unique<BoundUniform>();
}

int checked_rollouts(int rollouts) {
  if (rollouts < 1 || rollouts > 1'000'000) {
    throw ConfigError("rollouts must be 1 to 1000000, found " + std::to_string(rollouts));
  }
  return rollouts;
}

RolloutEvaluator::RolloutEvaluator(int rollouts) : rollouts_(checked_rollouts(rollouts)) {}

std::unique_ptr<BoundEvaluator> RolloutEvaluator::bind(std::shared_ptr<const AnyGame>,
                                                       const BindOptions& options) {
  return std::make_unique<BoundPlayouts<UniformPlayouts>>(
      "rollout", rollouts_, options.seed, [] { return std::make_unique<UniformPlayouts>(); });
}

}  // namespace pyengine
