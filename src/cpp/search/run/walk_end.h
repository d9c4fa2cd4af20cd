/// How walks end.
#pragma once

#include <cstdint>
#include <optional>

#include "search/run/descent.h"
#include "search/tree/tree.h"

namespace pyengine {

enum class WalkEnd : std::uint8_t {
  leaf,       ///< path.back() is claimed by the caller, who evaluates it
  known,      ///< the game is over there, or it is proven, or memory is full: `value` holds
  collision,  ///< another walk has the node in flight, or is creating it
  wait,       ///< the rule awaits leaves in flight: see Selection
};

struct Walk {
  WalkEnd end = WalkEnd::collision;
  float value = 0.0F;         ///< of WalkEnd::known, for the first player
  bool newly_over = false;    ///< the game is over there, and no proof says so yet
  std::uint32_t created = 0;  ///< nodes
  /// For so many nodes, the first of the path, the walk counts as a draw, whatever the leaf's
  /// value: see Selection::passes_draw.
  std::uint32_t drawn = 0;
};

[[nodiscard]] inline Walk end_of_known(float value) noexcept { return {WalkEnd::known, value}; }
[[nodiscard]] inline Walk end_of_proven(Proof proof) noexcept {
  return end_of_known(static_cast<float>(proof));
}
/// The rule chose nothing, as at the memory cap: the node's own evaluation counts once more.
[[nodiscard]] inline Walk end_at_own_evaluation(const Node& node) noexcept {
  return end_of_known(node.mover == 0 ? node.value : -node.value);
}

/// The end at a node that is there and not expanded, which `descent` has passed. Where the game's
/// code throws, the node is fresh again.
template <Game G>
Walk end_at_unexpanded(Descent<G>& descent, Node& node, NodeState state) {
  if (state == NodeState::terminal) {
    Walk walk = end_of_known(node.value);  // an earlier search, without the solver, left no proof
    walk.newly_over = node.proof.load(std::memory_order_relaxed) == Proof::none;
    return walk;
  }
  NodeState expected = NodeState::fresh;
  const bool mine =
      node.state.compare_exchange_strong(expected, NodeState::claimed, std::memory_order_acquire);
  if (!mine) return {};
  try {
    descent.reach();
  } catch (...) {
    node.state.store(NodeState::fresh, std::memory_order_release);
    throw;
  }
  return {WalkEnd::leaf};
}

/// The end at a new node, which is fresh where the game's code throws.
template <Game G>
Walk end_at_new(Tree& tree, Descent<G>& descent, Node& child) {
  try {
    descent.pass(child);
    descent.reach();
  } catch (...) {
    child.state.store(NodeState::fresh, std::memory_order_release);
    tree.add_nodes(1);
    throw;
  }
  const std::optional<Outcome> outcome = descent.position().outcome();
  if (!outcome) return {WalkEnd::leaf, 0.0F, false, 1};
  child.value = outcome->first;
  child.state.store(NodeState::terminal, std::memory_order_release);
  return {WalkEnd::known, outcome->first, true, 1};
}

}  // namespace pyengine
