/// Copies between host memory and a device's memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "eval/ort/library.h"

namespace pyengine::ort {

/// An interface to a device's library. Used by one thread.
class DeviceCopies {
 public:
  DeviceCopies() = default;
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;
  virtual ~DeviceCopies() = default;
  /// The device's memory as ONNX Runtime names it.
  [[nodiscard]] virtual Handle<OrtMemoryInfo> memory(const Api& api) const = 0;
  /// Called before a graph is captured; throws EvaluationError.
  virtual void before_capture() {}
  /// Both return when the copy is complete; throw EvaluationError.
  virtual void in(std::byte* device, const std::byte* program, std::size_t bytes) = 0;
  virtual void out(std::byte* program, const std::byte* device, std::size_t bytes) = 0;
};

/// Copies for an NVIDIA GPU with the CUDA runtime that ONNX Runtime's provider has loaded. Throws
/// ModelError if it is not loaded.
std::unique_ptr<DeviceCopies> cuda_copies(int device_id);

/// Copies for the processor as a substitute for a GPU, see OrtOptions::graphs.
std::unique_ptr<DeviceCopies> processor_copies(const std::string& kind);

}  // namespace pyengine::ort
