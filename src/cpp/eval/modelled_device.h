/// A simulated accelerator: it sleeps for a modelled time per batch, so that a machine without an
/// accelerator can measure how well a search keeps one busy.
///
/// Everything around the device is real: the encoder writes the planes into the batch, the batch is
/// padded to a GPU's sizes, the decoder reads the outputs and the cache stores them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "eval/network/network.h"

namespace pyengine {

/// How long a device takes and how it is fed.
struct DeviceModel {
  double latency = 2e-3;  ///< seconds per batch, whatever its size; >= 0
  double per_row = 5e-6;  ///< seconds per row, including padding; >= 0
  /// Batches in service at the same time, 1..64. 0: no device; a worker evaluates its batch in the
  /// same time.
  int streams = 2;
  bool buckets = true;   ///< pad batches to the sizes of a GPU
  bool uniform = false;  ///< equal priors and value 0; otherwise a function of the position
};

/// Counters of a device since construction. Times are in seconds.
struct DeviceCounters {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;     ///< without padding
  std::uint64_t padding = 0;  ///< rows
  double busy = 0.0;          ///< in service, summed over streams
  double late = 0.0;          ///< from the end of a batch until its thread wakes up, summed
};

/// Fits every game and spec. Several engines may share a device and its streams.
class ModelledDevice final : public NetworkSource {
 public:
  /// Throws ConfigError naming the first field that is out of range.
  explicit ModelledDevice(const DeviceModel& model);
  ~ModelledDevice() override;

  [[nodiscard]] int device_batches() const noexcept override;
  [[nodiscard]] std::string provider_text() const override { return "modelled device"; }
  std::shared_ptr<RawNetwork> fit(const ModelSpec& spec, const NetworkShape& shape) override;
  /// Callable at any time from any thread.
  [[nodiscard]] DeviceCounters counters() const;

 private:
  class Streams;
  class Network;
  std::shared_ptr<Streams> streams_;
};

}  // namespace pyengine
