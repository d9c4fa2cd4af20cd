/// The numbers of an expanded node with which a rule chooses among its moves, for explanations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/config.h"
#include "search/tree/tree.h"

namespace pyengine {

/// A move. Values are for the player to move at the node. Plain memory: Python reads it as a NumPy
/// record.
struct MoveNumbers {
  double sum = 0.0;  ///< W
  std::int32_t action = 0;
  std::uint32_t visits = 0;  ///< N
  float prior = 0.0F;        ///< P
  std::int32_t proven = 0;   ///< -1, 0, 1, or TreeNode::kNotProven
};
static_assert(sizeof(MoveNumbers) == 24);

struct NodeNumbers {
  double sum = 0.0;                ///< of the values of its visits, for the player to move
  double stdev_factor = 1.0;       ///< of its exploration: see puct::stdev_factor()
  std::uint32_t visits = 0;        ///< including its own evaluation
  float value = 0.0F;              ///< its own evaluation, for the player to move
  std::vector<MoveNumbers> moves;  ///< in edge order: visited ones precede the others
};

/// `node`: expanded; in a graph, the position. Leaves in flight are not included.
[[nodiscard]] NodeNumbers numbers_of(const Tree& tree, const Node& node,
                                     const SearchConfig& config);

/// The child of an action, or nullptr.
[[nodiscard]] const Node* child_of_action(const Tree& tree, const Node& node, Action action);

/// W: the sum of a node's values, for the player who moved there.
[[nodiscard]] inline double value_sum_of(const Node& node) noexcept {
  return static_cast<double>(node.value_sum.load(std::memory_order_relaxed)) * kValueUnit;
}

/// The proof of a node, which an edge node may not have copied from its position yet.
[[nodiscard]] inline Proof proof_of(const Tree& tree, const Node& node) noexcept {
  const Node& known = tree.shares_proofs() ? tree.position_of(node) : node;
  return known.proof.load(std::memory_order_relaxed);
}

/// The proven value for a player.
[[nodiscard]] inline std::optional<int> proven_for(Proof proof, int player) noexcept {
  if (proof == Proof::none) return std::nullopt;
  const int first = static_cast<int>(proof);
  return player == 0 ? first : -first;
}

}  // namespace pyengine
