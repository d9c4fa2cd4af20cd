/// UCB1 at every node (UCT): a rule without priors.
///
///   the child a with the largest   W(a) / N(a) + c sqrt(2 ln n / N(a)),   c = 1 / sqrt(2)
///
///   W(a)   sum of the results of the child's visits for the player to move at the node: a win is
///          1, a draw 1/2, a loss 0, and a value v in [-1, 1] is (1 + v) / 2
///   N(a)   visits of the child
///   n      sum of N over the children
///
/// Moves without a visit come first, in the order of their edges. Equal scores: the child that was
/// created first. A leaf in flight is a virtual visit, which counts in N(a) and n and not in the
/// mean, also where the configuration asks for virtual loss. A child that has only leaves in flight
/// takes the node's mean. Proofs do not count: a visit of a proven child backs up its proven value.
///
/// Sources: Auer et al., "Finite-time analysis of the multiarmed bandit problem", 2002 (UCB1);
/// Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", 2006 (at every node, with the factor
/// c = 1 / sqrt(2)).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "search/rules/rule.h"

namespace pyengine {

namespace ucb1 {

inline constexpr double kExploration = 1.0 / std::numbers::sqrt2;

/// `mean`: W / N in [0, 1]. `log_n`: ln n.
[[nodiscard]] inline double score(double mean, double visits, double log_n) noexcept {
  return mean + kExploration * std::sqrt(2.0 * log_n / visits);
}

/// A mean value in [-1, 1] as a mean result in [0, 1].
[[nodiscard]] inline double result_of(double value) noexcept { return 0.5 + 0.5 * value; }

}  // namespace ucb1

class Ucb1Rule final : public Rule {
 public:
  void configure(const SearchConfig&) override {}
  Selection choose_at_root(const Tree& tree, const SearchConfig&,
                           bool may_create) noexcept override {
    return choose(tree, tree.root(), may_create);
  }
  Selection choose(const Tree& tree, const Node& node, bool may_create) noexcept override {
    const int count = node.num_children.load(std::memory_order_acquire);
    if (may_create && count < node.num_edges) return Selection::create();
    // The node's own evaluation is not a visit of a child.
    const double n = static_cast<double>(node.visits.load(std::memory_order_relaxed)) +
        node.in_flight.load(std::memory_order_relaxed) - 1.0;
    const double log_n = std::log(std::max(n, 1.0));
    const double node_mean = ucb1::result_of(node.mean_for_mover());
    Selection best;
    double most = -1.0;
    for_each_child(tree.arena(), node, count, [&](Node& child) {
      const double completed = child.visits.load(std::memory_order_relaxed);
      const double visits = completed + child.in_flight.load(std::memory_order_relaxed);
      const double mean = completed == 0.0 ? node_mean : ucb1::result_of(child.mean_for_chooser());
      const double score = visits == 0.0 ? std::numeric_limits<double>::infinity()
                                         : ucb1::score(mean, visits, log_n);
      if (score <= most) return;
      most = score;
      best = Selection::of(&child);
    });
    return best;
  }
};

}  // namespace pyengine
