#include "search/rules/select.h"

#include <algorithm>

namespace pyengine {
namespace {

constexpr std::size_t kMostRates = std::size_t{1} << 16;  ///< 512 KiB a worker of a large tree

/// The better of what a scan found and of the children without a value of their own.
void include_unvisited(const Arena& arena, const Node& node, double first_play,
                       const std::vector<Unvisited>& unvisited, Scan& scan) noexcept {
  const int place = scan.place;
  for (const Unvisited& child : unvisited) {
    const double score = first_play + child.bonus;
    if (score < scan.score || (score == scan.score && child.place > scan.place)) continue;
    scan.score = score;
    scan.place = child.place;
  }
  if (scan.place != place) scan.child = child_at(arena, node, scan.place);
}

/// Of the children that score as much as the one found, the one whose edge comes first.
void prefer_least_edge(const Tree& tree, const Node& node, int count, const ScoreTask& task,
                       double first_play, Scan& scan) noexcept {
  const auto edge_of = [](const Node& child) { return Edge(child.prior, child.action); };
  for_each_child(tree.arena(), node, count, [&](Node& child) {
    if (!(edge_of(child) < edge_of(*scan.child))) return;
    if (score_of(child, task, first_play) == scan.score) scan.child = &child;
  });
}

}  // namespace

void Selector::configure(const SearchConfig& config) {
  const bool same_rate = !rates_.empty() && config.c_puct == config_.c_puct &&
      config.c_puct_base == config_.c_puct_base && config.c_puct_factor == config_.c_puct_factor;
  config_ = config;
  if (!same_rate) rates_.assign(256, 0.0);
  unvisited_.reserve(64);
}

double Selector::rate(double n) noexcept {
  const auto place = static_cast<std::size_t>(n);
  if (place < rates_.size() && rates_[place] != 0.0) return rates_[place];
  return compute_rate(n);
}

double Selector::compute_rate(double n) {
  const double rate = exploration_rate(config_, n);
  const auto place = static_cast<std::size_t>(n);
  if (place >= kMostRates) return rate;
  if (place >= rates_.size()) rates_.resize(2 * place, 0.0);
  return rates_[place] = rate;
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
  unvisited_.clear();
  Scan scan = scan_(tree.arena(), node, count, task, unvisited_);
  if (!creates && unvisited_.empty() && sorted) return {scan.child, false};

  const double first_play = first_play_value(config_, mean_for_mover(node), scan.visited_prior);
  if (!unvisited_.empty()) include_unvisited(tree.arena(), node, first_play, unvisited_, scan);
  if (!sorted) prefer_least_edge(tree, node, count, task, first_play, scan);
  if (creates) {
    const PackedPrior prior = tree.edge_prior(node, count);
    const double score = first_play + task.rate * unpack_prior(prior) * task.root / 1.0;
    const bool tie_goes_to_edge = !sorted && score == scan.score &&
        tree.edge(node, count) < Edge(scan.child->prior, scan.child->action);
    if (score > scan.score || tie_goes_to_edge) return {nullptr, false};
  }
  return {scan.child, false};
}

}  // namespace pyengine
