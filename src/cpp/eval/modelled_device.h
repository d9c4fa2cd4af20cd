/// A stand-in for an accelerator: it answers a batch after a modelled time during which it sleeps,
/// so that a machine without one can measure how well a search keeps one busy.
///
/// Everything before and after the device is real: the encoder writes the planes into the batch, a
/// GPU's buckets pad it, the decoder reads the outputs, the cache remembers them.
#pragma once

#include <cstdint>
#include <memory>

#include "eval/network/network.h"

namespace pyengine {

/// How long a device takes, and how it is fed.
struct DeviceModel {
  double latency = 2e-3;  ///< seconds of a batch, whatever its size; >= 0
  double per_row = 5e-6;  ///< seconds of a row, padding included; >= 0
  /// Batches in service at once, 1..64. 0: no device; a worker evaluates its batch itself, in
  /// that time.
  int streams = 2;
  bool buckets = true;   ///< batches are padded to the sizes that a GPU's are
  bool uniform = false;  ///< equal priors and value 0; else a function of the position
};

/// What a device has done since it was made. Times are in seconds.
struct DeviceCounters {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;     ///< without padding
  std::uint64_t padding = 0;  ///< rows
  double busy = 0.0;          ///< in service, summed over streams
  double late = 0.0;          ///< from the end of a batch until its thread wakes up, summed
};

/// Fits every game and spec. One device may serve several engines, which then share its streams.
class ModelledDevice final : public NetworkSource {
 public:
  /// Throws ConfigError naming the first field that is out of range.
  explicit ModelledDevice(const DeviceModel& model);
  ~ModelledDevice() override;

  [[nodiscard]] int device_batches() const noexcept override;
  std::shared_ptr<RawNetwork> fit(const ModelSpec& spec, const NetworkShape& shape) override;
  /// At any time, from any thread.
  [[nodiscard]] DeviceCounters counters() const;

 private:
  class Streams;
  class Network;
  std::shared_ptr<Streams> streams_;
};

}  // namespace pyengine
