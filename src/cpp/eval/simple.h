/// Evaluators without a network: equal priors with value 0, or with the value of random playouts.
#pragma once

#include <memory>
#include <string>

#include "eval/evaluator.h"

namespace pyengine {

/// Equal priors, value 0.
class UniformEvaluator final : public Evaluator {
 public:
  [[nodiscard]] std::string provider() const override { return "uniform"; }
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override;
};

/// Equal priors and the mean value of `rollouts` playouts from the leaf (AnyPosition::play_out).
/// Playouts of Go do not fill single-point eyes of their own colour, which would kill whole groups.
class RolloutEvaluator final : public Evaluator {
 public:
  /// Throws ConfigError unless 1 <= rollouts <= 1'000'000.
  explicit RolloutEvaluator(int rollouts = 1);
  [[nodiscard]] std::string provider() const override { return "rollout"; }
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override;

 private:
  int rollouts_;
};

}  // namespace pyengine
