#include "search/rules/ucb1.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "search/tree/order.h"

namespace pyengine {
namespace {

constexpr std::size_t kLogs = 4096;  ///< 32 KiB a worker and table

/// Without the node's own evaluation, which is not a visit of a child.
[[nodiscard]] double visits_of_children(const Node& node) noexcept {
  return static_cast<double>(node.visits.load(std::memory_order_relaxed)) +
      node.in_flight.load(std::memory_order_relaxed) - 1.0;
}

/// The child with the largest `score`; of those that `may_reach` the best so far, only.
template <class MayReach, class Score>
Selection best_child(const Tree& tree, const Node& node, int count, MayReach&& may_reach,
                     Score&& score) noexcept {
  Selection best;
  double most = -std::numeric_limits<double>::infinity();
  for_each_child(tree.arena(), node, count, [&](Node& node_of_child) {
    const ucb1::Child child = ucb1::read_child(node_of_child);
    if (!may_reach(most, child)) return;
    // Nobody has visited a child that another worker has only just created.
    const double found =
        child.visits == 0.0 ? std::numeric_limits<double>::infinity() : score(child);
    if (found <= most) return;
    most = found;
    best = Selection::of(&node_of_child);
  });
  return best;
}

}  // namespace

void Ucb1Rule::configure(const SearchConfig& config) {
  c_ = config.uct_c;
  expand_probability_ = grows_a_tree(config.algorithm) ? config.expand_probability : 1.0;
  logarithmic_ = config.exploration == Exploration::log;
  logs_.resize(kLogs);
  if (!logarithmic_ || !visits_logs_.empty()) return;
  for (std::size_t i = 0; i < kLogs; ++i)
    visits_logs_.push_back(std::log1p(static_cast<double>(i)));
}

/// By a number that changes with each visit, and that no other state than the tree's decides.
bool Ucb1Rule::tries_new_move(const Tree& tree, const Node& node) const noexcept {
  if (expand_probability_ == 1.0) return true;
  const auto sum = static_cast<std::uint64_t>(node.value_sum.load(std::memory_order_relaxed));
  const auto visits = static_cast<std::uint64_t>(visits_of_children(node));
  const std::uint64_t number = mix64(tree.order() ^ mix64(sum + (visits << 32)) ^ node.action);
  return static_cast<double>(number >> 11) * 0x1p-53 < expand_probability_;
}

double Ucb1Rule::log_of(double n) noexcept {
  n = std::max(n, 1.0);
  const auto place = static_cast<std::size_t>(n);
  if (place >= logs_.size()) return std::log(n);
  double& known = logs_[place];
  if (known == 0.0) known = std::log(n);
  return known;
}

double Ucb1Rule::log_visits(double visits) noexcept {
  const auto place = static_cast<std::size_t>(visits);
  return place < visits_logs_.size() ? visits_logs_[place] : std::log1p(visits);
}

Selection Ucb1Rule::choose(const Tree& tree, const Node& node, bool may_create) noexcept {
  const int count = node.num_children.load(std::memory_order_acquire);
  const bool has_new = may_create && count < node.num_edges;
  if (has_new && (count == 0 || tries_new_move(tree, node))) return Selection::create();
  const double log_n = log_of(visits_of_children(node));
  const ucb1::Parent parent = ucb1::parent_of(c_, log_n, ucb1::result_of(node.mean_for_mover()));
  if (logarithmic_) {
    return best_child(
        tree, node, count, [](double, const ucb1::Child&) { return true; },
        [&](const ucb1::Child& child) {
          return ucb1::log_score(child, parent, log_visits(child.visits));
        });
  }
  return best_child(
      tree, node, count,
      [&](double least, const ucb1::Child& child) { return ucb1::may_reach(least, child, parent); },
      [&](const ucb1::Child& child) { return ucb1::score(child, parent); });
}

}  // namespace pyengine
