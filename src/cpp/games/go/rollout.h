/// The fast rollout policy of Go as the engine sees it: playouts, features, probabilities.
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
  std::vector<GoRolloutMove> moves;      ///< ascending points; none where it passes
  std::vector<std::uint64_t> strengths;  ///< probabilities in units whose sum is not fixed
};

/// Playouts that can also tell what they would draw from.
class GoRolloutPlayouts : public PolicyPlayouts {
 public:
  /// The moves where the playouts begin; none in a game that is over.
  virtual void moves(GoRolloutMoves& found) = 0;
};

/// A linear softmax over patterns and tactics, for boards of any size.
class GoRolloutPolicy final : public PlayoutPolicy {
 public:
  /// Throws ModelError where the weights do not fit; see GoRolloutStrengths.
  explicit GoRolloutPolicy(const GoRolloutWeights& weights) : strengths_(weights) {}

  [[nodiscard]] std::unique_ptr<PolicyPlayouts> bind(const AnyGame& game) const override {
    return open(game);
  }
  /// As bind().
  [[nodiscard]] std::unique_ptr<GoRolloutPlayouts> open(const AnyGame& game) const;

 private:
  GoRolloutStrengths strengths_;
};

}  // namespace pyengine
