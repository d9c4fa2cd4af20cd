/// The restriction of a search to some of the root's moves: `allow` and `avoid`.
///
/// The root is evaluated as usual, so network inputs and cached answers do not depend on it. The
/// other moves then get no edges, and selection, noise, proofs and the result know only the rest.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/types.h"
#include "eval/evaluator.h"
#include "games/any/state.h"

namespace pyengine {

struct RootMoves {
  std::optional<std::vector<Action>> allow;  ///< nullopt: all legal moves
  std::vector<Action> avoid;                 ///< removed from these
};

/// The moves that a search of `state` considers, ascending; empty if that is all of them. Throws
/// IllegalActionError for an illegal action, and ConfigError if no move is left.
[[nodiscard]] std::vector<ActionId> considered_moves(const State& state, const RootMoves& moves);

/// The answer of an evaluated leaf with these moves only; their priors are normalised. `moves`:
/// ascending and legal.
[[nodiscard]] EvalLeaf restricted_to(std::span<const ActionId> moves, const EvalLeaf& leaf);

}  // namespace pyengine
