// Compiles only if every entry of PYENGINE_ORT_CALLS has the same slot and type as in the official
// header:
//   cmake ... -DORT_HEADERS=DIR && cmake --build ... --target ort_slots
#include <onnxruntime_c_api.h>

#include <cstddef>
#include <type_traits>

#include "eval/ort/api.h"

namespace {

using namespace pyengine;

/// Our header declares the library's enumerations as int.
template <class T>
struct Number {
  using Type = T;
};
template <class T>
  requires std::is_enum_v<T>
struct Number<T> {
  using Type = int;
};
template <class T>
  requires std::is_enum_v<T>
struct Number<T*> {
  using Type = int*;
};

/// A function type without `noexcept`, with int instead of enumerations.
template <class F>
struct Plain;
template <class R, class... A>
struct Plain<R(PYENGINE_ORT_CALL*)(A...)> {
  using Type = R (*)(typename Number<A>::Type...);
};
template <class R, class... A>
struct Plain<R(PYENGINE_ORT_CALL*)(A...) noexcept> {
  using Type = R (*)(typename Number<A>::Type...);
};

#define CHECK_CALL(name, slot, result, arguments)                               \
  static_assert(offsetof(OrtApi, name) == (slot) * sizeof(void*), #name);       \
  static_assert(std::is_same_v<typename Plain<decltype(OrtApi::name)>::Type,    \
                               typename Plain<decltype(ort::Api::name)>::Type>, \
                #name);
PYENGINE_ORT_CALLS(CHECK_CALL)

static_assert(ORT_LOGGING_LEVEL_FATAL == ort::kLogFatal);
static_assert(ORT_SEQUENTIAL == ort::kExecutionSequential);
static_assert(ORT_ENABLE_ALL == ort::kOptimiseAll);
static_assert(OrtArenaAllocator == ort::kArenaAllocator);
static_assert(OrtMemTypeDefault == ort::kMemTypeDefault);
static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT == ort::kTypeFloat32);
static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 == ort::kTypeFloat16);
static_assert(ORT_API_VERSION >= ort::kApiVersion);

}  // namespace
