/// UCB1, the multi-armed bandit rule: applied at every node it is UCT; in a tree that does not grow
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
/// Unvisited moves come first, in the tree's random order. In UCT, expand_probability is the
/// probability that a walk takes one of them; otherwise it continues at the best existing child.
/// Ties go to the child created first. A leaf in flight is a virtual visit, which counts in N(a)
/// and n but not in the mean, even if the configuration asks for virtual loss. A child with only
/// leaves in flight has the node's mean. Proofs do not affect selection: a visit to a proven child
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

/// Maps a value in [-1, 1], or a mean of values, to a result in [0, 1].
[[nodiscard]] inline double result_of(double value) noexcept { return 0.5 + 0.5 * value; }

/// Precomputed factors for N > 0 visits, which save a division and a square root per score.
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

/// sqrt(2 ln n), shared by all children of a node.
[[nodiscard]] inline double explore_of(double log_n) noexcept { return std::sqrt(2.0 * log_n); }

/// The rule. `c_explore`: c sqrt(2 ln n); `visits`: N(a), including those in flight.
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
