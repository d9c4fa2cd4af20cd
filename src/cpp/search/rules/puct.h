/// PUCT, AlphaGo Zero's selection rule, defined only here: scalar code calls these functions, and
/// the SIMD code (scan_wide.h) is tested to match score() bit for bit.
///
///   the child a with the largest   Q(a) + c(n) P(a) sqrt(n) / (1 + N(a))
///
///   Q(a)   mean value of the child's visits, in [-1, 1], for the player to move at the node
///   P(a)   prior of the move
///   N(a)   visits of the child
///   n      visits of the node, including its own evaluation
///   c(n)   c_puct + c_puct_factor ln((1 + n + c_puct_base) / c_puct_base), or c_puct alone;
///          times stdev_factor() with c_puct_stdev
///
/// Ties go to the larger prior, then the smaller action.
///
/// AlphaGo's original rule uses the constant c_puct for c(n) and 1 for sqrt(n): u = c P / (1 + N).
///
/// The Q of an unvisited child is the first-play value: a constant (AlphaGo Zero: 0), the node's
/// mean value, or that mean minus fpu_value sqrt(sum of the priors of the visited children).
///
/// A leaf in flight is a virtual visit: it counts in n and in N(a), but not in Q(a). With virtual
/// loss it also counts in Q(a), as `virtual_loss` visits of value -1.
///
/// Units: W is a sum in units of 2^-24 (node.h), and P has 16 bits (prior.h). Both are converted to
/// double exactly (W up to 2^53). The operations are evaluated in the order written, without
/// contraction, so visit counts equal those of the serial algorithm on every machine.
///
/// Sources: Silver et al., "Mastering the game of Go with deep neural networks and tree search",
/// 2016 (u); Silver et al., "Mastering the game of Go without human knowledge", 2017 (the rule);
/// Silver et al., 2018, pseudocode (c(n), and n as the node's own visit count); lc0 and KataGo
/// (c_puct_factor, the reduced first-play value).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "search/config.h"
#include "search/tree/node.h"
#include "search/tree/tree.h"

namespace pyengine::puct {

/// The part of the score shared by all children of a node.
struct Parent {
  double rate = 0.0;         ///< c(n)
  double sqrt_n = 0.0;       ///< growth()
  double loss = 0.0;         ///< losses that a leaf in flight adds to Q
  Proof lost = Proof::none;  ///< proof of a loss for the player to move; none: ignore proofs
};

/// The inputs of one child's score.
struct Child {
  double sum = 0.0;      ///< Q = sum / divisor
  double divisor = 0.0;  ///< 0: the child has no value yet
  double prior = 0.0;    ///< P
  double visits = 0.0;   ///< N, including leaves in flight
  bool visited = false;  ///< at least one visit is completed
};

/// c(n).
[[nodiscard]] inline double exploration_rate(const SearchConfig& config, double n) noexcept {
  if (!config.c_puct_base || config.exploration == Exploration::alphago) return config.c_puct;
  const double base = *config.c_puct_base;
  return config.c_puct + config.c_puct_factor * std::log((1.0 + n + base) / base);
}

/// The factor of exploration at a node with this mean value, and mean square, of `visits` values
/// [KataGo, getFpuValueForChildrenAssumeVisited()]. The standard deviation is shrunk towards
/// kUsualStdev by two visits.
[[nodiscard]] inline double stdev_factor(const SearchConfig& config, double mean,
                                         double mean_square, double visits) noexcept {
  constexpr double kUsualStdev = 0.4;
  constexpr double kUsualVisits = 2.0;
  if (visits <= 1.0) return 1.0;
  const double squared = mean * mean;
  const double usual = (squared + kUsualStdev * kUsualStdev) * kUsualVisits;
  const double observed = std::max(mean_square, squared) * visits;
  const double variance = (usual + observed) / (kUsualVisits + visits - 1.0) - squared;
  return 1.0 + config.c_puct_stdev * (std::sqrt(std::max(variance, 0.0)) / kUsualStdev - 1.0);
}

/// The same for a node of a tree; 1 without c_puct_stdev.
[[nodiscard]] inline double stdev_factor(const SearchConfig& config, const Tree& tree,
                                         const Node& node) noexcept {
  if (config.c_puct_stdev == 0.0) return 1.0;
  const double visits = node.visits.load(std::memory_order_relaxed);
  const auto* const sum = tree.squares(node);
  if (sum == nullptr || visits == 0.0) return 1.0;
  const double squares = static_cast<double>(sum->load(std::memory_order_relaxed)) * kValueUnit;
  return stdev_factor(config, node.mean_for_chooser(), squares / visits, visits);
}

/// sqrt(n): how exploration grows with the node's visits.
[[nodiscard]] inline double growth(const SearchConfig& config, double n) noexcept {
  return config.exploration == Exploration::alphago ? 1.0 : std::sqrt(n);
}

/// Q of an unvisited child. `node_value`: mean value of the node for the player to move.
[[nodiscard]] inline double first_play_value(const SearchConfig& config, double node_value,
                                             double visited_prior) noexcept {
  switch (config.fpu) {
    case FirstPlay::value:
      return config.fpu_value;
    case FirstPlay::parent:
      return node_value;
    case FirstPlay::reduction:
      return node_value - config.fpu_value * std::sqrt(visited_prior);
  }
  return config.fpu_value;
}

/// Visits, including leaves in flight.
[[nodiscard]] inline double visits_of(const Node& node) noexcept {
  return static_cast<double>(node.visits.load(std::memory_order_relaxed)) +
      node.in_flight.load(std::memory_order_relaxed);
}

/// The exploration term, c(n) P sqrt(n) / (1 + N).
[[nodiscard]] inline double bonus(const Parent& parent, double prior, double visits) noexcept {
  return parent.rate * prior * parent.sqrt_n / (1.0 + visits);
}

/// The N for which bonus() has this value.
[[nodiscard]] inline double visits_at(const Parent& parent, double prior, double bonus) noexcept {
  return parent.rate * prior * parent.sqrt_n / bonus - 1.0;
}

/// The rule: Q + bonus, for a child with a value.
[[nodiscard]] inline double score(const Parent& parent, const Child& child) noexcept {
  return child.sum / child.divisor + bonus(parent, child.prior, child.visits);
}

/// The inputs of a child's score; Q is -infinity if it is proven lost.
[[nodiscard]] inline Child read_child(const Node& node, const Parent& parent) noexcept {
  const std::uint64_t completed = node.visits.load(std::memory_order_relaxed);
  const std::uint64_t flying = node.in_flight.load(std::memory_order_relaxed);
  const double prior = unpack_prior(node.prior);
  const double visits = static_cast<double>(completed + flying);
  if (parent.lost != Proof::none && node.proof.load(std::memory_order_relaxed) == parent.lost) {
    return {-std::numeric_limits<double>::infinity(), 1.0, prior, visits, completed != 0};
  }
  const double losses = parent.loss * static_cast<double>(flying);
  const double sum =
      static_cast<double>(node.value_sum.load(std::memory_order_relaxed)) * kValueUnit - losses;
  return {sum, static_cast<double>(completed) + losses, prior, visits, completed != 0};
}

/// The same inputs with one more leaf in flight below the child.
[[nodiscard]] inline Child with_leaf_in_flight(const Child& child, const Parent& parent) noexcept {
  return {child.sum - parent.loss, child.divisor + parent.loss, child.prior, child.visits + 1.0,
          child.visited};
}

/// The score of a child, with or without a value.
[[nodiscard]] inline double score_of(Child child, const Parent& parent,
                                     double first_play) noexcept {
  if (child.divisor == 0.0) child = {first_play, 1.0, child.prior, child.visits};
  return score(parent, child);
}
[[nodiscard]] inline double score_of(const Node& node, const Parent& parent,
                                     double first_play) noexcept {
  return score_of(read_child(node, parent), parent, first_play);
}

/// The score of an edge without a child.
[[nodiscard]] inline double score_of(PackedPrior prior, const Parent& parent,
                                     double first_play) noexcept {
  return score(parent, {first_play, 1.0, unpack_prior(prior), 0.0});
}

/// The parent with c(n) sqrt(n) as a single factor. The last bit of a score, and thus ties, may
/// differ from the form above, so a caller must use one form consistently.
[[nodiscard]] inline Parent with_one_factor(Parent parent) noexcept {
  parent.rate *= parent.sqrt_n;
  parent.sqrt_n = 1.0;
  return parent;
}

}  // namespace pyengine::puct
