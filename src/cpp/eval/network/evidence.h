/// What a model's graph and a trial run prove about its outputs, independent of its spec.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "eval/network/spec.h"

namespace pyengine {

/// The spec's `policy` for an output computed by this operator ("probs" after Softmax); empty if
/// the operator proves nothing.
[[nodiscard]] std::string_view policy_after(std::string_view op) noexcept;
/// The same for `value_kind`.
[[nodiscard]] std::string_view value_kind_after(std::string_view op, bool scalar) noexcept;
/// The `policy` of answers in rows of `row` numbers: "probs" if every row is nonnegative and sums
/// to 1, "log_probs" if the exponentials do; empty if they prove nothing.
[[nodiscard]] std::string_view policy_of(std::span<const float> answers, std::size_t row) noexcept;

/// Throw ModelError naming the spec's field if it contradicts the operator of an output or the
/// policy's answers. `where`: the output and its model.
void require_policy_operator(const ModelSpec& spec, std::string_view op, const std::string& where);
void require_value_operator(const ModelSpec& spec, std::string_view op, const std::string& where);
void require_policy_answers(const ModelSpec& spec, std::span<const float> answers, std::size_t row,
                            const std::string& where);

}  // namespace pyengine
