/// The interface of Go's fast rollout policy: playouts, features, probabilities.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "games/any/playout_policy.h"
#include "games/go/rollout_board.h"
#include "games/go/rollout_weights.h"

namespace pyengine {

/// The moves that the policy may play in a position, with their features and strengths.
struct GoRolloutMoves {
  std::vector<GoRolloutMove> moves;      ///< in ascending order; empty if it passes
  std::vector<std::uint64_t> strengths;  ///< unnormalised probabilities
};

/// Playouts that also expose their move distribution.
class GoRolloutPlayouts : public PolicyPlayouts {
 public:
  /// The moves in the starting position; empty if it is terminal.
  virtual void moves(GoRolloutMoves& found) = 0;
};

/// A linear softmax over patterns and tactics, for any board size.
class GoRolloutPolicy final : public PlayoutPolicy {
 public:
  /// Throws ModelError for invalid weights; see GoRolloutStrengths.
  explicit GoRolloutPolicy(const GoRolloutWeights& weights) : strengths_(weights) {}

  [[nodiscard]] std::unique_ptr<PolicyPlayouts> bind(const AnyGame& game) const override {
    return open(game);
  }
  /// Like bind().
  [[nodiscard]] std::unique_ptr<GoRolloutPlayouts> open(const AnyGame& game) const;

 private:
  GoRolloutStrengths strengths_;
};

}  // namespace pyengine
