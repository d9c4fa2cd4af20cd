#include "search/rules/open_moves.h"

#include <cmath>

namespace pyengine {

Selection choose_open_move(const SearchConfig& config, const Tree& tree, const Node& node,
                           bool may_create) noexcept {
  const int count = node.num_children.load(std::memory_order_acquire);
  const double n = static_cast<double>(node.visits.load(std::memory_order_relaxed)) +
      node.in_flight.load(std::memory_order_relaxed);
  const double exploration = exploration_rate(config, n) * std::sqrt(n);
  double visited_prior = 0.0;
  for_each_child(tree.arena(), node, count, [&](const Node& child) {
    if (child.visits.load(std::memory_order_relaxed) != 0) {
      visited_prior += unpack_prior(child.prior);
    }
  });
  const double first_play = first_play_value(config, mean_for_mover(node), visited_prior);
  Node* best = nullptr;
  double most = 0.0;
  for_each_child(tree.arena(), node, count, [&](Node& child) {
    if (child.proof.load(std::memory_order_relaxed) != Proof::none) return;
    const double visits = child.visits.load(std::memory_order_relaxed);
    const double value = visits == 0.0 ? first_play : child.mean_for_chooser();
    const double total = visits + child.in_flight.load(std::memory_order_relaxed);
    const double score = value + exploration * unpack_prior(child.prior) / (1.0 + total);
    const bool first = best != nullptr && score == most &&
        Edge(child.prior, child.action) < Edge(best->prior, best->action);
    if (best == nullptr || score > most || first) {
      best = &child;
      most = score;
    }
  });
  const bool creates = may_create && count < node.num_edges;
  if (creates) {
    const PackedPrior prior = tree.edge_prior(node, count);
    if (best == nullptr || first_play + exploration * unpack_prior(prior) > most) {
      return {nullptr, false};
    }
  }
  return {best, best == nullptr};
}

}  // namespace pyengine
