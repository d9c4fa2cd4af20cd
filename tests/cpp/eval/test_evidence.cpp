#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "eval/network/evidence.h"

using namespace pyengine;

namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

bool refuted(const ModelSpec& spec, const std::vector<float>& answers, std::size_t row) {
  try {
    require_policy_answers(spec, answers, row, "output 'policy'");
  } catch (const ModelError& error) {
    return std::string(error.what()).starts_with("policy: expected \"" + spec.policy + "\"");
  }
  return false;
}

ModelSpec with_policy(const char* kind) {
  ModelSpec spec;
  spec.policy = kind;
  return spec;
}

}  // namespace

TEST_CASE("answers prove probabilities or log-probabilities if every row does") {
  CHECK(policy_of(std::vector<float>{0.25F, 0.75F, 1.0F, 0.0F}, 2) == "probs");
  CHECK(policy_of(std::vector<float>{0.0F, -kInfinite, -0.6931472F, -0.6931472F}, 2) ==
        "log_probs");
  CHECK(policy_of(std::vector<float>{0.25F, 0.75F, 0.5F, 0.6F}, 2).empty());
  CHECK(policy_of(std::vector<float>{1.5F, -0.5F}, 2).empty());
  CHECK(policy_of(std::vector<float>{0.0F, 0.0F, 0.0F}, 3).empty());
  CHECK(policy_of(std::vector<float>{std::numeric_limits<float>::quiet_NaN(), 1.0F}, 2).empty());
  CHECK(policy_of(std::vector<float>{1.0F, 1.0F}, 1)
            .empty());  // a single action always has probability 1
  CHECK(policy_of({}, 9).empty());
}

TEST_CASE("answers contradict a policy of another kind only") {
  const std::vector<float> shares = {0.25F, 0.75F};
  const std::vector<float> logarithms = {-0.6931472F, -0.6931472F};
  const std::vector<float> logits = {-2.0F, 3.0F};
  CHECK(refuted(with_policy("logits"), shares, 2));
  CHECK(refuted(with_policy("log_probs"), shares, 2));
  CHECK(refuted(with_policy("probs"), logarithms, 2));
  CHECK(refuted(with_policy("probs"), logits, 2));
  CHECK(refuted(with_policy("log_probs"), logits, 2));
  CHECK_FALSE(refuted(with_policy("probs"), shares, 2));
  CHECK_FALSE(refuted(with_policy("logits"), logarithms, 2));  // softmax reads both
  CHECK_FALSE(refuted(with_policy("log_probs"), logarithms, 2));
  CHECK_FALSE(refuted(with_policy("logits"), logits, 2));
  CHECK_FALSE(refuted(with_policy("probs"), {3.0F, 5.0F}, 2));  // weights
}

TEST_CASE("the last operator proves the kind of its output, or nothing") {
  CHECK(policy_after("Softmax") == "probs");
  CHECK(policy_after("LogSoftmax") == "log_probs");
  CHECK(policy_after("Gemm").empty());
  CHECK(value_kind_after("Tanh", true) == "tanh");
  CHECK(value_kind_after("Sigmoid", true) == "probs");
  CHECK(value_kind_after("Softmax", true).empty());
  CHECK(value_kind_after("Softmax", false) == "probs");
  CHECK(value_kind_after("Tanh", false).empty());
  CHECK(value_kind_after("", true).empty());
}
