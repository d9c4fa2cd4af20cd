#include "search/rules/ucb1.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>

#include "search/tree/order.h"

namespace pyengine {
namespace {

/// The weights of a child's mean and exploration for small visit counts, which most nodes of a tree
/// have.
struct SharesTable {
  static constexpr std::uint32_t kSize = 4096;
  std::array<ucb1::Shares, kSize> shares{};

  SharesTable() noexcept {
    for (std::uint32_t n = 1; n < kSize; ++n) shares[n] = ucb1::shares_of(n);
  }
};
const SharesTable kShares;

[[nodiscard]] ucb1::Shares shares_of(std::uint32_t visits) noexcept {
  if (visits >= SharesTable::kSize) [[unlikely]] {
    return ucb1::shares_of(visits);
  }
  return kShares.shares[visits];
}

/// A function of visit counts, computed in blocks on first use: a root needs each count in turn,
/// and its children reuse them.
template <double (*kFunction)(std::uint32_t)>
class LazyTable {
 public:
  [[nodiscard]] double operator()(std::uint32_t n) noexcept {
    if (n >= kBlock * kBlocks) return kFunction(n);
    const double* block = blocks_[n / kBlock].load(std::memory_order_acquire);
    if (block == nullptr) [[unlikely]] {
      return make(n);
    }
    return block[n % kBlock];
  }

 private:
  static constexpr std::uint32_t kBlock = 4096;
  static constexpr std::uint32_t kBlocks = 64;

  /// Two threads may both compute a block; one copy is kept for the life of the process.
  [[gnu::noinline]] double make(std::uint32_t n) noexcept {
    std::unique_ptr<double[]> block(new (std::nothrow) double[kBlock]);
    if (block == nullptr) return kFunction(n);
    const std::uint32_t first = n / kBlock * kBlock;
    for (std::uint32_t i = 0; i < kBlock; ++i) block[i] = kFunction(first + i);
    double* none = nullptr;
    if (blocks_[n / kBlock].compare_exchange_strong(none, block.get(), std::memory_order_acq_rel)) {
      static_cast<void>(block.release());
    }
    return kFunction(n);
  }

  std::array<std::atomic<double*>, kBlocks> blocks_{};
};

/// ln n; 0 if n is 0.
double log_of_visits(std::uint32_t n) { return n == 0 ? 0.0 : std::log(n); }
double explore_of_visits(std::uint32_t n) { return ucb1::explore_of(log_of_visits(n)); }

constinit LazyTable<log_of_visits> log_of;
constinit LazyTable<explore_of_visits> explore_of;

/// Excludes the node's own evaluation, which is not a visit of a child.
[[nodiscard]] std::uint32_t visits_of_children(const Node& node) noexcept {
  const std::uint32_t all =
      node.visits.load(std::memory_order_relaxed) + node.in_flight.load(std::memory_order_relaxed);
  return std::max(all, 1U) - 1;
}

/// Bit patterns that order like the scores, which are non-negative except for rounding. Comparing
/// two takes one cycle, and the next step of a walk waits for this choice.
[[nodiscard]] std::int64_t rank_of(double score) noexcept {
  return std::bit_cast<std::int64_t>(score);
}

/// best_child() if no child has a leaf in flight, which holds for most nodes of a tree with one
/// worker.
template <class Score>
[[gnu::flatten]] Selection best_at_rest(const Tree& tree, const Node& node, int count,
                                        Score&& score) noexcept {
  Node* best = nullptr;
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  for_each_child_fast(tree.arena(), node, count, [&](Node& child) {
    const std::int64_t value_sum = child.value_sum.load(std::memory_order_relaxed);
    const std::uint32_t visits = child.visits.load(std::memory_order_relaxed);
    const ucb1::Shares shares = shares_of(visits);
    double found = score(ucb1::mean_of(value_sum, shares), visits, shares);
    if (visits == 0) [[unlikely]] {
      found = std::numeric_limits<double>::infinity();
    }
    const std::int64_t rank = rank_of(found);
    best = rank > most ? &child : best;
    most = rank > most ? rank : most;
  });
  return Selection::of(best);
}

/// The child with the largest score(mean, visits, shares of visits). Flattened, because this loop
/// dominates the time in a cheap game.
template <class Score>
[[gnu::flatten]] Selection best_child(const Tree& tree, const Node& node, int count,
                                      Score&& score) noexcept {
  if (node.in_flight.load(std::memory_order_relaxed) == 0) {
    return best_at_rest(tree, node, count, score);
  }
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
    } else {  // unvisited child just created by another worker
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

/// Uses a number that changes with each visit and depends only on the tree.
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
