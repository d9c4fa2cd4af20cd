/// The part of ONNX Runtime's C interface that we call, declared by hand because its wheels contain
/// no headers.
///
/// OrtGetApiBase()->GetApi(version) returns a table of function pointers that only ever grows at
/// the end. Each line of PYENGINE_ORT_CALLS is a name, its index in that table and its type. The
/// CMake target `ort_slots` (-DORT_HEADERS=dir) checks them against the official header.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef _WIN32
#define PYENGINE_ORT_CALL __stdcall
#else
#define PYENGINE_ORT_CALL
#endif

// Names of the library, hence outside our namespace.
struct OrtStatus;
struct OrtEnv;
struct OrtSession;
struct OrtSessionOptions;
struct OrtRunOptions;
struct OrtValue;
struct OrtTypeInfo;
struct OrtTensorTypeAndShapeInfo;
struct OrtMemoryInfo;
struct OrtAllocator;
struct OrtIoBinding;
struct OrtModelMetadata;
struct OrtCUDAProviderOptionsV2;
struct OrtTensorRTProviderOptionsV2;

namespace pyengine::ort {

#ifdef _WIN32
using PathChar = wchar_t;
#else
using PathChar = char;
#endif

// Values of the library's enumerations.
inline constexpr int kLogFatal = 4;
inline constexpr int kExecutionSequential = 0;
inline constexpr int kOptimiseAll = 99;
inline constexpr int kArenaAllocator = 1;
inline constexpr int kMemTypeDefault = 0;
inline constexpr int kTypeFloat32 = 1;
inline constexpr int kTypeInt8 = 3;
inline constexpr int kTypeFloat16 = 10;
inline constexpr std::uint32_t kApiVersion = 16;

// X(name, slot, result, (arguments)); enumerations are int.
#define PYENGINE_ORT_CALLS(X)                                                                      \
  X(GetErrorMessage, 2, const char*, (const OrtStatus*))                                           \
  X(CreateEnv, 3, OrtStatus*, (int level, const char* id, OrtEnv**))                               \
  X(CreateSession, 7, OrtStatus*,                                                                  \
    (const OrtEnv*, const ort::PathChar* path, const OrtSessionOptions*, OrtSession**))            \
  X(Run, 9, OrtStatus*,                                                                            \
    (OrtSession*, const OrtRunOptions*, const char* const* inputs, const OrtValue* const* values,  \
     std::size_t num_inputs, const char* const* outputs, std::size_t num_outputs, OrtValue**))     \
  X(CreateSessionOptions, 10, OrtStatus*, (OrtSessionOptions**))                                   \
  X(SetSessionExecutionMode, 13, OrtStatus*, (OrtSessionOptions*, int mode))                       \
  X(EnableMemPattern, 16, OrtStatus*, (OrtSessionOptions*))                                        \
  X(DisableCpuMemArena, 19, OrtStatus*, (OrtSessionOptions*))                                      \
  X(SetSessionLogSeverityLevel, 22, OrtStatus*, (OrtSessionOptions*, int level))                   \
  X(SetSessionGraphOptimizationLevel, 23, OrtStatus*, (OrtSessionOptions*, int level))             \
  X(SetIntraOpNumThreads, 24, OrtStatus*, (OrtSessionOptions*, int threads))                       \
  X(SetInterOpNumThreads, 25, OrtStatus*, (OrtSessionOptions*, int threads))                       \
  X(SessionGetInputCount, 30, OrtStatus*, (const OrtSession*, std::size_t*))                       \
  X(SessionGetOutputCount, 31, OrtStatus*, (const OrtSession*, std::size_t*))                      \
  X(SessionGetInputTypeInfo, 33, OrtStatus*, (const OrtSession*, std::size_t, OrtTypeInfo**))      \
  X(SessionGetOutputTypeInfo, 34, OrtStatus*, (const OrtSession*, std::size_t, OrtTypeInfo**))     \
  X(SessionGetInputName, 36, OrtStatus*, (const OrtSession*, std::size_t, OrtAllocator*, char**))  \
  X(SessionGetOutputName, 37, OrtStatus*, (const OrtSession*, std::size_t, OrtAllocator*, char**)) \
  X(CreateRunOptions, 39, OrtStatus*, (OrtRunOptions**))                                           \
  X(CreateTensorWithDataAsOrtValue, 49, OrtStatus*,                                                \
    (const OrtMemoryInfo*, void* data, std::size_t bytes, const std::int64_t* shape,               \
     std::size_t rank, int type, OrtValue**))                                                      \
  X(GetTensorMutableData, 51, OrtStatus*, (OrtValue*, void** data))                                \
  X(CastTypeInfoToTensorInfo, 55, OrtStatus*,                                                      \
    (const OrtTypeInfo*, const OrtTensorTypeAndShapeInfo**))                                       \
  X(GetTensorElementType, 60, OrtStatus*, (const OrtTensorTypeAndShapeInfo*, int*))                \
  X(GetDimensionsCount, 61, OrtStatus*, (const OrtTensorTypeAndShapeInfo*, std::size_t*))          \
  X(GetDimensions, 62, OrtStatus*, (const OrtTensorTypeAndShapeInfo*, std::int64_t*, std::size_t)) \
  X(GetTensorTypeAndShape, 65, OrtStatus*, (const OrtValue*, OrtTensorTypeAndShapeInfo**))         \
  X(CreateMemoryInfo, 68, OrtStatus*,                                                              \
    (const char* name, int allocator, int device_id, int mem_type, OrtMemoryInfo**))               \
  X(CreateCpuMemoryInfo, 69, OrtStatus*, (int allocator, int mem_type, OrtMemoryInfo**))           \
  X(AllocatorAlloc, 75, OrtStatus*, (OrtAllocator*, std::size_t bytes, void**))                    \
  X(AllocatorFree, 76, OrtStatus*, (OrtAllocator*, void*))                                         \
  X(GetAllocatorWithDefaultOptions, 78, OrtStatus*, (OrtAllocator**))                              \
  X(ReleaseStatus, 93, void, (OrtStatus*))                                                         \
  X(ReleaseMemoryInfo, 94, void, (OrtMemoryInfo*))                                                 \
  X(ReleaseSession, 95, void, (OrtSession*))                                                       \
  X(ReleaseValue, 96, void, (OrtValue*))                                                           \
  X(ReleaseRunOptions, 97, void, (OrtRunOptions*))                                                 \
  X(ReleaseTypeInfo, 98, void, (OrtTypeInfo*))                                                     \
  X(ReleaseTensorTypeAndShapeInfo, 99, void, (OrtTensorTypeAndShapeInfo*))                         \
  X(ReleaseSessionOptions, 100, void, (OrtSessionOptions*))                                        \
  X(SessionGetModelMetadata, 111, OrtStatus*, (const OrtSession*, OrtModelMetadata**))             \
  X(ModelMetadataLookupCustomMetadataMap, 116, OrtStatus*,                                         \
    (const OrtModelMetadata*, OrtAllocator*, const char* key, char** value))                       \
  X(ReleaseModelMetadata, 118, void, (OrtModelMetadata*))                                          \
  X(GetAvailableProviders, 125, OrtStatus*, (char*** names, int* count))                           \
  X(ReleaseAvailableProviders, 126, OrtStatus*, (char** names, int count))                         \
  X(CreateAllocator, 131, OrtStatus*, (const OrtSession*, const OrtMemoryInfo*, OrtAllocator**))   \
  X(ReleaseAllocator, 132, void, (OrtAllocator*))                                                  \
  X(RunWithBinding, 133, OrtStatus*, (OrtSession*, const OrtRunOptions*, const OrtIoBinding*))     \
  X(CreateIoBinding, 134, OrtStatus*, (OrtSession*, OrtIoBinding**))                               \
  X(ReleaseIoBinding, 135, void, (OrtIoBinding*))                                                  \
  X(BindInput, 136, OrtStatus*, (OrtIoBinding*, const char* name, const OrtValue*))                \
  X(BindOutput, 137, OrtStatus*, (OrtIoBinding*, const char* name, const OrtValue*))               \
  X(AddRunConfigEntry, 165, OrtStatus*, (OrtRunOptions*, const char* key, const char* value))      \
  X(SessionOptionsAppendExecutionProvider_TensorRT_V2, 170, OrtStatus*,                            \
    (OrtSessionOptions*, const OrtTensorRTProviderOptionsV2*))                                     \
  X(CreateTensorRTProviderOptions, 171, OrtStatus*, (OrtTensorRTProviderOptionsV2**))              \
  X(UpdateTensorRTProviderOptions, 172, OrtStatus*,                                                \
    (OrtTensorRTProviderOptionsV2*, const char* const* keys, const char* const* values,            \
     std::size_t count))                                                                           \
  X(ReleaseTensorRTProviderOptions, 174, void, (OrtTensorRTProviderOptionsV2*))                    \
  X(SessionOptionsAppendExecutionProvider_CUDA_V2, 204, OrtStatus*,                                \
    (OrtSessionOptions*, const OrtCUDAProviderOptionsV2*))                                         \
  X(CreateCUDAProviderOptions, 205, OrtStatus*, (OrtCUDAProviderOptionsV2**))                      \
  X(UpdateCUDAProviderOptions, 206, OrtStatus*,                                                    \
    (OrtCUDAProviderOptionsV2*, const char* const* keys, const char* const* values,                \
     std::size_t count))                                                                           \
  X(ReleaseCUDAProviderOptions, 208, void, (OrtCUDAProviderOptionsV2*))                            \
  X(GetBuildInfoString, 254, const char*, ())

/// Exported by the library; returns the table.
struct ApiBase {
  const void*(PYENGINE_ORT_CALL* get_api)(std::uint32_t version);
  const char*(PYENGINE_ORT_CALL* get_version_string)();
};

/// The calls under their official names.
struct Api {
// NOLINTBEGIN(bugprone-macro-parentheses): names and types
#define PYENGINE_ORT_MEMBER(name, slot, result, arguments) \
  result(PYENGINE_ORT_CALL* name) arguments = nullptr;
  PYENGINE_ORT_CALLS(PYENGINE_ORT_MEMBER)
// NOLINTEND(bugprone-macro-parentheses)
#undef PYENGINE_ORT_MEMBER
};

}  // namespace pyengine::ort
