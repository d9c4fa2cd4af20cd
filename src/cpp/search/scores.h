/// The scores of a node's children, block by block: a portable loop, and one that reads eight nodes
/// at a time as they lie where the processor has AVX-512. Operation by operation the same
/// arithmetic: the same scores.
#pragma once

#include <vector>

#include "search/node.h"

namespace pyengine {

/// What the scores of all children of a node have in common.
struct ScoreTask {
  double rate = 0.0;         ///< c(n)
  double root = 0.0;         ///< sqrt(n)
  double loss = 0.0;         ///< losses that a leaf in flight counts for; 0 under virtual visits
  Proof lost = Proof::none;  ///< that loses for the player to move; none: proofs are not looked at
};

/// Scores children [first, first + count) of a node, which lie side by side at `nodes`: scores[i] =
/// Q + rate * prior * root / (1 + total), -infinity for a lost child; without Q for a child without
/// visits, whose place is appended to `unvisited` (which has room). Returns the sum of the priors
/// of visited children.
using ScoreNodes = double (*)(const Node* nodes, int first, int count, const ScoreTask& task,
                              double* scores, std::vector<int>& unvisited) noexcept;

double score_nodes(const Node* nodes, int first, int count, const ScoreTask& task, double* scores,
                   std::vector<int>& unvisited) noexcept;
/// The same for blocks of a multiple of kWideNodes nodes; writes as many scores, -infinity where
/// there is no child. nullptr where the processor or the build has no such vectors.
[[nodiscard]] ScoreNodes wide_score_nodes() noexcept;
inline constexpr int kWideNodes = 8;

}  // namespace pyengine
