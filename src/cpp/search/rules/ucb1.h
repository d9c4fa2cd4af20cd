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
#include <cstdint>

#include "search/rules/rule.h"

namespace pyengine {

namespace ucb1 {

/// A value in [-1, 1], or a mean of them, as a result in [0, 1].
[[nodiscard]] inline double result_of(double value) noexcept { return 0.5 + 0.5 * value; }

/// What scores need of a number N > 0 of visits: they then take neither a division nor a root.
struct Shares {
  double value = 0.0;    ///< what a unit of Node::value_sum adds to the mean result
  double explore = 0.0;  ///< sqrt(1 / N)
};
[[nodiscard]] inline Shares shares_of(std::uint32_t visits) noexcept {
  const double one = 1.0 / visits;
  return {0.5 * kValueUnit * one, std::sqrt(one)};
}

/// W / N of a child.
[[nodiscard]] inline double mean_of(std::int64_t value_sum, Shares completed) noexcept {
  return 0.5 + static_cast<double>(value_sum) * completed.value;
}

/// sqrt(2 ln n), which all children of a node share.
[[nodiscard]] inline double explore_of(double log_n) noexcept { return std::sqrt(2.0 * log_n); }

/// The rule. `c_explore`: c sqrt(2 ln n); `visits`: N(a), those in flight included.
[[nodiscard]] inline double score(double mean, double c_explore, Shares visits) noexcept {
  return mean + c_explore * visits.explore;
}

/// The rule with exploration "log". `log_visits`: ln(1 + N(a)).
[[nodiscard]] inline double log_score(double mean, double c, double log_n,
                                      double log_visits) noexcept {
  return mean + c * (log_n - log_visits);
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

  double c_ = 0.0;
  double expand_probability_ = 1.0;
  bool logarithmic_ = false;
};

}  // namespace pyengine
