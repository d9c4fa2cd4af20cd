/// UCB1, the rule of the multi-armed bandit: at every node it is UCT, in a tree that does not grow
/// (grows_a_tree()) it is flat UCB. It reads no priors.
///
///   the child a with the largest   W(a) / N(a) + c sqrt(2 ln n / N(a))
///   exploration "log"              W(a) / N(a) + c ln(n / (1 + N(a)))
///
///   W(a)   sum of the results of the child's visits for the player to move at the node: a win is
///          1, a draw 1/2, a loss 0, and a value v in [-1, 1] is (1 + v) / 2
///   N(a)   visits of the child
///   n      sum of N over the children
///   c      SearchConfig::uct_c, 1 / sqrt(2)
///
/// Moves without a visit come first, in the tree's random order. In UCT, expand_probability is the
/// probability that a walk takes one of them; else it goes on at the best child there is. Equal
/// scores: the child that was created first. A leaf in flight is a virtual visit, which counts in
/// N(a) and n and not in the mean, also where the configuration asks for virtual loss. A child that
/// has only leaves in flight takes the node's mean. Proofs do not count: a visit of a proven child
/// backs up its proven value.
///
/// Sources: Auer et al., "Finite-time analysis of the multiarmed bandit problem", 2002 (UCB1);
/// Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", 2006 (at every node, with the factor
/// c = 1 / sqrt(2)).
#pragma once

#include <cmath>
#include <vector>

#include "search/rules/rule.h"

namespace pyengine {

namespace ucb1 {

/// What the scores of all children of a node share.
struct Parent {
  double c = 0.0;
  double log_n = 0.0;  ///< ln n
  double mean = 0.0;   ///< W / N of a child that has only leaves in flight
  double reach = 0.0;  ///< 2 c^2 ln n and a little more, for may_reach()
};

/// `mean`: of the node, for the player to move there.
[[nodiscard]] inline Parent parent_of(double c, double log_n, double mean) noexcept {
  constexpr double kRounding = 1.0 + 1e-9;
  return {c, log_n, mean, kRounding * 2.0 * c * c * log_n};
}

/// W and N of a child. `completed` visits count in the mean, `visits` those in flight as well.
struct Child {
  double sum = 0.0;
  double completed = 0.0;
  double visits = 0.0;
};

/// A value in [-1, 1], or a mean of them, as a result in [0, 1].
[[nodiscard]] inline double result_of(double value) noexcept { return 0.5 + 0.5 * value; }

[[nodiscard]] inline Child read_child(const Node& node) noexcept {
  const double completed = node.visits.load(std::memory_order_relaxed);
  const double values =
      static_cast<double>(node.value_sum.load(std::memory_order_relaxed)) * kValueUnit;
  return {0.5 * (completed + values), completed,
          completed + node.in_flight.load(std::memory_order_relaxed)};
}

[[nodiscard]] inline double mean_of(const Child& child, const Parent& parent) noexcept {
  return child.completed == 0.0 ? parent.mean : child.sum / child.completed;
}

/// The rule. The child has a visit, completed or in flight.
[[nodiscard]] inline double score(const Child& child, const Parent& parent) noexcept {
  return mean_of(child, parent) + parent.c * std::sqrt(2.0 * parent.log_n / child.visits);
}

/// Whether score() may be above `least`. It needs neither a division nor a root: with W / N the
/// mean, (least - W / N)^2 N <= 2 c^2 ln n. `reach` is larger than the right side by more than the
/// rounding of both.
[[nodiscard]] inline bool may_reach(double least, const Child& child,
                                    const Parent& parent) noexcept {
  const double lacking = least * child.completed - child.sum;
  if (lacking <= 0.0 || child.completed == 0.0) return true;
  return lacking * lacking * child.visits <= parent.reach * (child.completed * child.completed);
}

/// The rule with exploration "log". `log_visits`: ln(1 + N).
[[nodiscard]] inline double log_score(const Child& child, const Parent& parent,
                                      double log_visits) noexcept {
  return mean_of(child, parent) + parent.c * (parent.log_n - log_visits);
}

}  // namespace ucb1

class Ucb1Rule final : public Rule {
 public:
  void configure(const SearchConfig& config) override;
  Selection choose_at_root(const Tree& tree, const RootSearch&, bool may_create) noexcept override {
    return choose(tree, tree.root(), may_create);
  }
  Selection choose(const Tree& tree, const Node& node, bool may_create) noexcept override;

 private:
  [[nodiscard]] bool tries_new_move(const Tree& tree, const Node& node) const noexcept;
  /// ln(max(n, 1)).
  [[nodiscard]] double log_of(double n) noexcept;
  /// ln(1 + visits).
  [[nodiscard]] double log_visits(double visits) noexcept;

  double c_ = 0.0;
  double expand_probability_ = 1.0;
  bool logarithmic_ = false;
  std::vector<double> logs_;         ///< ln n by n; 0 = not yet computed
  std::vector<double> visits_logs_;  ///< ln(1 + N) by N
};

}  // namespace pyengine
