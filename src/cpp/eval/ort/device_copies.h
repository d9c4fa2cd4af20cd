/// Copies between the program's memory and a device's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "eval/ort/library.h"

namespace pyengine::ort {

/// The seam to a device's own library. One thread uses it.
class DeviceCopies {
 public:
  DeviceCopies() = default;
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;
  virtual ~DeviceCopies() = default;
  /// What ONNX Runtime calls the device's memory.
  [[nodiscard]] virtual Handle<OrtMemoryInfo> memory(const Api& api) const = 0;
  /// Before the call that captures a graph; throws EvaluationError as that may.
  virtual void before_capture() {}
  /// Both return when the bytes are there; throw EvaluationError.
  virtual void in(std::byte* device, const std::byte* program, std::size_t bytes) = 0;
  virtual void out(std::byte* program, const std::byte* device, std::size_t bytes) = 0;
};

/// Of an NVIDIA GPU, by the CUDA runtime that ONNX Runtime's provider has loaded. Throws ModelError
/// where there is none.
std::unique_ptr<DeviceCopies> cuda_copies(int device_id);

/// Of the processor as it stands in for a GPU, see OrtOptions::graphs.
std::unique_ptr<DeviceCopies> processor_copies(const std::string& kind);

}  // namespace pyengine::ort
