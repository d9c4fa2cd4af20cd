/// The buffers of a batch and the calls of ONNX Runtime that use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "eval/network/network.h"
#include "eval/ort/call_plan.h"
#include "eval/ort/model.h"

namespace pyengine::ort {

/// An output of a model and how a batch reads it.
struct OutputPlan {
  std::string name;
  ElementType type = ElementType::float32;
  std::vector<std::int64_t> shape;  ///< [0] is the number of rows of a call
  std::size_t row = 0;              ///< numbers per row
};

/// How a model is called for a game.
struct Plan {
  std::string input;
  ElementType input_type = ElementType::float32;
  std::vector<std::int64_t> input_shape;  ///< [0] is the number of rows of a call
  std::size_t input_row = 0;              ///< numbers per row
  OutputPlan policy;
  OutputPlan value;
  int fixed_batch = 0;  ///< 0 = free
  /// Whether the outputs' shapes are known.
  [[nodiscard]] bool probed() const noexcept { return !policy.shape.empty(); }
};

/// Zeroed, cache-line aligned memory. Page-locked memory was no faster with a GPU.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }

 private:
  struct Delete {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, Delete> memory_;
};

/// An output's memory; halves are converted to floats.
class Output {
 public:
  Output(const OutputPlan& plan, std::size_t rows);
  [[nodiscard]] std::byte* row(int i) const noexcept;
  [[nodiscard]] const float* floats() const noexcept;
  void convert(int rows);

 private:
  const OutputPlan& plan_;
  Buffer raw_;
  std::vector<float> floats_;
};

/// The buffers of a batch and its calls, one for each part that has run on a device.
class OrtMemory final : public RawMemory {
 public:
  OrtMemory(std::shared_ptr<LoadedModel> model, std::shared_ptr<const Plan> plan, CallPlan calls,
            int capacity);
  OrtMemory(const OrtMemory&) = delete;
  OrtMemory& operator=(const OrtMemory&) = delete;
  ~OrtMemory() override;

  /// On a device: opens and runs the sessions of all worthwhile sizes now rather than during the
  /// search. `model`: the constructor's, or the same file on another device.
  void prepare(LoadedModel& model);
  /// Runs the first `rows` rows on the model; returns the number of rows computed.
  int run(LoadedModel& model, int rows);

 private:
  struct Call {
    OrtSession* session = nullptr;  ///< on a device
    Handle<OrtValue> input;
    Handle<OrtValue> policy;
    Handle<OrtValue> value;
    HostCall host;  ///< the tensors, for CUDA graphs
  };

  [[nodiscard]] std::size_t rows_of(int capacity) const noexcept;
  [[nodiscard]] const CallPlan& calls_of(const LoadedModel& model) const;
  [[nodiscard]] DeviceCall device_call(int rows) const;
  Call& call(LoadedModel& model, int start, int rows);
  Call tensors(int start, int rows) const;
  /// Also captures the call if CUDA graphs are on.
  void first_run(const LoadedModel& model, OrtSession* session, Call& call) const;
  void run(const LoadedModel& model, OrtSession* session, Call& call) const;
  void run_plainly(OrtSession* session, const OrtRunOptions* with, Call& call) const;

  const CallPlan calls_;                          ///< with all sizes
  std::map<const LoadedModel*, CallPlan> plans_;  ///< measured on each device
  std::shared_ptr<LoadedModel> model_;
  const Api& api_;
  std::shared_ptr<const Plan> plan_;
  Handle<OrtMemoryInfo> cpu_;
  Buffer input_;
  Output policy_;
  Output value_;
  std::map<std::tuple<const LoadedModel*, int, int>, Call>
      made_;  ///< by model, first row and rows; the network that owns the models outlives the
              ///< memory
};

}  // namespace pyengine::ort
