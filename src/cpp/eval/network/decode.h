/// From a network's outputs to priors over the legal actions and a value for the mover.
#pragma once

#include <cstdint>
#include <vector>

#include "eval/evaluator.h"
#include "eval/network/spec.h"

namespace pyengine {

/// A spec's outputs compiled for a game. Immutable: any number of threads may use it.
class Decoder {
 public:
  /// Throws ModelError when pass_index does not fit the game, ConfigError for a bad spec.
  Decoder(const ModelSpec& spec, const AnyGame& game);

  /// Numbers a row of the policy and of the value hold.
  [[nodiscard]] int policy_size() const noexcept { return policy_size_; }
  [[nodiscard]] int value_size() const noexcept { return value_size_; }

  /// Throws EvaluationError naming the output that holds a number that is not finite.
  void check(const float* policy, const float* value) const;

  /// Adds one answer, the outputs for the leaf's planes under `symmetry`: probabilities normalised
  /// over leaf.legal and the value for leaf.to_move.
  void add(const float* policy, const float* value, int symmetry, EvalLeaf& leaf) const;

  /// Turns the answers into their means, the same in whatever order they came.
  static void finish(EvalLeaf& leaf);

 private:
  enum class PolicyKind : std::uint8_t { logits, probs };
  enum class ValueKind : std::uint8_t { plain, win_probability, before_tanh, softmax, parts };

  void make_index(const ModelSpec& spec, const AnyGame& game);
  [[nodiscard]] float value_of(const float* value) const noexcept;

  int policy_size_ = 0;
  int value_size_ = 1;
  PolicyKind policy_kind_ = PolicyKind::logits;
  ValueKind value_kind_ = ValueKind::plain;
  int win_ = 0;  ///< where a 3-way value has it
  int loss_ = 0;
  bool for_first_player_ = false;
  std::vector<std::vector<std::uint16_t>> index_;  ///< [k][a] = place of a's answer under k
};

}  // namespace pyengine
