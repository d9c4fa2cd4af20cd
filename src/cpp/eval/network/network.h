/// Evaluators that read planes: encoder -> raw network -> decoder, with a cache of raw outputs. To
/// support another inference library, implement NetworkSource and RawNetwork; see
/// modelled_device.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "eval/evaluator.h"
#include "eval/network/encoder.h"
#include "eval/network/spec.h"

namespace pyengine {

/// The inputs and outputs that a network must have to fit a game.
struct NetworkShape {
  PlaneShape planes;
  int policy = 0;          ///< outputs per row: the game's actions
  int value = 1;           ///< 1 or 3
  bool fits_int8 = false;  ///< see Encoder
  friend bool operator==(const NetworkShape&, const NetworkShape&) = default;
};

/// The buffers of a batch, allocated once. The derived class sets the pointers.
class RawMemory {
 public:
  RawMemory() = default;
  RawMemory(const RawMemory&) = delete;
  RawMemory& operator=(const RawMemory&) = delete;
  virtual ~RawMemory() = default;

  std::byte* planes = nullptr;    ///< [capacity][planes] of RawNetwork::input_type()
  const float* policy = nullptr;  ///< [capacity][policy]; filled by run()
  const float* value = nullptr;   ///< [capacity][value]; filled by run()
  bool repeatable = false;        ///< see EvalBatch
};

/// Buffers of float32 in host memory.
struct FloatMemory : RawMemory {
  FloatMemory(const NetworkShape& shape, int capacity);
  std::vector<float> inputs;    ///< [capacity][planes]
  std::vector<float> policies;  ///< [capacity][policy]
  std::vector<float> values;    ///< [capacity][value]
};

/// A network bound to a game: planes in, raw outputs out. Safe to use from several threads with
/// different memories, unless it runs on the calling thread.
class RawNetwork {
 public:
  RawNetwork() = default;
  RawNetwork(const RawNetwork&) = delete;
  RawNetwork& operator=(const RawNetwork&) = delete;
  virtual ~RawNetwork() = default;

  [[nodiscard]] virtual ElementType input_type() const noexcept { return ElementType::float32; }
  /// Where run() is called.
  [[nodiscard]] virtual RunsOn runs_on() const noexcept { return {}; }
  /// Allocates memory for up to `capacity` rows.
  [[nodiscard]] virtual std::unique_ptr<RawMemory> make_memory(int capacity) = 0;
  /// Prepares to run on memory that was created by the same network on another device.
  virtual void adopt(RawMemory& memory) { static_cast<void>(memory); }
  /// Evaluates the first `rows` rows, at least one. Returns the number of rows computed, including
  /// padding. Throws EvaluationError.
  virtual int run(RawMemory& memory, int rows) = 0;
  /// Throws EvaluationError if the network can no longer be used (in a forked process). Cheap.
  virtual void check_usable() const {}
};

/// A loaded model or a callable, before it is bound to a game.
class NetworkSource {
 public:
  NetworkSource() = default;
  NetworkSource(const NetworkSource&) = delete;
  NetworkSource& operator=(const NetworkSource&) = delete;
  virtual ~NetworkSource() = default;
  /// See Evaluator::device_batches().
  [[nodiscard]] virtual int device_batches() const noexcept { return 0; }
  /// See Evaluator::provider().
  [[nodiscard]] virtual std::string provider_text() const = 0;
  /// Throws ModelError with the expected and the actual shapes.
  [[nodiscard]] virtual std::shared_ptr<RawNetwork> fit(const ModelSpec& spec,
                                                        const NetworkShape& shape) = 0;
};

class NetworkEvaluator final : public Evaluator {
 public:
  /// Throws ConfigError for an invalid spec.
  NetworkEvaluator(std::shared_ptr<NetworkSource> source, ModelSpec spec);
  [[nodiscard]] const ModelSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] int device_batches() const noexcept override { return source_->device_batches(); }
  [[nodiscard]] std::string provider() const override { return source_->provider_text(); }
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override;

 private:
  std::shared_ptr<NetworkSource> source_;
  ModelSpec spec_;
};

}  // namespace pyengine
