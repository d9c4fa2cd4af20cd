/// Finds the child with the largest score, as defined in puct.h. One implementation is portable;
/// the others read eight (AVX-512) or four (AVX2) nodes at a time. All perform the same operations
/// in the same order and find the same child.
#pragma once

#include <limits>
#include <vector>

#include "search/rules/puct.h"
#include "search/tree/node.h"

namespace pyengine {

/// A child without a value: its score is the first-play value plus `bonus`.
struct Unvisited {
  int place = 0;
  double bonus = 0.0;
};

/// The result of a scan, excluding children without a value.
struct Scan {
  Node* child = nullptr;  ///< with the largest score; the first one in case of a tie
  int place = 0;          ///< index among the children
  double score = -std::numeric_limits<double>::infinity();
  double visited_prior = 0.0;  ///< sum of the priors of visited children
};

/// Scans the first `count` >= 1 children of `node`; children without a value are appended to
/// `unvisited`, in any order.
using ScanChildren = Scan (*)(const Arena& arena, const Node& node, int count,
                              const puct::Parent& parent,
                              std::vector<Unvisited>& unvisited) noexcept;

Scan scan_children(const Arena& arena, const Node& node, int count, const puct::Parent& parent,
                   std::vector<Unvisited>& unvisited) noexcept;
/// nullptr if the processor or the build lacks these instructions.
[[nodiscard]] ScanChildren avx512_scan_children() noexcept;
[[nodiscard]] ScanChildren avx2_scan_children() noexcept;
/// The widest available scan, or nullptr.
[[nodiscard]] ScanChildren wide_scan_children() noexcept;

}  // namespace pyengine
