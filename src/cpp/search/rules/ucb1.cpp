#include "search/rules/ucb1.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "search/tree/order.h"

namespace pyengine {
namespace {

/// Functions of small numbers of visits, which most nodes of a tree have.
struct Tables {
  static constexpr std::uint32_t kSize = 4096;
  std::array<ucb1::Shares, kSize> shares{};
  std::array<double, kSize> logs{};     ///< 0 where n is 0
  std::array<double, kSize> explore{};  ///< likewise

  Tables() noexcept {
    for (std::uint32_t n = 1; n < kSize; ++n) {
      shares[n] = ucb1::shares_of(n);
      logs[n] = std::log(n);
      explore[n] = ucb1::explore_of(logs[n]);
    }
  }
};
const Tables kTables;

[[nodiscard]] ucb1::Shares shares_of(std::uint32_t visits) noexcept {
  return visits < Tables::kSize ? kTables.shares[visits] : ucb1::shares_of(visits);
}
[[nodiscard]] double log_of(std::uint32_t n) noexcept {
  return n < Tables::kSize ? kTables.logs[n] : std::log(n);
}
[[nodiscard]] double explore_of(std::uint32_t n) noexcept {
  return n < Tables::kSize ? kTables.explore[n] : ucb1::explore_of(std::log(n));
}

/// Without the node's own evaluation, which is not a visit of a child.
[[nodiscard]] std::uint32_t visits_of_children(const Node& node) noexcept {
  const std::uint32_t all =
      node.visits.load(std::memory_order_relaxed) + node.in_flight.load(std::memory_order_relaxed);
  return std::max(all, 1U) - 1;
}

/// The child with the largest score(mean, visits, shares of visits). Flattened: in a tree of a
/// cheap game most of the time is spent in this loop.
template <class Score>
[[gnu::flatten]] Selection best_child(const Tree& tree, const Node& node, int count,
                                      Score&& score) noexcept {
  Node* best = nullptr;
  double most = -std::numeric_limits<double>::infinity();
  for_each_child(tree.arena(), node, count, [&](Node& child) {
    const std::int64_t value_sum = child.value_sum.load(std::memory_order_relaxed);
    const std::uint32_t completed = child.visits.load(std::memory_order_relaxed);
    const std::uint32_t in_flight = child.in_flight.load(std::memory_order_relaxed);
    const std::uint32_t visits = completed + in_flight;
    const ucb1::Shares shares = shares_of(visits);
    double found = 0.0;
    if (in_flight == 0 && completed != 0) {
      found = score(ucb1::mean_of(value_sum, shares), visits, shares);
    } else if (completed != 0) {
      found = score(ucb1::mean_of(value_sum, shares_of(completed)), visits, shares);
    } else if (visits != 0) {
      found = score(ucb1::result_of(node.mean_for_mover()), visits, shares);
    } else {  // nobody has visited a child that another worker has only just created
      found = std::numeric_limits<double>::infinity();
    }
    best = found > most ? &child : best;
    most = found > most ? found : most;
  });
  return Selection::of(best);
}

}  // namespace

void Ucb1Rule::configure(const SearchConfig& config) {
  c_ = config.uct_c;
  expand_probability_ = grows_a_tree(config.algorithm) ? config.expand_probability : 1.0;
  logarithmic_ = config.exploration == Exploration::log;
}

/// By a number that changes with each visit, and that no other state than the tree's decides.
bool Ucb1Rule::tries_new_move(const Tree& tree, const Node& node) const noexcept {
  if (expand_probability_ == 1.0) return true;
  const auto sum = static_cast<std::uint64_t>(node.value_sum.load(std::memory_order_relaxed));
  const auto visits = static_cast<std::uint64_t>(visits_of_children(node));
  const std::uint64_t number = mix64(tree.order() ^ mix64(sum + (visits << 32)) ^ node.action);
  return static_cast<double>(number >> 11) * 0x1p-53 < expand_probability_;
}

Selection Ucb1Rule::choose(const Tree& tree, const Node& node, bool may_create) noexcept {
  const int count = node.num_children.load(std::memory_order_acquire);
  const bool has_new = may_create && count < node.num_edges;
  if (has_new && (count == 0 || tries_new_move(tree, node))) return Selection::create();
  if (count == 0) return Selection::nothing();
  const std::uint32_t n = visits_of_children(node);
  if (logarithmic_) {
    const double log_n = log_of(n);
    return best_child(tree, node, count, [&](double mean, std::uint32_t visits, ucb1::Shares) {
      return ucb1::log_score(mean, c_, log_n, log_of(visits + 1));
    });
  }
  const double c_explore = c_ * explore_of(n);
  return best_child(tree, node, count, [&](double mean, std::uint32_t, ucb1::Shares visits) {
    return ucb1::score(mean, c_explore, visits);
  });
}

}  // namespace pyengine
