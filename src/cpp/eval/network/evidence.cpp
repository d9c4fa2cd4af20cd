#include "eval/network/evidence.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "eval/network/decode.h"

namespace pyengine {
namespace {

/// Log-probabilities are normalised logits: softmax reads both.
std::string_view reading(std::string_view kind) noexcept {
  return kind == "log_probs" ? "logits" : kind;
}

[[noreturn]] void refuse(const char* field, const std::string& assumed, std::string_view seen,
                         const std::string& why) {
  throw ModelError(std::string(field) + ": expected \"" + assumed + "\" per the spec, got " +
                   std::string(seen) + ": " + why);
}

void require(const char* field, const std::string& assumed, std::string_view proven,
             const std::string& why) {
  if (proven.empty() || reading(assumed) == reading(proven)) return;
  refuse(field, assumed, "\"" + std::string(proven) + "\"", why);
}

bool sums_to_one(double sum) noexcept { return std::abs(sum - 1.0) <= kRounding; }

std::string_view policy_of_row(std::span<const float> row) noexcept {
  double sum = 0.0;
  double exponentials = 0.0;
  for (const float number : row) {
    sum += number;
    exponentials += std::exp(static_cast<double>(number));
  }
  const auto [least, most] = std::minmax_element(row.begin(), row.end());
  if (*least >= 0.0F && sums_to_one(sum)) return "probs";
  if (*most <= 0.0F && sums_to_one(exponentials)) return "log_probs";
  return {};
}

}  // namespace

std::string_view policy_after(std::string_view op) noexcept {
  if (op == "Softmax") return "probs";
  if (op == "LogSoftmax") return "log_probs";
  return {};
}

std::string_view value_kind_after(std::string_view op, bool scalar) noexcept {
  if (!scalar) return policy_after(op);
  if (op == "Tanh") return "tanh";
  if (op == "Sigmoid") return "probs";
  return {};
}

std::string_view policy_of(std::span<const float> answers, std::size_t row) noexcept {
  if (row < 2 || answers.size() < row) return {};  // a single action always has probability 1
  const std::string_view first = policy_of_row(answers.first(row));
  for (std::size_t at = row; at + row <= answers.size(); at += row) {
    if (policy_of_row(answers.subspan(at, row)) != first) return {};
  }
  return first;
}

void require_policy_operator(const ModelSpec& spec, std::string_view op, const std::string& where) {
  require("policy", spec.policy, policy_after(op), where + " ends in " + std::string(op));
}

void require_value_operator(const ModelSpec& spec, std::string_view op, const std::string& where) {
  require("value_kind", spec.kind_of_value(), value_kind_after(op, spec.scalar_value()),
          where + " ends in " + std::string(op));
}

void require_policy_answers(const ModelSpec& spec, std::span<const float> answers, std::size_t row,
                            const std::string& where) {
  const std::string_view proven = policy_of(answers, row);
  require("policy", spec.policy, proven,
          where + (proven == "probs" ? " gives" : " gives logarithms of") +
              " numbers of at least 0 that sum to 1");
  const auto refuted = std::find_if(answers.begin(), answers.end(), [&](float number) {
    if (!std::isfinite(number)) return false;
    return spec.policy == "probs" ? number < -kRounding
                                  : spec.policy == "log_probs" && number > kRounding;
  });
  if (refuted == answers.end()) return;
  refuse("policy", spec.policy, std::to_string(*refuted), "a number of " + where);
}

}  // namespace pyengine
