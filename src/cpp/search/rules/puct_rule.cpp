#include "search/rules/puct_rule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "search/rules/forced.h"
#include "search/rules/open_moves.h"

namespace pyengine {
namespace {

/// A node needs this many visits for each visit that is allotted together with others: they then
/// add so little to n that exploration grows by about 3 % at most.
constexpr double kVisitsPerAllotted = 16.0;
constexpr std::size_t kMostRates = std::size_t{1} << 16;  ///< 512 KiB per worker of a large tree

/// The better of the scan's result and the best child without a value.
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

/// The child whose edge comes first among those with the same score as `best`.
void prefer_least_edge(const Tree& tree, const Node& node, int count, const puct::Parent& parent,
                       double first_play, Scan& scan) noexcept {
  const auto edge_of = [](const Node& child) { return Edge(child.prior, child.action); };
  for_each_child(tree.arena(), node, count, [&](Node& child) {
    if (!(edge_of(child) < edge_of(*scan.child))) return;
    if (puct::score_of(child, parent, first_play) == scan.score) scan.child = &child;
  });
}

[[nodiscard]] bool is_known_draw(const Selection& chosen) noexcept {
  return chosen.child != nullptr &&
      chosen.child->proof.load(std::memory_order_relaxed) == Proof::draw;
}

}  // namespace

void PuctRule::configure(const SearchConfig& config) {
  const bool same_rate = !rates_.empty() && config.c_puct == config_.c_puct &&
      config.c_puct_base == config_.c_puct_base && config.c_puct_factor == config_.c_puct_factor &&
      config.exploration == config_.exploration;
  config_ = config;
  root_config_ = at_root(config);
  if (!same_rate) rates_.assign(256, 0.0);
  adjusts_ = config.collision == CollisionRule::virtual_loss || config.root_c_puct ||
      config.c_puct_stdev != 0.0;
  unvisited_.reserve(64);
}

double PuctRule::rate(double n) noexcept {
  const auto place = static_cast<std::size_t>(n);
  if (place < rates_.size() && rates_[place] != 0.0) return rates_[place];
  return compute_rate(n);
}

double PuctRule::compute_rate(double n) {
  const double rate = puct::exploration_rate(config_, n);
  const auto place = static_cast<std::size_t>(n);
  if (place >= kMostRates) return rate;
  if (place >= rates_.size()) rates_.resize(2 * place, 0.0);
  return rates_[place] = rate;
}

/// Applies the settings that are usually off.
void PuctRule::adjust(const Tree& tree, const Node& node, double n,
                      puct::Parent& parent) const noexcept {
  if (config_.collision == CollisionRule::virtual_loss) parent.loss = config_.virtual_loss;
  if (config_.root_c_puct && &node == &tree.root()) {
    parent.rate = puct::exploration_rate(root_config_, n);
  }
  parent.rate *= puct::stdev_factor(config_, tree, node);
}

[[gnu::always_inline]] inline puct::Parent PuctRule::parent_of(const Tree& tree, const Node& node,
                                                               double n) noexcept {
  puct::Parent parent{rate(n), puct::growth(config_, n)};
  if (adjusts_) adjust(tree, node, n, parent);
  if (config_.solver) parent.lost = loss_of(node.mover);
  return parent;
}

template <bool is_root>
Selection PuctRule::best(const Tree& tree, const Node& node, bool may_create) noexcept {
  const int count = node.num_children.load(std::memory_order_acquire);
  const bool creates = may_create && count < node.num_edges;
  if (count == 0) return creates ? Selection::create() : Selection::nothing();

  // In edge order the first of several equal scores is the one to choose.
  const bool sorted = !is_root || tree.root_is_sorted();
  const puct::Parent parent = parent_of(tree, node, visits_of(node));
  unvisited_.clear();
  Scan scan = scan_(tree.arena(), node, count, parent, unvisited_);
  if (!creates && unvisited_.empty() && sorted) return Selection::of(scan.child);

  const double first_play = puct::first_play_value(is_root ? root_config_ : config_,
                                                   node.mean_for_mover(), scan.visited_prior);
  if (!unvisited_.empty()) include_unvisited(tree.arena(), node, first_play, unvisited_, scan);
  if (!sorted) prefer_least_edge(tree, node, count, parent, first_play, scan);
  if (creates) {
    const double score = puct::score_of(tree.edge_prior(node, count), parent, first_play);
    const bool tie_goes_to_edge = !sorted && score == scan.score &&
        tree.edge(node, count) < Edge(scan.child->prior, scan.child->action);
    if (score > scan.score || tie_goes_to_edge) return Selection::create();
  }
  return Selection::of(scan.child);
}

Selection PuctRule::choose(const Tree& tree, const Node& node, bool may_create) noexcept {
  const Selection chosen = best<false>(tree, node, may_create);
  if (!config_.solver || !is_known_draw(chosen)) return chosen;
  Selection open = choose_open_move(config_, tree, node, visits_of(node), may_create);
  if (open.outcome == Selection::Outcome::nothing) return chosen;
  open.passes_draw = true;
  return open;
}

void PuctRule::allot(const Tree& tree, const Node& node, const RootSearch& search,
                     std::uint32_t visits, bool may_create, std::vector<Allotment>& given) {
  const double n = puct::visits_of(node) - visits;
  const auto at_once = static_cast<std::uint32_t>(n / kVisitsPerAllotted);
  const bool is_root = &node == &tree.root();
  const bool forces = is_root && search.config.forced_playouts > 0.0;
  if (visits > 1 && at_once > 1 && !forces) {
    allotter_.read(tree, node, is_root ? root_config_ : config_, parent_of(tree, node, n),
                   may_create);
    if (allotter_.allot(std::min(visits, at_once), given)) return;
  }
  Allotment& one = given.emplace_back();
  waiting_ = visits;
  one.to = choose_at(tree, node, search, may_create);
  waiting_ = 0.0;
}

Selection PuctRule::choose_at_root(const Tree& tree, const RootSearch& search,
                                   bool may_create) noexcept {
  const Node& root = tree.root();
  const double k = search.config.forced_playouts;
  Node* forced = k > 0.0 ? forced_child(tree, visits_of(root), k, config_.solver) : nullptr;
  const Selection chosen =
      forced != nullptr ? Selection::of(forced) : best<true>(tree, root, may_create);
  if (!config_.solver || !is_known_draw(chosen)) return chosen;
  // The visits of the root's children are the result, so most stay where PUCT puts them. Those that
  // skip the draw count with their own value, so the root's value stays the mean of its children's.
  constexpr std::uint32_t kOneIn = 4;
  const double n = visits_of(root);
  if (static_cast<std::uint64_t>(n) % kOneIn != 0) return chosen;
  Selection open = choose_open_move(root_config_, tree, root, n, may_create);
  if (open.outcome == Selection::Outcome::nothing) return chosen;
  open.by_turns = true;
  return open;
}

}  // namespace pyengine
