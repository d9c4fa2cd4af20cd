/// A model's tensors by name, and the types that they may have.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "eval/network/encoder.h"
#include "eval/ort/model.h"

namespace pyengine::ort {

/// Null where there is none of this name.
[[nodiscard]] const TensorInfo* find_tensor(const std::vector<TensorInfo>& tensors,
                                            const std::string& name);
/// Throws ModelError where there is none of this name. `field`: what the spec names it as.
[[nodiscard]] const TensorInfo& tensor_named(const LoadedModel& model,
                                             const std::vector<TensorInfo>& tensors,
                                             const std::string& field, const std::string& name);
/// The input of this name; the only one where the spec names none. Throws ModelError.
[[nodiscard]] const TensorInfo& input_of(const LoadedModel& model, const std::string& name);

/// Throws ModelError unless it is float32, float16 or, where planes fit it, int8. `fits_int8`: see
/// Encoder.
[[nodiscard]] ElementType input_type(const LoadedModel& model, const TensorInfo& tensor,
                                     bool fits_int8);
/// Throws ModelError unless it is float32 or float16.
[[nodiscard]] ElementType output_type(const LoadedModel& model, const TensorInfo& tensor);
/// Writes planes as elements of a type; those of int8 are -1, 0 and 1.
void write_planes(std::span<const float> planes, ElementType type, std::byte* to);
/// Adds the first `count` numbers of a tensor in the program's memory. Throws EvaluationError.
void add_numbers(const Api& api, OrtValue* tensor, ElementType type, std::size_t count,
                 std::vector<float>& numbers);

}  // namespace pyengine::ort
