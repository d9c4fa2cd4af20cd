#include "search/select.h"

#include <algorithm>
#include <bit>
#include <limits>

// One copy of the loop for each width of vector, chosen when the library is loaded. Without this,
// the portable build divides two numbers at a time.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define PYENGINE_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PYENGINE_WIDE
#endif

namespace pyengine {
namespace {

constexpr std::size_t kRateTable = 1024;
constexpr int kFew = 8;  ///< measured: columns gain beyond
constexpr double kLost = -std::numeric_limits<double>::infinity();

[[nodiscard]] constexpr int groups_of(int count) noexcept { return (count + kLanes - 1) / kLanes; }

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

}  // namespace

PYENGINE_WIDE void score_children(int count, const double* sum, const double* visits,
                                  const double* prior, const double* total, double rate,
                                  double root, double* scores) noexcept {
  for (int i = 0; i < count; ++i) {
    scores[i] = sum[i] / visits[i] + rate * prior[i] * root / (1.0 + total[i]);
  }
}

namespace {

/// Place of the largest of `count` scores, the first of equals. `count` is a multiple of kLanes.
int first_best(int count, const double* scores) noexcept {
  double best[kLanes];  // several at once: one after the other would wait for each comparison
  for (int k = 0; k < kLanes; ++k) best[k] = scores[k];
  for (int i = kLanes; i < count; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) best[k] = std::max(best[k], scores[i + k]);
  }
  const double most = *std::max_element(best, best + kLanes);
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
  const auto size = static_cast<std::size_t>(groups_of(count) * kLanes);
  if (columns_.sum.size() >= size) return;
  for (auto* column :
       {&columns_.sum, &columns_.visits, &columns_.prior, &columns_.total, &columns_.score}) {
    column->resize(2 * size);
  }
  blocks_.resize(static_cast<std::size_t>(block_of(static_cast<int>(2 * size)) + 1));
  unvisited_.reserve(2 * size);
}

Node* Selector::child(int place) const noexcept {
  const int block = block_of(place);
  return blocks_[static_cast<std::size_t>(block)] + (place - first_of(block));
}

/// Children [begin, end) of a node, which lie side by side. The members are read once: the compiler
/// cannot know that the columns do not hold them.
double Selector::gather_block(const Node* nodes, int begin, int end, int mover) noexcept {
  const bool losses = config_.collision == CollisionRule::virtual_loss;
  const bool solver = config_.solver;
  const double loss = config_.virtual_loss;
  double* const sums = columns_.sum.data();
  double* const divisors = columns_.visits.data();
  double* const priors = columns_.prior.data();
  double* const totals = columns_.total.data();
  double visited_prior = 0.0;
  for (int i = begin; i < end; ++i) {
    const Node& child = nodes[i - begin];
    const std::uint64_t completed = child.visits.load(std::memory_order_relaxed);
    const std::uint64_t flying = child.in_flight.load(std::memory_order_relaxed);
    const double prior = unpack_prior(child.prior);
    double visits = static_cast<double>(completed);
    double sum = static_cast<double>(child.value_sum.load(std::memory_order_relaxed)) * kValueUnit;
    if (losses) {
      sum -= loss * static_cast<double>(flying);
      visits += loss * static_cast<double>(flying);
    }
    if (completed != 0) visited_prior += prior;
    if (solver && is_lost_for(child.proof.load(std::memory_order_relaxed), mover)) {
      sum = kLost;
      visits = 1.0;
    } else if (visits == 0.0) {
      unvisited_.push_back(i);
    }
    sums[i] = sum;
    divisors[i] = visits;
    priors[i] = prior;
    totals[i] = static_cast<double>(completed + flying);
  }
  return visited_prior;
}

double Selector::gather(const Tree& tree, const Node& node, int count) noexcept {
  unvisited_.clear();
  double visited_prior = 0.0;
  int done = 0;
  BlockIndex index = node.children;
  for (int block = 0; done < count; ++block) {
    auto* header = tree.arena().at<ChildBlock>(index);
    blocks_[static_cast<std::size_t>(block)] = header->nodes();
    const int end = std::min(count, done + block_capacity(block));
    visited_prior += gather_block(header->nodes(), done, end, node.mover);
    done = end;
    if (done < count) index = header->next;  // else it may be in the making
  }
  for (int i = count; i % kLanes != 0; ++i) {
    const auto place = static_cast<std::size_t>(i);
    columns_.sum[place] = kLost;
    columns_.visits[place] = 1.0;
    columns_.prior[place] = columns_.total[place] = 0.0;
  }
  return visited_prior;
}

/// Of the children whose score is `winner`'s, the one whose edge comes first.
int Selector::least_edge(int winner, int count) const noexcept {
  const double score = columns_.score[static_cast<std::size_t>(winner)];
  for (int i = winner + 1; i < count; ++i) {
    if (columns_.score[static_cast<std::size_t>(i)] != score) continue;
    const Node& a = *child(i);
    const Node& b = *child(winner);
    if (Edge(a.prior, a.action) < Edge(b.prior, b.action)) winner = i;
  }
  return winner;
}

/// The mean value of a child as the search sees it, for the player to move at its parent.
double Selector::seen_value(const Node& child, int mover, double first_play) const noexcept {
  if (config_.solver && is_lost_for(child.proof.load(std::memory_order_relaxed), mover)) {
    return kLost;
  }
  double sum = static_cast<double>(child.value_sum.load(std::memory_order_relaxed)) * kValueUnit;
  double visits = child.visits.load(std::memory_order_relaxed);
  if (config_.collision == CollisionRule::virtual_loss) {
    const double lost = config_.virtual_loss * child.in_flight.load(std::memory_order_relaxed);
    sum -= lost;
    visits += lost;
  }
  return visits == 0.0 ? first_play : sum / visits;
}

/// For few children: without columns, which cost more than they save.
Selector::Best Selector::best_of_few(const Tree& tree, const Node& node, int count, bool sorted,
                                     Exploration& exploration) const noexcept {
  double visited_prior = 0.0;
  for_each_child(tree.arena(), node, count, [&](const Node& child) {
    if (child.visits.load(std::memory_order_relaxed) != 0) {
      visited_prior += unpack_prior(child.prior);
    }
  });
  const double first_play = exploration.first_play =
      first_play_value(config_, mean_for_mover(node), visited_prior);
  const double rate = exploration.rate;
  const double root = exploration.root;
  Best best;
  for_each_child(tree.arena(), node, count, [&](Node& child) {
    const std::uint64_t total = std::uint64_t{child.visits.load(std::memory_order_relaxed)} +
        child.in_flight.load(std::memory_order_relaxed);
    const double score = seen_value(child, node.mover, first_play) +
        rate * unpack_prior(child.prior) * root / (1.0 + static_cast<double>(total));
    if (best.child != nullptr && !(score > best.score)) {
      if (sorted || score != best.score) return;
      if (!(Edge(child.prior, child.action) < Edge(best.child->prior, best.child->action))) return;
    }
    best = {&child, score};
  });
  return best;
}

Selector::Best Selector::best_of_many(const Tree& tree, const Node& node, int count, bool sorted,
                                      Exploration& exploration) noexcept {
  reserve(count);
  const double visited_prior = gather(tree, node, count);
  const double first_play = exploration.first_play =
      first_play_value(config_, mean_for_mover(node), visited_prior);
  for (const int place : unvisited_) {
    columns_.sum[static_cast<std::size_t>(place)] = first_play;
    columns_.visits[static_cast<std::size_t>(place)] = 1.0;
  }
  const int padded = groups_of(count) * kLanes;
  score_children(padded, columns_.sum.data(), columns_.visits.data(), columns_.prior.data(),
                 columns_.total.data(), exploration.rate, exploration.root, columns_.score.data());
  int winner = first_best(padded, columns_.score.data());
  if (!sorted) winner = least_edge(winner, count);
  return {child(winner), columns_.score[static_cast<std::size_t>(winner)]};
}

Selection Selector::choose(const Tree& tree, Node& node, bool sorted, bool may_create) noexcept {
  const int count = node.num_children.load(std::memory_order_acquire);
  const bool creates = may_create && count < node.num_edges;
  if (count == 0) return {nullptr, !creates};

  // n counts the node's own judgement, which is its first visit.
  const double n = static_cast<double>(node.visits.load(std::memory_order_relaxed)) +
      node.in_flight.load(std::memory_order_relaxed);
  Exploration exploration{rate(n), std::sqrt(n), 0.0};
  const Best best = count <= kFew ? best_of_few(tree, node, count, sorted, exploration)
                                  : best_of_many(tree, node, count, sorted, exploration);
  if (creates) {
    const Edge edge = tree.edges(node)[static_cast<std::size_t>(count)];
    const double score = exploration.first_play +
        exploration.rate * unpack_prior(edge.prior()) * exploration.root / 1.0;
    const bool tie_goes_to_edge =
        !sorted && score == best.score && edge < Edge(best.child->prior, best.child->action);
    if (score > best.score || tie_goes_to_edge) return {nullptr, false};
  }
  return {best.child, false};
}

}  // namespace pyengine
