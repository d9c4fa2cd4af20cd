#include "search/rules/open_moves.h"

#include "search/rules/puct.h"

namespace pyengine {

Selection choose_open_move(const SearchConfig& config, const Tree& tree, const Node& node, double n,
                           bool may_create) noexcept {
  const int count = node.num_children.load(std::memory_order_acquire);
  const double rate = puct::exploration_rate(config, n) * puct::stdev_factor(config, tree, node);
  const puct::Parent parent = puct::with_one_factor({rate, puct::growth(config, n)});
  double visited_prior = 0.0;
  for_each_child(tree.arena(), node, count, [&](const Node& child) {
    if (child.visits.load(std::memory_order_relaxed) != 0) {
      visited_prior += unpack_prior(child.prior);
    }
  });
  const double first_play = puct::first_play_value(config, node.mean_for_mover(), visited_prior);
  Node* best = nullptr;
  double most = 0.0;
  for_each_child(tree.arena(), node, count, [&](Node& child) {
    if (child.proof.load(std::memory_order_relaxed) != Proof::none) return;
    const double score = puct::score_of(child, parent, first_play);
    const bool first = best != nullptr && score == most &&
        Edge(child.prior, child.action) < Edge(best->prior, best->action);
    if (best == nullptr || score > most || first) {
      best = &child;
      most = score;
    }
  });
  if (may_create && count < node.num_edges) {
    const double score = puct::score_of(tree.edge_prior(node, count), parent, first_play);
    if (best == nullptr || score > most) return Selection::create();
  }
  return best == nullptr ? Selection::nothing() : Selection::of(best);
}

}  // namespace pyengine
