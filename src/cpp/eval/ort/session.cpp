#include "eval/ort/session.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <numeric>

#include "base/error.h"
#include "base/text.h"

namespace pyengine::ort {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string built_with(const Library& library) {
  std::string text =
      "ONNX Runtime " + library.version() + " in " + library.path().string() + " was built with ";
  const std::vector<std::string> names = library.available_providers();
  for (const std::string& name : names) text += (&name == names.data() ? "" : ", ") + name;
  return text;
}

/// Options as two lists of C strings; valid as long as the map.
struct KeysAndValues {
  explicit KeysAndValues(const std::map<std::string, std::string>& options) {
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
  std::vector<const char*> keys;
  std::vector<const char*> values;
};

void append_cuda(const Api& api, OrtSessionOptions* session, const KeysAndValues& options) {
  const std::string doing = std::string(kCuda) + " is not available";
  const auto cuda = make<ModelError, OrtCUDAProviderOptionsV2>(
      api, api.ReleaseCUDAProviderOptions, doing,
      [&](auto** result) { return api.CreateCUDAProviderOptions(result); });
  check<ModelError>(api,
                    api.UpdateCUDAProviderOptions(cuda.get(), options.keys.data(),
                                                  options.values.data(), options.keys.size()),
                    doing);
  check<ModelError>(api, api.SessionOptionsAppendExecutionProvider_CUDA_V2(session, cuda.get()),
                    doing);
}

void append_tensorrt(const Api& api, OrtSessionOptions* session, const KeysAndValues& options) {
  const std::string doing = std::string(kTensorRt) + " is not available";
  const auto tensorrt = make<ModelError, OrtTensorRTProviderOptionsV2>(
      api, api.ReleaseTensorRTProviderOptions, doing,
      [&](auto** result) { return api.CreateTensorRTProviderOptions(result); });
  check<ModelError>(api,
                    api.UpdateTensorRTProviderOptions(tensorrt.get(), options.keys.data(),
                                                      options.values.data(), options.keys.size()),
                    doing);
  check<ModelError>(
      api, api.SessionOptionsAppendExecutionProvider_TensorRT_V2(session, tensorrt.get()), doing);
}

void append(const Library& library, OrtSessionOptions* session, const OrtProvider& provider,
            int device_id) {
  const std::string name = full_name(library, provider.name);
  if (name == kCpu) {  // part of every session
    if (provider.options.empty()) return;
    throw ConfigError(name + " takes no options, got '" + provider.options.begin()->first + "'");
  }
  const std::vector<std::string> built = library.available_providers();
  if (std::find(built.begin(), built.end(), name) == built.end()) {
    throw ModelError(name + " is not available: " + built_with(library));
  }
  auto options = provider.options;
  options.emplace("device_id", std::to_string(device_id));
  if (name == kCuda) {
    // As fast as an exhaustive search, and the session opens ten times as fast.
    options.emplace("cudnn_conv_algo_search", "HEURISTIC");
    options.emplace("prefer_nhwc", "1");  // the layout of tensor cores: up to 1.4 times as fast
  }
  const KeysAndValues lists(options);
  name == kCuda ? append_cuda(library.api(), session, lists)
                : append_tensorrt(library.api(), session, lists);
}

std::vector<std::int64_t> dimensions(const Api& api, const OrtTensorTypeAndShapeInfo* info) {
  std::size_t rank = 0;
  check<ModelError>(api, api.GetDimensionsCount(info, &rank), "shape of a tensor");
  std::vector<std::int64_t> shape(rank);
  check<ModelError>(api, api.GetDimensions(info, shape.data(), rank), "shape of a tensor");
  return shape;
}

TensorInfo tensor_info(const Api& api, std::string name, const OrtTypeInfo* type) {
  TensorInfo tensor{std::move(name), 0, {}};
  const OrtTensorTypeAndShapeInfo* info = nullptr;  // owned by `type`
  check<ModelError>(api, api.CastTypeInfoToTensorInfo(type, &info), "type of a tensor");
  if (info == nullptr) return tensor;  // a sequence or a map
  check<ModelError>(api, api.GetTensorElementType(info, &tensor.type), "type of a tensor");
  tensor.shape = dimensions(api, info);
  return tensor;
}

/// The library's code of the type.
int number_of(ElementType type) noexcept {
  constexpr std::array<int, 3> kNumbers = {kTypeFloat32, kTypeFloat16, kTypeInt8};
  return kNumbers[static_cast<std::size_t>(type)];
}

using CountCall = decltype(Api::SessionGetInputCount);
using NameCall = decltype(Api::SessionGetInputName);
using TypeCall = decltype(Api::SessionGetInputTypeInfo);

std::vector<TensorInfo> tensors(const Api& api, const OrtSession* session, CountCall get_count,
                                NameCall get_name, TypeCall get_type) {
  std::size_t count = 0;
  check<ModelError>(api, get_count(session, &count), "tensors of the model");
  OrtAllocator* allocator = nullptr;  // owned by the library
  check<ModelError>(api, api.GetAllocatorWithDefaultOptions(&allocator), "tensors of the model");
  std::vector<TensorInfo> infos;
  for (std::size_t i = 0; i < count; ++i) {
    char* text = nullptr;
    check<ModelError>(api, get_name(session, i, allocator, &text), "name of a tensor");
    std::string name = text;
    check<ModelError>(api, api.AllocatorFree(allocator, text), "name of a tensor");
    const auto type =
        make<ModelError, OrtTypeInfo>(api, api.ReleaseTypeInfo, "type of a tensor",
                                      [&](auto** result) { return get_type(session, i, result); });
    infos.push_back(tensor_info(api, std::move(name), type.get()));
  }
  return infos;
}

}  // namespace

std::string full_name(const Library& library, const std::string& provider) {
  for (const char* known : {kCpu, kCuda, kTensorRt}) {
    const std::string name = known;
    const std::string brief = name.substr(0, name.find("ExecutionProvider"));
    if (provider == name || lower(provider) == lower(brief)) return name;
  }
  throw ModelError("the provider " + in_quotes(provider, '\'') +
                   " is not available: known providers are CPUExecutionProvider, "
                   "CUDAExecutionProvider and TensorrtExecutionProvider (cpu, cuda, tensorrt); " +
                   built_with(library));
}

Handle<OrtSessionOptions> make_options(const Library& library,
                                       const std::vector<OrtProvider>& providers,
                                       const OrtOptions& options) {
  const Api& api = library.api();
  const std::string doing = "options of an ONNX Runtime session";
  auto result = make<ModelError, OrtSessionOptions>(
      api, api.ReleaseSessionOptions, doing,
      [&](auto** session) { return api.CreateSessionOptions(session); });
  OrtSessionOptions* session = result.get();
  const auto set = [&](OrtStatus* status) { check<ModelError>(api, status, doing); };
  set(api.SetSessionLogSeverityLevel(session, kLogFatal));
  set(api.SetSessionGraphOptimizationLevel(session, kOptimiseAll));
  set(api.SetSessionExecutionMode(session, kExecutionSequential));
  set(api.SetIntraOpNumThreads(session, std::max(1, options.threads)));
  set(api.SetInterOpNumThreads(session, 1));
  set(api.DisableCpuMemArena(session));  // threads that share a session would wait for its lock
  set(api.EnableMemPattern(session));
  for (const OrtProvider& provider : providers) {
    append(library, session, provider, options.device_id);
  }
  return result;
}

Handle<OrtSession> make_session(const Library& library, const std::filesystem::path& path,
                                const OrtSessionOptions* options) {
  const Api& api = library.api();
  return make<ModelError, OrtSession>(
      api, api.ReleaseSession, "the model " + path.string() + " cannot be loaded",
      [&](auto** result) {
        return api.CreateSession(library.env(), path.c_str(), options, result);
      });
}

std::vector<TensorInfo> session_inputs(const Api& api, const OrtSession* session) {
  return tensors(api, session, api.SessionGetInputCount, api.SessionGetInputName,
                 api.SessionGetInputTypeInfo);
}

std::vector<TensorInfo> session_outputs(const Api& api, const OrtSession* session) {
  return tensors(api, session, api.SessionGetOutputCount, api.SessionGetOutputName,
                 api.SessionGetOutputTypeInfo);
}

std::optional<std::string> session_metadata(const Api& api, const OrtSession* session,
                                            const std::string& key) {
  const auto metadata = make<ModelError, OrtModelMetadata>(
      api, api.ReleaseModelMetadata, "metadata of the model",
      [&](auto** result) { return api.SessionGetModelMetadata(session, result); });
  OrtAllocator* allocator = nullptr;
  check<ModelError>(api, api.GetAllocatorWithDefaultOptions(&allocator), "metadata of the model");
  char* text = nullptr;
  check<ModelError>(
      api, api.ModelMetadataLookupCustomMetadataMap(metadata.get(), allocator, key.c_str(), &text),
      "metadata of the model");
  if (text == nullptr) return std::nullopt;
  std::string value = text;
  check<ModelError>(api, api.AllocatorFree(allocator, text), "metadata of the model");
  return value;
}

std::vector<std::int64_t> shape_of(const Api& api, const OrtValue* value) {
  const auto info = make<ModelError, OrtTensorTypeAndShapeInfo>(
      api, api.ReleaseTensorTypeAndShapeInfo, "shape of a tensor",
      [&](auto** result) { return api.GetTensorTypeAndShape(value, result); });
  return dimensions(api, info.get());
}

Handle<OrtValue> make_tensor(const Api& api, const OrtMemoryInfo* memory, void* data,
                             const std::vector<std::int64_t>& shape, ElementType type) {
  const std::int64_t elements =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  return make<ModelError, OrtValue>(
      api, api.ReleaseValue, "a tensor over a batch's memory", [&](auto** result) {
        return api.CreateTensorWithDataAsOrtValue(
            memory, data, static_cast<std::size_t>(elements) * size_of(type), shape.data(),
            shape.size(), number_of(type), result);
      });
}

Handle<OrtMemoryInfo> cpu_memory(const Api& api) {
  return make<ModelError, OrtMemoryInfo>(
      api, api.ReleaseMemoryInfo, "memory of the CPU", [&](auto** result) {
        return api.CreateCpuMemoryInfo(kArenaAllocator, kMemTypeDefault, result);
      });
}

}  // namespace pyengine::ort
