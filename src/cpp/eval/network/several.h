/// One network on several devices: a batch goes to the device that has the fewest in service, of
/// several to the first. So a search with one batch at a time uses one device.
#pragma once

#include <memory>
#include <vector>

#include "eval/network/network.h"

namespace pyengine {

class SeveralDevices final : public NetworkSource {
 public:
  /// The same network, open on each device. Throws ConfigError where there is none, ModelError
  /// where one runs on the processor.
  explicit SeveralDevices(std::vector<std::shared_ptr<NetworkSource>> devices);
  /// Of all devices together.
  [[nodiscard]] int device_batches() const noexcept override;
  std::shared_ptr<RawNetwork> fit(const ModelSpec& spec, const NetworkShape& shape) override;

 private:
  std::vector<std::shared_ptr<NetworkSource>> devices_;
};

}  // namespace pyengine
