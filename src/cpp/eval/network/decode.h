/// Converts a network's outputs to priors over the legal actions and a value for the player to
/// move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "eval/evaluator.h"
#include "eval/network/spec.h"

namespace pyengine {

/// How far rounding may move an output out of its range.
inline constexpr float kRounding = 0.01F;

struct DecodedValue {
  float value = 0.0F;
  float draw = 0.0F;  ///< probability of a draw; 0 unless the value has three parts
};

/// The outputs of a spec, compiled for a game. Immutable, so any number of threads may use it.
class Decoder {
 public:
  /// Throws ModelError if pass_index does not fit the game, and ConfigError for an invalid spec.
  Decoder(const ModelSpec& spec, const AnyGame& game);

  /// Numbers per row of the policy and of the value.
  [[nodiscard]] int policy_size() const noexcept { return policy_size_; }
  [[nodiscard]] int value_size() const noexcept { return value_size_; }

  /// Throws EvaluationError naming the output that contains a non-finite number (except logarithms
  /// of 0) or a number further out of range than rounding explains.
  void check(const float* policy, const float* value) const;

  /// Reads a policy row that was computed under `symmetry`. Writes probabilities normalised over
  /// `legal`, in its order, to `priors` [legal.size()]. Throws EvaluationError if all legal logits
  /// are -infinity.
  void read_policy(const float* policy, int symmetry, const ActionList& legal,
                   std::span<float> priors) const;
  /// The value in [-1, 1] for the player to move.
  [[nodiscard]] DecodedValue read_value(const float* value, int to_move) const noexcept;
  /// Writes priors, value and draw of a leaf with one row and no symmetry.
  void decode(const float* policy, const float* value, EvalLeaf& leaf) const;

 private:
  enum class PolicyKind : std::uint8_t { logits, probs };
  enum class ValueKind : std::uint8_t { plain, win_probability, before_tanh, softmax, parts };

  void make_index(const ModelSpec& spec, const AnyGame& game);
  void check_value(const float* value) const;
  [[nodiscard]] DecodedValue value_of(const float* value) const noexcept;

  int policy_size_ = 0;
  int value_size_ = 1;
  PolicyKind policy_kind_ = PolicyKind::logits;
  ValueKind value_kind_ = ValueKind::plain;
  int win_ = 0;  ///< index in a 3-way value
  int draw_ = 0;
  int loss_ = 0;
  bool for_first_player_ = false;
  std::vector<std::vector<std::uint16_t>> index_;  ///< [k][a] = index of the output for a under k
};

/// The mean of a network's answers for one leaf under one or several symmetries; independent of the
/// order in which they are added. Its memory is reused.
class SymmetryMean {
 public:
  void clear() noexcept;
  /// Adds the answer of the outputs for the leaf's planes under `symmetry`.
  void add(const Decoder& decoder, const float* policy, const float* value, int symmetry,
           const EvalLeaf& leaf);
  /// Writes priors, value and draw of the leaf and resets the mean. Requires at least one answer.
  void finish(EvalLeaf& leaf);

 private:
  struct Answer {
    int symmetry;
    DecodedValue value;
    std::size_t priors;  ///< index of its first prior
  };
  std::vector<Answer> answers_;
  std::vector<float> priors_;  ///< [answers][legal.size()]
};

}  // namespace pyengine
