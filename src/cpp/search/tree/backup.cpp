#include "search/tree/backup.h"

#include <algorithm>

namespace pyengine {
namespace {

/// The proven value for `player`: -1, 0 or 1.
[[nodiscard]] int worth(Proof proof, int player) noexcept {
  const int first = static_cast<int>(proof);
  return player == 0 ? first : -first;
}

[[nodiscard]] Proof for_first(int worth_to_mover, int mover) noexcept {
  return static_cast<Proof>(mover == 0 ? worth_to_mover : -worth_to_mover);
}

/// The proof of an expanded node that follows from its children, or of a linked node from its
/// position; or none.
[[nodiscard]] Proof proof_from_below(const Tree& tree, const Node& node) noexcept {
  if (is_linked(node)) return tree.position_of(node).proof.load(std::memory_order_relaxed);
  const int count = node.num_children.load(std::memory_order_acquire);
  const int mover = node.mover;
  bool all = count == node.num_edges;
  int best = -1;
  for_each_child(tree.arena(), node, count, [&](const Node& child) {
    const Proof proof = child.proof.load(std::memory_order_relaxed);
    if (proof == Proof::none) {
      all = false;
    } else {
      best = std::max(best, worth(proof, mover));
    }
  });
  return all || best == 1 ? for_first(best, mover) : Proof::none;
}

/// Returns false if the node is already proven. When two workers prove the last two children of a
/// node, the later one must see both children and both proofs, or the node's proof is lost. Read-
/// modify-writes of one atomic are totally ordered, and each sees what was written before the
/// earlier ones; with plain loads and stores both workers could read too early.
[[nodiscard]] bool may_be_proven(Node& node) noexcept {
  Proof proof = Proof::none;
  return node.proof.compare_exchange_strong(proof, Proof::none, std::memory_order_acq_rel,
                                            std::memory_order_relaxed);
}

}  // namespace

void prove(const Tree& tree, const Path& path, float value_for_first) noexcept {
  // A user's game may end with a value other than win, draw or loss, which proves nothing.
  if (value_for_first != -1.0F && value_for_first != 0.0F && value_for_first != 1.0F) return;
  path.back()->proof.store(static_cast<Proof>(static_cast<int>(value_for_first)),
                           std::memory_order_relaxed);
  for (std::size_t i = path.size() - 1; i-- > 0;) {
    Node& node = *path[i];
    if (!tree.shares_proofs() && i > 0 && is_linked(*path[i - 1])) return;
    if (!may_be_proven(node)) return;
    const Proof proof = proof_from_below(tree, node);
    if (proof == Proof::none) return;
    node.proof.store(proof, std::memory_order_relaxed);
  }
}

void prove_root(Tree& tree) noexcept {
  Node& root = tree.root();
  if (!may_be_proven(root)) return;
  root.proof.store(proof_from_below(tree, root), std::memory_order_relaxed);
}

}  // namespace pyengine
