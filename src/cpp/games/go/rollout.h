/// The fast rollout policy of Go as the engine sees it: playouts, features, probabilities.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "games/any/playout_policy.h"
#include "games/go/rollout_board.h"
#include "games/go/rollout_weights.h"

namespace pyengine {

/// A linear softmax over patterns and tactics, for boards of any size.
class GoRolloutPolicy final : public PlayoutPolicy {
 public:
  /// Throws ModelError where the weights do not fit; see GoRolloutStrengths.
  explicit GoRolloutPolicy(const GoRolloutWeights& weights) : strengths_(weights) {}

  [[nodiscard]] std::unique_ptr<PolicyPlayouts> bind(const AnyGame& game) const override;
  [[nodiscard]] const GoRolloutStrengths& strengths() const noexcept { return strengths_; }

 private:
  GoRolloutStrengths strengths_;
};

/// The moves that the policy may play in a position, with their features and probabilities.
struct GoRolloutMoves {
  std::vector<GoRolloutMove> moves;        ///< ascending points; none where it passes
  std::vector<std::uint64_t> probability;  ///< in units whose sum is not fixed
};

/// Throws ModelError for a position of another game. A game that is over has no moves.
GoRolloutMoves rollout_moves(const GoRolloutPolicy& policy, const AnyGame& game,
                             const AnyPosition& position);

}  // namespace pyengine
