/// The child with the largest score by puct.h. One scan is portable; the others read eight nodes at
/// a time (AVX-512) or four (AVX2). All do the same operations in the same order and find the same
/// child.
#pragma once

#include <limits>
#include <vector>

#include "search/rules/puct.h"
#include "search/tree/node.h"

namespace pyengine {

/// A child without a value of its own yet: its score is the first-play value plus `bonus`.
struct Unvisited {
  int place = 0;
  double bonus = 0.0;
};

/// What a scan finds. Children without a value of their own do not take part.
struct Scan {
  Node* child = nullptr;  ///< with the largest score; the first one of equals
  int place = 0;          ///< among the children
  double score = -std::numeric_limits<double>::infinity();
  double visited_prior = 0.0;  ///< sum of the priors of visited children
};

/// Scans the first `count` >= 1 children of `node`; children without a value of their own are
/// appended to `unvisited`, in any order.
using ScanChildren = Scan (*)(const Arena& arena, const Node& node, int count,
                              const puct::Parent& parent,
                              std::vector<Unvisited>& unvisited) noexcept;

Scan scan_children(const Arena& arena, const Node& node, int count, const puct::Parent& parent,
                   std::vector<Unvisited>& unvisited) noexcept;
/// nullptr where the processor or the build has no such vectors.
[[nodiscard]] ScanChildren avx512_scan_children() noexcept;
[[nodiscard]] ScanChildren avx2_scan_children() noexcept;
/// The wider one that there is, or nullptr.
[[nodiscard]] ScanChildren wide_scan_children() noexcept;

}  // namespace pyengine
