/// A test network whose answers differ under every symmetry.
#pragma once

#include <cmath>
#include <memory>
#include <string>

#include "eval/network/network.h"

namespace pyengine::sum_network {

/// A network that answers with weighted sums of the planes.
class SumNetwork final : public RawNetwork {
 public:
  explicit SumNetwork(const NetworkShape& shape) : shape_(shape) {}
  [[nodiscard]] std::unique_ptr<RawMemory> make_memory(int capacity) override {
    return std::make_unique<FloatMemory>(shape_, capacity);
  }
  int run(RawMemory& raw, int rows) override {
    auto& memory = static_cast<FloatMemory&>(raw);
    const std::size_t width = shape_.planes.elements();
    for (int r = 0; r < rows; ++r) {
      const float* row = memory.inputs.data() + static_cast<std::size_t>(r) * width;
      for (int a = 0; a < shape_.policy; ++a) {
        float sum = 0.0F;
        for (std::size_t i = 0; i < width; ++i) {
          sum += row[i] * std::sin(static_cast<float>(i * 31 + static_cast<std::size_t>(a)));
        }
        memory.policies[static_cast<std::size_t>(r * shape_.policy + a)] = sum;
        memory.values[static_cast<std::size_t>(r)] = std::tanh(0.3F * sum);
      }
    }
    return rows;
  }

 private:
  NetworkShape shape_;
};

class SumSource final : public NetworkSource {
 public:
  [[nodiscard]] std::string provider_text() const override { return "sums"; }
  [[nodiscard]] std::shared_ptr<RawNetwork> fit(const ModelSpec&,
                                                const NetworkShape& shape) override {
    return std::make_shared<SumNetwork>(shape);
  }
};

}  // namespace pyengine::sum_network
