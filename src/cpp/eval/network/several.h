/// One network on several devices. A batch runs on the device with the fewest batches in service,
/// on the first of these if there are several. So a search with one batch at a time uses one
/// device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "eval/network/network.h"

namespace pyengine {

class SeveralDevices final : public NetworkSource {
 public:
  /// `devices`: the same network, open on each device. Throws ConfigError if it is empty and
  /// ModelError if one of them runs on the processor.
  explicit SeveralDevices(std::vector<std::shared_ptr<NetworkSource>> devices);
  /// Sum over all devices.
  [[nodiscard]] int device_batches() const noexcept override;
  /// The distinct providers of the devices.
  [[nodiscard]] std::string provider_text() const override;
  std::shared_ptr<RawNetwork> fit(const ModelSpec& spec, const NetworkShape& shape) override;

 private:
  std::vector<std::shared_ptr<NetworkSource>> devices_;
};

}  // namespace pyengine
