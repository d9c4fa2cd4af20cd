/// Evaluators that read planes: encoder -> raw network -> decoder, with a cache of raw outputs.
///
/// A model of another library is a NetworkSource and a RawNetwork; see modelled_device.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "eval/evaluator.h"
#include "eval/network/encoder.h"
#include "eval/network/spec.h"

namespace pyengine {

/// What a network must take and give to fit a game.
struct NetworkShape {
  PlaneShape planes;
  int policy = 0;          ///< numbers of a row: the game's actions
  int value = 1;           ///< 1 or 3
  bool fits_int8 = false;  ///< see Encoder
  friend bool operator==(const NetworkShape&, const NetworkShape&) = default;
};

/// The buffers of a batch, allocated once. Whoever makes the memory sets the pointers.
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

/// Buffers of float32 in the program's memory.
struct FloatMemory : RawMemory {
  FloatMemory(const NetworkShape& shape, int capacity);
  std::vector<float> inputs;    ///< [capacity][planes]
  std::vector<float> policies;  ///< [capacity][policy]
  std::vector<float> values;    ///< [capacity][value]
};

/// A network that fits a game: planes in, raw outputs out. Safe to use from several threads with
/// different memories, unless calling_thread().
class RawNetwork {
 public:
  RawNetwork() = default;
  RawNetwork(const RawNetwork&) = delete;
  RawNetwork& operator=(const RawNetwork&) = delete;
  virtual ~RawNetwork() = default;

  [[nodiscard]] virtual ElementType input_type() const noexcept { return ElementType::float32; }
  /// See EvaluatorTraits.
  [[nodiscard]] virtual bool calling_thread() const noexcept { return false; }
  [[nodiscard]] virtual int device_batches() const noexcept { return 0; }
  [[nodiscard]] virtual std::string provider() const = 0;
  /// Memory for at most `capacity` rows.
  [[nodiscard]] virtual std::unique_ptr<RawMemory> make_memory(int capacity) = 0;
  /// Prepares to run on memory that the same network on another device has made.
  virtual void adopt(RawMemory& memory) { static_cast<void>(memory); }
  /// Evaluates the first `rows` rows, at least one. Returns the rows computed, padding included.
  /// Throws EvaluationError.
  virtual int run(RawMemory& memory, int rows) = 0;
  /// Throws EvaluationError when the network can no longer be used (in a forked process). Cheap.
  virtual void check_usable() const {}
};

/// A loaded model or a callable, before the game is known.
class NetworkSource {
 public:
  NetworkSource() = default;
  NetworkSource(const NetworkSource&) = delete;
  NetworkSource& operator=(const NetworkSource&) = delete;
  virtual ~NetworkSource() = default;
  /// See Evaluator::device_batches().
  [[nodiscard]] virtual int device_batches() const noexcept { return 0; }
  /// Throws ModelError saying what was expected and what was found.
  [[nodiscard]] virtual std::shared_ptr<RawNetwork> fit(const ModelSpec& spec,
                                                        const NetworkShape& shape) = 0;
};

class NetworkEvaluator final : public Evaluator {
 public:
  /// Throws ConfigError for a bad spec.
  NetworkEvaluator(std::shared_ptr<NetworkSource> source, ModelSpec spec);
  [[nodiscard]] const ModelSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] int device_batches() const noexcept override { return source_->device_batches(); }
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions& options) override;

 private:
  std::shared_ptr<NetworkSource> source_;
  ModelSpec spec_;
};

}  // namespace pyengine
