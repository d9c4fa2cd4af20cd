#include "search/backup.h"

#include <algorithm>

namespace pyengine {
namespace {

/// What the node is worth to `player`: -1, 0, 1.
[[nodiscard]] int worth(Proof proof, int player) noexcept {
  const int first = static_cast<int>(proof);
  return player == 0 ? first : -first;
}

[[nodiscard]] Proof for_first(int worth_to_mover, int mover) noexcept {
  return static_cast<Proof>(mover == 0 ? worth_to_mover : -worth_to_mover);
}

/// The proof that the children of an expanded node give it, or none.
[[nodiscard]] Proof proof_from_children(const Tree& tree, const Node& node) noexcept {
  const int count = node.num_children.load(std::memory_order_acquire);
  const int mover = node.mover;
  bool all = count == node.num_edges;
  int best = -1;
  for_each_child(tree.arena(), node, count, [&](const Node& child) {
    const Proof proof = child.proof.load(std::memory_order_seq_cst);
    if (proof == Proof::none) {
      all = false;
    } else {
      best = std::max(best, worth(proof, mover));
    }
  });
  return all || best == 1 ? for_first(best, mover) : Proof::none;
}

/// Sequentially consistent: of two workers that prove the last two children of a node, one at
/// least sees both, so that the node's proof cannot be lost.
void mark_proven(Node& node, Proof proof) noexcept {
  node.proof.store(proof, std::memory_order_seq_cst);
}

}  // namespace

void prove(const Tree& tree, const Path& path, float value_for_first) noexcept {
  // A user's game may end with other values than win, draw and loss: those prove nothing.
  if (value_for_first != -1.0F && value_for_first != 0.0F && value_for_first != 1.0F) return;
  mark_proven(*path.back(), static_cast<Proof>(static_cast<int>(value_for_first)));
  for (std::size_t i = path.size() - 1; i-- > 0;) {
    Node& node = *path[i];
    if (node.proof.load(std::memory_order_relaxed) != Proof::none) return;
    const Proof proof = proof_from_children(tree, node);
    if (proof == Proof::none) return;
    mark_proven(node, proof);
  }
}

}  // namespace pyengine
