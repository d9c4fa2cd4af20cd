/// A model's tensors by name, and the types that they may have.
#pragma once

#include <string>
#include <vector>

#include "eval/network/encoder.h"
#include "eval/ort/model.h"

namespace pyengine::ort {

/// Null where there is none of this name.
[[nodiscard]] const TensorInfo* find_tensor(const std::vector<TensorInfo>& tensors,
                                            const std::string& name);
/// Throws ModelError where there is none of this name. `field`: of the spec, which names it.
[[nodiscard]] const TensorInfo& tensor_named(const LoadedModel& model,
                                             const std::vector<TensorInfo>& tensors,
                                             const std::string& field, const std::string& name);

/// Throws ModelError for a type that planes are not written in. `fits_int8`: see Encoder.
[[nodiscard]] ElementType input_type(const LoadedModel& model, const TensorInfo& tensor,
                                     bool fits_int8);
/// Throws ModelError for a type that answers are not read in.
[[nodiscard]] ElementType output_type(const LoadedModel& model, const TensorInfo& tensor);

}  // namespace pyengine::ort
