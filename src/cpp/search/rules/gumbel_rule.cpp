#include "search/rules/gumbel_rule.h"

#include <algorithm>

#include "search/rules/root_plan.h"

namespace pyengine {
void GumbelRule::configure(const SearchConfig& config) {
  c_visit_ = config.gumbel_c_visit;
  c_scale_ = config.gumbel_c_scale;
  solver_ = config.solver;
  seen_.reserve(64);
}

Selection GumbelRule::choose_at_root(const Tree& tree, const RootSearch& search,
                                     bool may_create) noexcept {
  return search.plan->choose(tree, may_create);
}

gumbel::CompletedQ GumbelRule::see(const Tree& tree, const Node& node, int count,
                                   double& priors) noexcept {
  gumbel::CompletedQ completed;
  bool all_visited = count == node.num_edges;
  seen_.clear();
  for_each_child(tree.arena(), node, count, [&](Node& child) {
    Seen seen;
    seen.node = &child;
    seen.action = child.action;
    seen.prior = unpack_prior(child.prior);
    priors += seen.prior;
    seen.visits = child.visits.load(std::memory_order_relaxed);
    seen.flying = child.in_flight.load(std::memory_order_relaxed);
    if (solver_) seen.proof = child.proof.load(std::memory_order_relaxed);
    if (seen.visits != 0.0) {
      seen.q = child.mean_for_chooser();
      completed.add(seen.prior, seen.visits, seen.q);
    }
    all_visited = all_visited && seen.visits != 0.0;
    seen_.push_back(seen);
  });
  completed.complete(node.value, all_visited, c_visit_, c_scale_);
  return completed;
}

template <class Allowed>
const GumbelRule::Seen* GumbelRule::best(Allowed&& allowed) const noexcept {
  const Seen* found = nullptr;
  for (const Seen& seen : seen_) {
    if (allowed(seen) && (found == nullptr || before(seen, *found))) found = &seen;
  }
  return found;
}

Selection GumbelRule::choose(const Tree& tree, const Node& node, bool may_create) noexcept {
  const int count = node.num_children.load(std::memory_order_acquire);
  const bool creates = may_create && count < node.num_edges;
  if (count == 0) return creates ? Selection::create() : Selection::nothing();
  double priors = 0.0;  // sum over the children
  const gumbel::CompletedQ completed = see(tree, node, count, priors);

  double n = 1.0;
  double weights =
      completed.weight(1.0, completed.mixed()) * prior_sum(tree.arena(), node, count, priors);
  for (Seen& seen : seen_) {
    if (seen.visits == 0.0) seen.q = completed.mixed();
    seen.score = completed.weight(seen.prior, seen.q);
    weights += seen.score;
    n += seen.visits + seen.flying;
  }
  for (Seen& seen : seen_) seen.score = seen.score / weights - (seen.visits + seen.flying) / n;
  if (creates) {
    const Edge next = tree.edge(node, count);
    Seen edge;
    edge.action = next.action();
    edge.score = completed.weight(unpack_prior(next.prior()), completed.mixed()) / weights;
    seen_.push_back(edge);
  }

  const Seen* chosen = best([&](const Seen& seen) { return seen.proof != loss_of(node.mover); });
  if (chosen == nullptr) return Selection::of(seen_.front().node);
  const bool draws = chosen->proof == Proof::draw;
  const Seen* open =
      draws ? best([](const Seen& seen) { return seen.proof == Proof::none; }) : nullptr;
  if (open != nullptr) chosen = open;
  Selection selection = chosen->node != nullptr ? Selection::of(chosen->node) : Selection::create();
  selection.passes_draw = open != nullptr;
  return selection;
}

}  // namespace pyengine
