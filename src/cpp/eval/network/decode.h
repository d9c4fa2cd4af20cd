/// From a network's outputs to priors over the legal actions and a value for the mover.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "eval/evaluator.h"
#include "eval/network/spec.h"

namespace pyengine {

/// How far rounding may take a number of an answer out of its range.
inline constexpr float kRounding = 0.01F;

/// A spec's outputs compiled for a game. Immutable: any number of threads may use it.
class Decoder {
 public:
  /// Throws ModelError when pass_index does not fit the game, ConfigError for a bad spec.
  Decoder(const ModelSpec& spec, const AnyGame& game);

  /// Numbers a row of the policy and of the value hold.
  [[nodiscard]] int policy_size() const noexcept { return policy_size_; }
  [[nodiscard]] int value_size() const noexcept { return value_size_; }

  /// Throws EvaluationError naming the output that holds a number that is not finite, but for
  /// logarithms of 0, or is out of its range by more than rounding explains.
  void check(const float* policy, const float* value) const;

  /// Reads a row of the policy that was computed under `symmetry`: probabilities normalised over
  /// `legal`, in its order, into `priors` [legal.size()]. Throws EvaluationError where logits leave
  /// none of them.
  void read_policy(const float* policy, int symmetry, const ActionList& legal,
                   std::span<float> priors) const;
  /// The value in [-1, 1] for the player to move.
  [[nodiscard]] float read_value(const float* value, int to_move) const noexcept;
  /// Writes priors and value of a leaf with one row, under no symmetry.
  void decode(const float* policy, const float* value, EvalLeaf& leaf) const;

 private:
  enum class PolicyKind : std::uint8_t { logits, probs };
  enum class ValueKind : std::uint8_t { plain, win_probability, before_tanh, softmax, parts };

  void make_index(const ModelSpec& spec, const AnyGame& game);
  void check_value(const float* value) const;
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

/// What a network says of one leaf under one or several symmetries: the mean is the same in
/// whatever order they are added. Its memory is used again.
class SymmetryMean {
 public:
  void clear() noexcept;
  /// Adds what the outputs for the leaf's planes under `symmetry` say.
  void add(const Decoder& decoder, const float* policy, const float* value, int symmetry,
           const EvalLeaf& leaf);
  /// Writes priors and value of the leaf, and is empty again. There is an answer at least.
  void finish(EvalLeaf& leaf);

 private:
  struct Answer {
    int symmetry;
    float value;
    std::size_t priors;  ///< where its own begin
  };
  std::vector<Answer> answers_;
  std::vector<float> priors_;  ///< [answers][legal.size()]
};

}  // namespace pyengine
