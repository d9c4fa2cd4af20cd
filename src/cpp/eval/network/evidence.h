/// What a model's graph and a trial run prove of its outputs, whatever its spec says.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "eval/network/spec.h"

namespace pyengine {

/// The spec's `policy` that an output of this last operator has ("probs" after Softmax); empty
/// where the operator proves nothing.
[[nodiscard]] std::string_view policy_after(std::string_view op) noexcept;
/// The same for `value_kind`.
[[nodiscard]] std::string_view value_kind_after(std::string_view op, bool scalar) noexcept;
/// The `policy` of answers, rows of `row` numbers: "probs" where every row is non-negative and sums
/// to 1, "log_probs" where its exponentials do; empty where they prove nothing.
[[nodiscard]] std::string_view policy_of(std::span<const float> answers, std::size_t row) noexcept;

/// Throw ModelError, naming the field of the spec, where it is refuted by the last operator of an
/// output, or by the policy's answers. `where` says which output of which model.
void require_policy_operator(const ModelSpec& spec, std::string_view op, const std::string& where);
void require_value_operator(const ModelSpec& spec, std::string_view op, const std::string& where);
void require_policy_answers(const ModelSpec& spec, std::span<const float> answers, std::size_t row,
                            const std::string& where);

}  // namespace pyengine
