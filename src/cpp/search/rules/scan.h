/// The child with the largest score: a portable scan over a node's children, and scans that read
/// eight nodes at a time (AVX-512) or four (AVX2) as they lie. Operation by operation the same
/// arithmetic: the same choice.
#pragma once

#include <limits>
#include <vector>

#include "search/tree/node.h"

namespace pyengine {

/// What the scores of all children of a node have in common.
struct ScoreTask {
  double rate = 0.0;         ///< c(n)
  double root = 0.0;         ///< sqrt(n)
  double loss = 0.0;         ///< losses that a leaf in flight counts for; 0 under virtual visits
  Proof lost = Proof::none;  ///< that loses for the player to move; none: proofs are not looked at
};

/// A child without a value of its own yet: its score is the first-play value plus this bonus.
struct Unvisited {
  int place = 0;
  double bonus = 0.0;
};

/// What a scan finds. The score of a child is Q + rate * prior * root / (1 + total), -infinity
/// where it is lost; children without a value of their own do not take part.
struct Scan {
  Node* child = nullptr;  ///< with the largest score, the first of equals
  int place = 0;          ///< among the children
  double score = -std::numeric_limits<double>::infinity();
  double visited_prior = 0.0;  ///< sum of the priors of visited children
};

/// The score of one child; `first_play` stands for a value of its own that it does not have yet.
[[nodiscard]] double score_of(const Node& child, const ScoreTask& task, double first_play) noexcept;

/// Scans the first `count` >= 1 children of `node`; children without a value of their own are
/// appended to `unvisited`, in any order.
using ScanChildren = Scan (*)(const Arena& arena, const Node& node, int count,
                              const ScoreTask& task, std::vector<Unvisited>& unvisited) noexcept;

Scan scan_children(const Arena& arena, const Node& node, int count, const ScoreTask& task,
                   std::vector<Unvisited>& unvisited) noexcept;
/// nullptr where the processor or the build has no such vectors.
[[nodiscard]] ScanChildren avx512_scan_children() noexcept;
[[nodiscard]] ScanChildren avx2_scan_children() noexcept;
/// The fastest of the two that there is, or nullptr.
[[nodiscard]] ScanChildren wide_scan_children() noexcept;

}  // namespace pyengine
