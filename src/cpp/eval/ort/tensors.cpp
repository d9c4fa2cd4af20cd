#include "eval/ort/tensors.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/error.h"
#include "base/text.h"
#include "eval/network/half.h"

namespace pyengine::ort {
namespace {

[[noreturn]] void wrong_type(const LoadedModel& model, const TensorInfo& tensor,
                             const std::string& expected) {
  throw ModelError("the model " + model.path.string() + " does not fit: '" + tensor.name +
                   "' must be " + expected + ", got " + to_string(tensor));
}

}  // namespace

const TensorInfo* find_tensor(const std::vector<TensorInfo>& tensors, const std::string& name) {
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [&](const TensorInfo& tensor) { return tensor.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

const TensorInfo& tensor_named(const LoadedModel& model, const std::vector<TensorInfo>& tensors,
                               const std::string& field, const std::string& name) {
  if (const TensorInfo* tensor = find_tensor(tensors, name)) return *tensor;
  throw ModelError("the model " + model.path.string() + " has no tensor " + in_quotes(name, '\'') +
                   ", requested as " + field + "; got " + to_string(tensors));
}

const TensorInfo& input_of(const LoadedModel& model, const std::string& name) {
  if (!name.empty()) return tensor_named(model, model.inputs, "input", name);
  if (model.inputs.size() == 1) return model.inputs.front();
  throw ModelError("the model " + model.path.string() + " must have one input, got " +
                   to_string(model.inputs) + "; the spec's input can name it");
}

ElementType input_type(const LoadedModel& model, const TensorInfo& tensor, bool fits_int8) {
  if (tensor.type == kTypeFloat32) return ElementType::float32;
  if (tensor.type == kTypeFloat16) return ElementType::float16;
  if (tensor.type == kTypeInt8 && fits_int8) return ElementType::int8;
  wrong_type(model, tensor,
             fits_int8
                 ? "float32, float16 or int8"
                 : "float32 or float16, because the planes contain values other than -1, 0 and 1");
}

ElementType output_type(const LoadedModel& model, const TensorInfo& tensor) {
  if (tensor.type == kTypeFloat32) return ElementType::float32;
  if (tensor.type == kTypeFloat16) return ElementType::float16;
  wrong_type(model, tensor, "float32 or float16");
}

void write_planes(std::span<const float> planes, ElementType type, std::byte* to) {
  switch (type) {
    case ElementType::float32:
      std::copy(planes.begin(), planes.end(), reinterpret_cast<float*>(to));
      break;
    case ElementType::float16:
      std::transform(planes.begin(), planes.end(), reinterpret_cast<std::uint16_t*>(to), to_half);
      break;
    case ElementType::int8:
      std::transform(planes.begin(), planes.end(), reinterpret_cast<std::int8_t*>(to),
                     [](float number) { return static_cast<std::int8_t>(number); });
      break;
  }
}

void add_numbers(const Api& api, OrtValue* tensor, ElementType type, std::size_t count,
                 std::vector<float>& numbers) {
  void* data = nullptr;
  check<EvaluationError>(api, api.GetTensorMutableData(tensor, &data), "reading an output");
  if (type == ElementType::float16) {
    const auto* halves = static_cast<const std::uint16_t*>(data);
    std::transform(halves, halves + count, std::back_inserter(numbers), from_half);
  } else {
    const auto* floats = static_cast<const float*>(data);
    numbers.insert(numbers.end(), floats, floats + count);
  }
}

}  // namespace pyengine::ort
