#include "search/select.h"

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
constexpr double kLost = -std::numeric_limits<double>::infinity();

}  // namespace

PYENGINE_WIDE void score_children(int count, const double* sum, const double* visits,
                                  const double* prior, const double* total, double rate,
                                  double root, double* scores) noexcept {
  for (int i = 0; i < count; ++i) {
    scores[i] = sum[i] / visits[i] + rate * prior[i] * root / (1.0 + total[i]);
  }
}

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
  const auto size = static_cast<std::size_t>(count);
  if (child_.size() >= size) return;
  for (auto* column : {&sum_, &visits_, &prior_, &total_, &scores_}) column->resize(2 * size);
  child_.resize(2 * size);
  unvisited_.reserve(2 * size);
}

void Selector::gather(const Tree& tree, Node& node, int count) noexcept {
  const bool losses = config_.collision == CollisionRule::virtual_loss;
  const int mover = node.mover;
  visited_prior_ = 0.0;
  unvisited_.clear();
  std::size_t i = 0;
  for_each_child(tree.arena(), node, count, [&](Node& child) {
    const std::uint32_t completed = child.visits.load(std::memory_order_relaxed);
    const double flying = child.in_flight.load(std::memory_order_relaxed);
    const double visits = completed;
    child_[i] = &child;
    prior_[i] = unpack_prior(child.prior);
    total_[i] = visits + flying;
    sum_[i] = static_cast<double>(child.value_sum.load(std::memory_order_relaxed)) * kValueUnit;
    visits_[i] = visits;
    if (losses) {
      sum_[i] -= config_.virtual_loss * flying;
      visits_[i] += config_.virtual_loss * flying;
    }
    if (completed != 0) visited_prior_ += prior_[i];
    if (config_.solver && is_lost_for(child.proof.load(std::memory_order_relaxed), mover)) {
      sum_[i] = kLost;
      visits_[i] = 1.0;
    } else if (visits_[i] == 0.0) {
      unvisited_.push_back(static_cast<int>(i));
    }
    ++i;
  });
}

int Selector::best(int count, bool sorted) const noexcept {
  int winner = 0;
  for (int i = 1; i < count; ++i) {
    const auto a = static_cast<std::size_t>(i);
    const auto b = static_cast<std::size_t>(winner);
    if (scores_[a] > scores_[b]) {
      winner = i;
    } else if (!sorted && scores_[a] == scores_[b] &&
               Edge(child_[a]->prior, child_[a]->action) <
                   Edge(child_[b]->prior, child_[b]->action)) {
      winner = i;
    }
  }
  return winner;
}

Selection Selector::choose(const Tree& tree, Node& node, bool sorted, bool may_create) noexcept {
  const int count = node.num_children.load(std::memory_order_acquire);
  const bool creates = may_create && count < node.num_edges;
  if (count == 0) return {nullptr, !creates};
  reserve(count);
  gather(tree, node, count);

  // n counts the node's own judgement, which is its first visit.
  const double n = static_cast<double>(node.visits.load(std::memory_order_relaxed)) +
      node.in_flight.load(std::memory_order_relaxed);
  const double rate_n = rate(n);
  const double root_n = std::sqrt(n);
  const double first_play = first_play_value(config_, mean_for_mover(node), visited_prior_);
  for (const int place : unvisited_) {
    sum_[static_cast<std::size_t>(place)] = first_play;
    visits_[static_cast<std::size_t>(place)] = 1.0;
  }
  score_children(count, sum_.data(), visits_.data(), prior_.data(), total_.data(), rate_n, root_n,
                 scores_.data());
  const auto winner = static_cast<std::size_t>(best(count, sorted));
  if (creates) {
    const Edge edge = tree.edges(node)[static_cast<std::size_t>(count)];
    const double score = first_play + rate_n * unpack_prior(edge.prior()) * root_n / 1.0;
    const bool tie_goes_to_edge = !sorted && score == scores_[winner] &&
        edge < Edge(child_[winner]->prior, child_[winner]->action);
    if (score > scores_[winner] || tie_goes_to_edge) return {nullptr, false};
  }
  return {child_[winner], false};
}

}  // namespace pyengine
