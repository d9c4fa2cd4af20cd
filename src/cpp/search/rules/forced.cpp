#include "search/rules/forced.h"

#include "search/rules/puct.h"

namespace pyengine {

Node* forced_child(const Tree& tree, double n, double k, bool solver) noexcept {
  const Node& root = tree.root();
  const Proof lost = loss_of(root.mover);
  Node* found = nullptr;
  for_each_child(tree.arena(), root, root.num_children.load(std::memory_order_acquire),
                 [&](Node& child) {
                   if (found != nullptr || child.visits.load(std::memory_order_relaxed) == 0)
                     return;
                   const double visits = puct::visits_of(child);
                   if (visits * visits >= k * unpack_prior(child.prior) * n) return;
                   if (solver && child.proof.load(std::memory_order_relaxed) == lost) return;
                   found = &child;
                 });
  return found;
}

}  // namespace pyengine
