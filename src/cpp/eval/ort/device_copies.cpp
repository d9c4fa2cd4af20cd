#include "eval/ort/device_copies.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "eval/ort/shared_library.h"

namespace pyengine::ort {
namespace {

#ifdef _WIN32
constexpr std::array kRuntimes = {"cudart64_13.dll", "cudart64_12.dll"};
#else
constexpr std::array kRuntimes = {"libcudart.so.13", "libcudart.so.12"};
#endif

Handle<OrtMemoryInfo> named_memory(const Api& api, const char* name, int device_id) {
  return make<EvaluationError, OrtMemoryInfo>(
      api, api.ReleaseMemoryInfo, "memory of a device", [&](auto** result) {
        return api.CreateMemoryInfo(name, kArenaAllocator, device_id, kMemTypeDefault, result);
      });
}

/// The functions of the CUDA runtime that we call. Nonzero results are errors.
struct CudaRuntime {
  int (*cudaSetDevice)(int device) = nullptr;
  int (*cudaMemcpyAsync)(void* to, const void* from, std::size_t bytes, int kind,
                         void* stream) = nullptr;
  int (*cudaStreamSynchronize)(void* stream) = nullptr;
  const char* (*cudaGetErrorString)(int error) = nullptr;
};

template <class Function>
void take(void* library, const char* name, Function& function) {
  void* address = function_of(library, name);
  if (address == nullptr) throw ModelError(std::string("the CUDA runtime has no ") + name);
  std::memcpy(&function, &address, sizeof function);  // NOLINT(bugprone-bitwise-pointer-cast)
}

CudaRuntime cuda_runtime() {
  for (const char* name : kRuntimes) {
    void* library = loaded_library(name);
    if (library == nullptr) continue;
    CudaRuntime runtime;
    take(library, "cudaSetDevice", runtime.cudaSetDevice);
    take(library, "cudaMemcpyAsync", runtime.cudaMemcpyAsync);
    take(library, "cudaStreamSynchronize", runtime.cudaStreamSynchronize);
    take(library, "cudaGetErrorString", runtime.cudaGetErrorString);
    return runtime;
  }
  throw ModelError(std::string("expected the CUDA runtime to be loaded as ") + kRuntimes[0] +
                   " or " + kRuntimes[1] + ", got neither");
}

class CudaCopies final : public DeviceCopies {
 public:
  explicit CudaCopies(int device_id) : device_id_(device_id) {}

  [[nodiscard]] Handle<OrtMemoryInfo> memory(const Api& api) const override {
    return named_memory(api, "Cuda", device_id_);
  }
  void in(std::byte* device, const std::byte* program, std::size_t bytes) override {
    copy(device, program, bytes, kToDevice);
  }
  void out(std::byte* program, const std::byte* device, std::size_t bytes) override {
    copy(program, device, bytes, kToHost);
  }

 private:
  static constexpr int kToDevice = 1;
  static constexpr int kToHost = 2;

  /// Uses a stream per thread: a copy in the default stream would wait for other sessions.
  void copy(std::byte* to, const std::byte* from, std::size_t bytes, int kind) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): cudaStreamPerThread
    void* const stream_of_thread = reinterpret_cast<void*>(std::uintptr_t{2});
    check(runtime_.cudaSetDevice(device_id_));
    check(runtime_.cudaMemcpyAsync(to, from, bytes, kind, stream_of_thread));
    check(runtime_.cudaStreamSynchronize(stream_of_thread));
  }
  void check(int error) const {
    if (error == 0) return;
    throw EvaluationError(std::string("copying a batch to or from the GPU failed: ") +
                          runtime_.cudaGetErrorString(error));
  }

  const int device_id_;
  const CudaRuntime runtime_ = cuda_runtime();
};

class ProcessorCopies final : public DeviceCopies {
 public:
  explicit ProcessorCopies(std::string kind) : kind_(std::move(kind)) {}

  [[nodiscard]] Handle<OrtMemoryInfo> memory(const Api& api) const override {
    return named_memory(api, "Cpu", 0);
  }
  void before_capture() override {
    if (kind_ == "uncaptured") throw EvaluationError("the capture failed");
  }
  void in(std::byte* device, const std::byte* program, std::size_t bytes) override {
    if (kind_ == "uncopied") throw EvaluationError("the device rejects copies");
    if (copied_ && kind_ == "stale") return;
    copied_ = true;
    std::memcpy(device, program, bytes);
  }
  void out(std::byte* program, const std::byte* device, std::size_t bytes) override {
    std::memcpy(program, device, bytes);
  }

 private:
  const std::string kind_;
  bool copied_ = false;
};

}  // namespace

std::unique_ptr<DeviceCopies> cuda_copies(int device_id) {
  return std::make_unique<CudaCopies>(device_id);
}

std::unique_ptr<DeviceCopies> processor_copies(const std::string& kind) {
  return std::make_unique<ProcessorCopies>(kind);
}

}  // namespace pyengine::ort
