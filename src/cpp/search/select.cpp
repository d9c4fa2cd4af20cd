#include "search/select.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace pyengine {
namespace {

constexpr std::size_t kRateTable = 1024;
constexpr int kFew = 8;  ///< measured: scores kept in memory gain beyond
constexpr double kLost = -std::numeric_limits<double>::infinity();

/// `count` rounded up to whole groups.
[[nodiscard]] constexpr int padded(int count) noexcept {
  return (count + kWideNodes - 1) / kWideNodes * kWideNodes;
}

/// Block of the child at `place`; see block_capacity().
[[nodiscard]] constexpr int block_of(int place) noexcept {
  constexpr int kFirstLarge = 12;  // blocks from here on begin at 2048 and hold 1024
  if (place < 2048) return std::bit_width(static_cast<unsigned>(place));
  return kFirstLarge + (place - 2048) / 1024;
}
[[nodiscard]] constexpr int first_of(int block) noexcept {
  return block <= 12 ? (1 << block) / 2 : 2048 + (block - 12) * 1024;
}
static_assert(block_of(0) == 0 && block_of(3) == 2 && block_of(1024) == 11 && block_of(3072) == 13);
static_assert(first_of(0) == 0 && first_of(2) == 2 && first_of(12) == 2048 && first_of(13) == 3072);

/// Place of the largest of `count` scores, the first of equals; `count` is in whole groups.
int first_best(int count, const double* scores) noexcept {
  double best[kWideNodes];  // several at once: one after the other would wait for each comparison
  for (int k = 0; k < kWideNodes; ++k) best[k] = scores[k];
  for (int i = kWideNodes; i < count; i += kWideNodes) {
    for (int k = 0; k < kWideNodes; ++k) best[k] = std::max(best[k], scores[i + k]);
  }
  const double most = *std::max_element(best, best + kWideNodes);
  return static_cast<int>(std::find(scores, scores + count, most) - scores);
}

}  // namespace

void Selector::configure(const SearchConfig& config) {
  const bool same_rate = !rates_.empty() && config.c_puct == config_.c_puct &&
      config.c_puct_base == config_.c_puct_base && config.c_puct_factor == config_.c_puct_factor;
  config_ = config;
  if (!same_rate) rates_.assign(kRateTable, 0.0);
  reserve(64);
}

double Selector::rate(double n) noexcept {
  const auto place = static_cast<std::size_t>(n);
  if (place >= kRateTable) return exploration_rate(config_, n);
  double& known = rates_[place];
  if (known == 0.0) known = exploration_rate(config_, n);
  return known;
}

void Selector::reserve(int count) {
  const auto size = static_cast<std::size_t>(padded(count));
  if (scores_.size() >= size) return;
  scores_.resize(2 * size);
  blocks_.resize(static_cast<std::size_t>(block_of(static_cast<int>(2 * size)) + 1));
  unvisited_.reserve(2 * size);
}

Node* Selector::child(int place) const noexcept {
  const int block = block_of(place);
  return blocks_[static_cast<std::size_t>(block)] + (place - first_of(block));
}

double Selector::score(const Tree& tree, const Node& node, int count,
                       const ScoreTask& task) noexcept {
  unvisited_.clear();
  double visited_prior = 0.0;
  BlockIndex index = node.children;
  for (int block = 0, first = 0; first < count; ++block) {
    auto* header = tree.arena().at<ChildBlock>(index);
    const int capacity = block_capacity(block);
    const int here = std::min(capacity, count - first);
    const ScoreNodes scorer = wide_ != nullptr && capacity >= kWideNodes ? wide_ : &score_nodes;
    blocks_[static_cast<std::size_t>(block)] = header->nodes();
    visited_prior += scorer(header->nodes(), first, here, task,
                            &scores_[static_cast<std::size_t>(first)], unvisited_);
    first += here;
    if (first < count) index = header->next;  // else it may be in the making
  }
  std::fill(scores_.begin() + count, scores_.begin() + padded(count), kLost);
  return visited_prior;
}

/// Of the children whose score is `winner`'s, the one whose edge comes first.
int Selector::least_edge(int winner, int count) const noexcept {
  const double score = scores_[static_cast<std::size_t>(winner)];
  for (int i = winner + 1; i < count; ++i) {
    if (scores_[static_cast<std::size_t>(i)] != score) continue;
    const Node& a = *child(i);
    const Node& b = *child(winner);
    if (Edge(a.prior, a.action) < Edge(b.prior, b.action)) winner = i;
  }
  return winner;
}

/// The mean value of a child as the search sees it, for the player to move at its parent.
double Selector::seen_value(const Node& child, const ScoreTask& task,
                            double first_play) const noexcept {
  if (task.lost != Proof::none && child.proof.load(std::memory_order_relaxed) == task.lost) {
    return kLost;
  }
  const double losses = task.loss * child.in_flight.load(std::memory_order_relaxed);
  const double sum =
      static_cast<double>(child.value_sum.load(std::memory_order_relaxed)) * kValueUnit - losses;
  const double visits = child.visits.load(std::memory_order_relaxed) + losses;
  return visits == 0.0 ? first_play : sum / visits;
}

Selector::Best Selector::best_of_few(const Tree& tree, const Node& node, int count, bool sorted,
                                     const ScoreTask& task, double& first_play) const noexcept {
  double visited_prior = 0.0;
  for_each_child(tree.arena(), node, count, [&](const Node& child) {
    if (child.visits.load(std::memory_order_relaxed) != 0) {
      visited_prior += unpack_prior(child.prior);
    }
  });
  const double unvisited = first_play =
      first_play_value(config_, mean_for_mover(node), visited_prior);
  Best best;
  for_each_child(tree.arena(), node, count, [&](Node& child) {
    const std::uint64_t total = std::uint64_t{child.visits.load(std::memory_order_relaxed)} +
        child.in_flight.load(std::memory_order_relaxed);
    const double score = seen_value(child, task, unvisited) +
        task.rate * unpack_prior(child.prior) * task.root / (1.0 + static_cast<double>(total));
    if (best.child != nullptr && !(score > best.score)) {
      if (sorted || score != best.score) return;
      if (!(Edge(child.prior, child.action) < Edge(best.child->prior, best.child->action))) return;
    }
    best = {&child, score};
  });
  return best;
}

Selector::Best Selector::best_of_many(const Tree& tree, const Node& node, int count, bool sorted,
                                      const ScoreTask& task, double& first_play) noexcept {
  reserve(count);
  const double visited_prior = score(tree, node, count, task);
  first_play = first_play_value(config_, mean_for_mover(node), visited_prior);
  for (const int place : unvisited_) scores_[static_cast<std::size_t>(place)] += first_play;
  int winner = first_best(padded(count), scores_.data());
  if (!sorted) winner = least_edge(winner, count);
  return {child(winner), scores_[static_cast<std::size_t>(winner)]};
}

Selection Selector::choose(const Tree& tree, Node& node, bool sorted, bool may_create) noexcept {
  const int count = node.num_children.load(std::memory_order_acquire);
  const bool creates = may_create && count < node.num_edges;
  if (count == 0) return {nullptr, !creates};

  // n counts the node's own judgement, which is its first visit.
  const double n = static_cast<double>(node.visits.load(std::memory_order_relaxed)) +
      node.in_flight.load(std::memory_order_relaxed);
  ScoreTask task{rate(n), std::sqrt(n)};
  if (config_.collision == CollisionRule::virtual_loss) task.loss = config_.virtual_loss;
  if (config_.solver) task.lost = node.mover == 0 ? Proof::loss : Proof::win;
  double first_play = 0.0;
  const Best best = count <= kFew ? best_of_few(tree, node, count, sorted, task, first_play)
                                  : best_of_many(tree, node, count, sorted, task, first_play);
  if (creates) {
    const Edge edge = tree.edges(node)[static_cast<std::size_t>(count)];
    const double score = first_play + task.rate * unpack_prior(edge.prior()) * task.root / 1.0;
    const bool tie_goes_to_edge =
        !sorted && score == best.score && edge < Edge(best.child->prior, best.child->action);
    if (score > best.score || tie_goes_to_edge) return {nullptr, false};
  }
  return {best.child, false};
}

}  // namespace pyengine
