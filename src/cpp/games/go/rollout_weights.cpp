#include "games/go/rollout_weights.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace pyengine {
namespace {

constexpr double kMostWeight =
    30.0;  // keeps products of two exponentials and kOne within float range

void check(const char* name, std::span<const float> weights, std::size_t expected) {
  const std::string table = std::string("rollout policy: ") + name;
  if (weights.size() != expected) {
    throw ModelError(table + " must have " + std::to_string(expected) + " weights, got " +
                     std::to_string(weights.size()));
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (std::isfinite(weights[i])) continue;
    throw ModelError(table + " must be finite, got " + std::to_string(weights[i]) + " at " +
                     std::to_string(i));
  }
}

/// In double precision: the exponentials may differ between machines in the last bit, but not after
/// rounding.
float strength(float weight) {
  return static_cast<float>(std::exp(std::clamp(double{weight}, -kMostWeight, kMostWeight)));
}

/// For each set of features, as bits, the exponential of the sum of their weights.
void multiply(std::span<const float> weights, std::span<float> products) {
  for (std::size_t set = 0; set < products.size(); ++set) {
    float sum = 0.0F;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if ((set >> i & 1U) != 0) sum += weights[i];
    }
    products[set] = strength(sum);
  }
}

/// The tactics of a move whose adjacent chains all have at least three liberties; kGoNever if it
/// would be suicide.
unsigned quiet_tactics(GoPattern pattern) {
  int empty = 0;
  for (const unsigned i : {1U, 3U, 4U, 6U}) {
    const unsigned there = pattern >> (2 * i) & 3U;
    if (there == 1) return 0;  // the stone has its own liberties
    empty += there == 0 ? 1 : 0;
  }
  return empty == 0 ? kGoNever : empty == 1 ? unsigned{kSelfAtariStone} : 0;
}

}  // namespace

GoRolloutStrengths::GoRolloutStrengths(const GoRolloutWeights& weights)
    : pattern_(kGoPatterns), response_(kGoPatterns), quiet_(kGoPatterns) {
  check("pattern", weights.pattern, kGoPatterns);
  check("response", weights.response, kGoPatterns);
  check("features", weights.features, weights.features.size());
  for (std::size_t i = 0; i < kGoPatterns; ++i) {
    const bool eye = is_eye(static_cast<GoPattern>(i));
    pattern_[i] = eye ? 0.0F : kOne * strength(weights.pattern[i]);
    response_[i] = strength(weights.response[i]);
  }
  const std::span<const float> features = weights.features;
  multiply(features.first(kGoTacticBits), tactics_);
  multiply(features.subspan(kGoTacticBits, kGoLastBits), last_);
  for (std::size_t i = 0; i < kGoPatterns; ++i) {
    const auto pattern = static_cast<GoPattern>(i);
    const unsigned tactics = quiet_tactics(pattern);
    quiet_[i] = tactics == kGoNever ? 0 : of_point(pattern, tactics);
  }
}

}  // namespace pyengine
