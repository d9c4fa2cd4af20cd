/// AlphaGo's leaf evaluation: a network's value mixed with another evaluator's.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "eval/evaluator.h"

namespace pyengine {

/// Leaf value (1 - mix) * network + mix * other, with the network's priors [AlphaGo, with playouts
/// as the other part]. Symmetries apply to the network only; the other part evaluates the identity.
/// With a mix of 0, searches are those of the network alone.
class MixedEvaluator final : public Evaluator {
 public:
  /// Throws ConfigError unless 0 <= mix <= 1.
  MixedEvaluator(std::shared_ptr<Evaluator> network, std::shared_ptr<Evaluator> other, double mix);
  [[nodiscard]] int device_batches() const noexcept override {
    const int network = network_->device_batches();
    return mix_ == 0.0F ? network : std::max(network, other_->device_batches());
  }
  [[nodiscard]] std::string provider() const override {
    const std::string network = network_->provider();
    return mix_ == 0.0F ? network : network + " + " + other_->provider();
  }
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override;

 private:
  std::shared_ptr<Evaluator> network_;
  std::shared_ptr<Evaluator> other_;
  float mix_;
};

}  // namespace pyengine
