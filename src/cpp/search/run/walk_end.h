/// The ways in which walks end.
#pragma once

#include <cstdint>
#include <optional>

#include "search/run/descent.h"
#include "search/tree/tree.h"

namespace pyengine {

enum class WalkEnd : std::uint8_t {
  leaf,           ///< path.back() is claimed by the caller, who evaluates it
  over,           ///< terminal or proven: `value` is the outcome
  known,          ///< no move may be made: an evaluation counts again, and `value` is it
  collision,      ///< another walk has the node in flight or is creating it
  wait,           ///< the rule waits for leaves in flight: see Selection
  transposition,  ///< at a position of a graph that other paths have visited more: see crossing.h
};

struct Walk {
  WalkEnd end = WalkEnd::collision;
  float value = 0.0F;         ///< set for WalkEnd::over and known; for the first player
  bool newly_over = false;    ///< terminal, and not marked as proven yet
  std::uint32_t created = 0;  ///< nodes
  /// The walk counts as a draw for this many nodes at the start of the path, whatever the value of
  /// the leaf: see Selection::passes_draw.
  std::uint32_t drawn = 0;
};

[[nodiscard]] inline Walk end_of_known(float value) noexcept { return {WalkEnd::known, value}; }
[[nodiscard]] inline Walk end_of_game(float value, bool newly_over) noexcept {
  return {WalkEnd::over, value, newly_over};
}
[[nodiscard]] inline Walk end_of_proven(Proof proof) noexcept {
  return end_of_game(static_cast<float>(proof), false);
}
/// The rule chose no child, as at the memory limit: the node's own evaluation counts again.
[[nodiscard]] inline Walk end_at_own_evaluation(const Node& node) noexcept {
  return end_of_known(node.mover == 0 ? node.value : -node.value);
}

/// Ends at a node that this walk has claimed; its state was `before`. If the game's code throws,
/// that state is restored. `pass` completes the descent to the node.
template <Game G, class Pass>
Walk end_at_claimed(Descent<G>& descent, Node& node, NodeState before, const Pass& pass) {
  std::optional<Outcome> outcome;
  try {
    pass();
    descent.reach();
    if (before == NodeState::unseen) outcome = descent.position().outcome();
  } catch (...) {
    node.state.store(before, std::memory_order_release);
    throw;
  }
  if (!outcome) return {WalkEnd::leaf};
  node.value = outcome->first;
  node.state.store(NodeState::terminal, std::memory_order_release);
  return end_of_game(outcome->first, true);
}

/// Ends at an existing, unexpanded node that `descent` has passed.
template <Game G>
Walk end_at_unexpanded(Descent<G>& descent, Node& node, NodeState state) {
  if (state == NodeState::terminal) {
    // An earlier search without the solver left no proof.
    return end_of_game(node.value, node.proof.load(std::memory_order_relaxed) == Proof::none);
  }
  const bool mine = state != NodeState::claimed &&
      node.state.compare_exchange_strong(state, NodeState::claimed, std::memory_order_acquire);
  if (!mine) return {};
  return end_at_claimed(descent, node, state, [] {});
}

/// Ends at a new, claimed node.
template <Game G>
Walk end_at_new(Tree& tree, Descent<G>& descent, Node& child) {
  try {
    Walk walk = end_at_claimed(descent, child, NodeState::unseen, [&] { descent.pass(child); });
    walk.created = 1;
    return walk;
  } catch (...) {
    tree.add_nodes(1);
    throw;
  }
}

}  // namespace pyengine
