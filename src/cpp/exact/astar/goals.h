/// A set of goals among numbered nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exact/astar/limits.h"
#include "exact/astar/nodes.h"

namespace pyengine::astar {

/// One bit per node, and the goals as a list.
class GoalSet {
 public:
  /// Goals must be below `nodes`.
  GoalSet(std::uint64_t nodes, const std::vector<NodeId>& goals, Limits& limits) {
    limits.charge(nodes / 8);
    bits_.resize(nodes / 64 + 1);
    for (const NodeId goal : goals) {
      if (contains(goal)) continue;
      bits_[goal / 64] |= std::uint64_t{1} << (goal % 64);
      goals_.push_back(goal);
    }
  }
  [[nodiscard]] bool contains(NodeId node) const noexcept {
    return ((bits_[node / 64] >> (node % 64)) & 1U) != 0;
  }
  /// Without duplicates.
  [[nodiscard]] std::span<const NodeId> list() const noexcept { return goals_; }

 private:
  std::vector<NodeId> goals_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace pyengine::astar
