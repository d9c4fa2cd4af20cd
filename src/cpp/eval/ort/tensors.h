/// Lookup of a model's tensors by name, and their types.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "eval/network/encoder.h"
#include "eval/ort/model.h"

namespace pyengine::ort {

/// Returns nullptr if there is no such tensor.
[[nodiscard]] const TensorInfo* find_tensor(const std::vector<TensorInfo>& tensors,
                                            const std::string& name);
/// Throws ModelError if there is no such tensor. `field`: the spec's field with the name.
[[nodiscard]] const TensorInfo& tensor_named(const LoadedModel& model,
                                             const std::vector<TensorInfo>& tensors,
                                             const std::string& field, const std::string& name);
/// The input named in the spec, or the only one. Throws ModelError.
[[nodiscard]] const TensorInfo& input_of(const LoadedModel& model, const std::string& name);

/// Throws ModelError unless the type is float32, float16 or, if the planes fit, int8. `fits_int8`:
/// see Encoder.
[[nodiscard]] ElementType input_type(const LoadedModel& model, const TensorInfo& tensor,
                                     bool fits_int8);
/// Throws ModelError unless the type is float32 or float16.
[[nodiscard]] ElementType output_type(const LoadedModel& model, const TensorInfo& tensor);
/// Writes planes as elements of a type; int8 requires values of -1, 0 and 1.
void write_planes(std::span<const float> planes, ElementType type, std::byte* to);
/// Appends the first `count` numbers of a tensor in host memory. Throws EvaluationError.
void add_numbers(const Api& api, OrtValue* tensor, ElementType type, std::size_t count,
                 std::vector<float>& numbers);

}  // namespace pyengine::ort
