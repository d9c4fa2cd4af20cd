/// Sessions of ONNX Runtime: a model file opened with options.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "eval/ort/library.h"
#include "eval/ort/runtime.h"

namespace pyengine::ort {

inline constexpr const char* kCpu = "CPUExecutionProvider";
inline constexpr const char* kCuda = "CUDAExecutionProvider";
inline constexpr const char* kTensorRt = "TensorrtExecutionProvider";

/// The provider's full name; throws ModelError if it is unknown.
std::string full_name(const Library& library, const std::string& provider);

/// Session options for the providers in order of preference (the CPU is always last). Throws
/// ModelError with the library's reason if a provider is not available or rejects an option, and
/// ConfigError for options of the CPU, which has none.
Handle<OrtSessionOptions> make_options(const Library& library,
                                       const std::vector<OrtProvider>& providers,
                                       const OrtOptions& options);

/// Opens the file; throws ModelError.
Handle<OrtSession> make_session(const Library& library, const std::filesystem::path& path,
                                const OrtSessionOptions* options);

std::vector<TensorInfo> session_inputs(const Api& api, const OrtSession* session);
std::vector<TensorInfo> session_outputs(const Api& api, const OrtSession* session);
std::optional<std::string> session_metadata(const Api& api, const OrtSession* session,
                                            const std::string& key);
/// Shape of a tensor that the library created.
std::vector<std::int64_t> shape_of(const Api& api, const OrtValue* value);

/// Creates a tensor over our memory.
Handle<OrtValue> make_tensor(const Api& api, const OrtMemoryInfo* memory, void* data,
                             const std::vector<std::int64_t>& shape, ElementType type);
Handle<OrtMemoryInfo> cpu_memory(const Api& api);

}  // namespace pyengine::ort
