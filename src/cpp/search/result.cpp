#include "search/result.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "games/common/hashing.h"
#include "search/rules/gumbel.h"
#include "search/rules/puct.h"

namespace pyengine {
namespace {

constexpr float kUnvisited = std::numeric_limits<float>::quiet_NaN();

/// The search's data about a root action; existing children come first.
struct RootAction {
  Action action = kNoAction;
  std::uint32_t visits = 0;
  float prior = 0.0F;
  double q = 0.0;
  double lcb = 0.0;           ///< lower confidence bound of q, if it chooses
  std::optional<int> proven;  ///< for the player to move at the root
  RootRank rank{};
};

/// Ranks by the lower confidence bound; moves with too few visits follow, by visits. A move that is
/// known to lose does not raise the threshold.
void rank_by_lcb(std::vector<RootAction>& all, const SearchConfig& config,
                 const RootSamples& samples) {
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  double most = 0.0;
  for (RootAction& move : all) {
    if (move.proven != -1) most = std::max(most, static_cast<double>(move.visits));
    if (move.visits == 0) continue;
    const double variance = samples.variance(static_cast<ActionId>(move.action));
    move.lcb = lower_bound(move.q, move.visits, variance, config.lcb_stdevs);
  }
  for (RootAction& move : all) {
    const bool enough = move.visits != 0 && move.visits >= config.lcb_visits * most;
    move.rank = {enough ? move.lcb : kLeast, static_cast<double>(move.visits)};
  }
}

/// By visits, then larger q; or by q, then visits.
[[nodiscard]] RootRank rank_of(const RootAction& x, MoveChoice choose) noexcept {
  const double visits = x.visits;
  const double q = x.visits != 0 ? x.q : -2.0;
  return choose == MoveChoice::mean ? RootRank{q, visits} : RootRank{visits, q};
}

std::vector<RootAction> root_actions(const Tree& tree, const SearchConfig& config,
                                     const RootPlan* plan, const RootSamples* samples) {
  const Node& root = tree.root();
  std::vector<RootAction> all;
  const int children = root.num_children.load(std::memory_order_acquire);
  for_each_child(tree.arena(), root, children, [&](const Node& child) {
    RootAction entry;
    entry.action = child.action;
    entry.visits = child.visits.load(std::memory_order_relaxed);
    entry.prior = unpack_prior(child.prior);
    // While workers are running, a sum may be ahead of its count.
    if (entry.visits != 0) entry.q = std::clamp(child.mean_for_chooser(), -1.0, 1.0);
    if (config.solver) entry.proven = proven_for(proof_of(tree, child), root.mover);
    all.push_back(entry);
  });
  for (int place = children; place < root.num_edges; ++place) {
    const Edge edge = tree.edge(root, place);
    RootAction& entry = all.emplace_back();
    entry.action = edge.action();
    entry.prior = unpack_prior(edge.prior());
  }
  const bool planned = plan != nullptr && config.choose == MoveChoice::visits;
  const std::vector<RootRank> ranks = planned ? plan->ranks(tree) : std::vector<RootRank>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].rank = planned ? ranks[i] : rank_of(all[i], config.choose);
  }
  if (samples != nullptr) rank_by_lcb(all, config, *samples);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.action < b.action; });
  return all;
}

/// By rank, then larger prior, then smaller action. Proofs come first: a win is best and a loss
/// worst, and at a proven root the moves that keep its value are best.
[[nodiscard]] bool better(const RootAction& a, const RootAction& b, bool root_proven) noexcept {
  const auto proof = [&](const RootAction& x) {
    if (!x.proven) return 0;
    return *x.proven == 0 && !root_proven ? 0 : (*x.proven == 0 ? 1 : 2 * *x.proven);
  };
  const auto key = [&](const RootAction& x) {
    return std::tuple(proof(x), x.rank, x.prior, -x.action);
  };
  return key(a) > key(b);
}

[[nodiscard]] const RootAction& best_of(const std::vector<RootAction>& all, bool root_proven) {
  return *std::min_element(all.begin(), all.end(),
                           [&](const auto& a, const auto& b) { return better(a, b, root_proven); });
}

/// Returns nullptr if no child has a visit.
[[nodiscard]] const Node* most_visited_child(const Tree& tree, const Node& node) {
  const Node* match = nullptr;
  std::uint32_t most = 0;
  for_each_child(tree.arena(), node, node.num_children.load(std::memory_order_acquire),
                 [&](const Node& child) {
                   const std::uint32_t visits = child.visits.load(std::memory_order_relaxed);
                   if (visits <= most) return;
                   most = visits;
                   match = &child;
                 });
  return match;
}

/// The move chosen at the root, which may have no visits, and the most visited moves below it.
std::vector<std::int32_t> principal_variation(const Tree& tree, Action first) {
  std::vector<std::int32_t> line = {first};
  const Node* node = child_of_action(tree, tree.root(), first);
  while (node != nullptr) {
    const Node& position = tree.position_of(*node);
    if (position.state.load(std::memory_order_acquire) != NodeState::expanded) break;
    node = most_visited_child(tree, position);
    if (node != nullptr) line.push_back(node->action);
  }
  return line;
}

/// Nodes that may be included, with their parents; take() returns the most visited one. Most nodes
/// of a tree have few visits: those are in lists by visit count, ten times cheaper than a heap.
class Candidates {
 public:
  /// For at most `most` nodes.
  explicit Candidates(std::size_t most) : most_(most) {}

  struct Candidate {
    std::uint32_t visits;
    const Node* node;
    std::int32_t parent;
    std::uint16_t place;
    bool operator<(const Candidate& other) const noexcept { return visits < other.visits; }
  };

  [[nodiscard]] bool empty() const noexcept {
    return many_.empty() &&
        std::all_of(few_.begin(), few_.end(), [](const auto& list) { return list.empty(); });
  }
  void add(const Node& node, std::int32_t parent, std::uint16_t place) {
    const std::uint32_t visits = node.visits.load(std::memory_order_relaxed);
    if (visits >= few_.size()) {
      many_.push({visits, &node, parent, place});
    } else if (auto& list = few_[visits]; list.size() < most_) {
      list.push_back({visits, &node, parent, place});
    }
  }
  Candidate take() {
    if (!many_.empty()) {
      const Candidate most = many_.top();
      many_.pop();
      return most;
    }
    const auto list = std::find_if(few_.rbegin(), few_.rend(), [](auto& l) { return !l.empty(); });
    const Candidate next = list->back();
    list->pop_back();
    return next;
  }

 private:
  std::size_t most_;
  std::priority_queue<Candidate> many_;
  std::array<std::vector<Candidate>, 8> few_;  ///< indexed by visits
};

/// The first entry of each position of a graph: a hash table, since a map would allocate memory for
/// each.
class FirstEntries {
 public:
  /// For at most `most` positions.
  explicit FirstEntries(std::size_t most) : slots_(std::bit_ceil(2 * most)) {}
  /// The entry of a position, which becomes `entry` if it has none yet.
  std::int32_t entry_of(BlockIndex position, std::int32_t entry) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = (position * kHashStep >> 32) & mask;
    while (slots_[place].position != 0 && slots_[place].position != position) {
      place = (place + 1) & mask;
    }
    if (slots_[place].position == 0) slots_[place] = {position, entry};
    return slots_[place].entry;
  }

 private:
  struct Slot {
    BlockIndex position = 0;  ///< 0 = free
    std::int32_t entry = 0;
  };
  std::vector<Slot> slots_;
};

/// Notes the moves of an expanded node beyond its `count` children.
void note_unvisited(const Tree& tree, const Node& node, int count, TreeNode& entry) {
  entry.unvisited = static_cast<std::uint16_t>(node.num_edges - count);
  if (entry.unvisited == 0 || tree.order() != 0) return;
  entry.next_prior = unpack_prior(tree.edge_prior(node, count));
  if (!node.edges_are_bits) entry.next_action = tree.edge(node, count).action();
}

void fill_columns(SearchResult& result, const std::vector<RootAction>& all, int num_actions,
                  bool with_lcb) {
  std::uint64_t total = 0;
  for (const RootAction& entry : all) {
    result.actions.push_back(entry.action);
    result.visits.push_back(entry.visits);
    result.priors.push_back(entry.prior);
    result.q.push_back(entry.visits != 0 ? static_cast<float>(entry.q) : kUnvisited);
    if (with_lcb) {
      result.lcb.push_back(entry.visits != 0 ? static_cast<float>(entry.lcb) : kUnvisited);
    }
    result.proofs.push_back(static_cast<std::int8_t>(entry.proven.value_or(TreeNode::kNotProven)));
    total += entry.visits;
  }
  result.policy.assign(static_cast<std::size_t>(num_actions), 0.0F);
  for (const RootAction& entry : all) {
    if (total == 0) break;
    result.policy[static_cast<std::size_t>(entry.action)] =
        static_cast<float>(static_cast<double>(entry.visits) / static_cast<double>(total));
  }
}

void fill_improved_policy(SearchResult& result, const SearchConfig& config, int num_actions) {
  const auto improved =
      gumbel::improved_policy(result.priors, result.visits, result.q, result.network_value,
                              config.gumbel_c_visit, config.gumbel_c_scale);
  result.improved_policy.assign(static_cast<std::size_t>(num_actions), 0.0F);
  for (std::size_t i = 0; i < improved.size(); ++i) {
    result.improved_policy[static_cast<std::size_t>(result.actions[i])] =
        static_cast<float>(improved[i]);
  }
}

/// Moves that are not known to lose or to be worse than the proven value of the position; all moves
/// if there are none.
[[nodiscard]] std::vector<bool> good_moves(const SearchResult& result) {
  const int least = result.proven.value_or(0);  // a known loss is worse than an unknown value
  std::vector<bool> good(result.proofs.size());
  std::transform(result.proofs.begin(), result.proofs.end(), good.begin(), [&](std::int8_t proof) {
    return proof == TreeNode::kNotProven || proof >= least;
  });
  if (std::find(good.begin(), good.end(), true) == good.end()) good.assign(good.size(), true);
  return good;
}

}  // namespace

std::string_view to_string(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::simulations:
      return "simulations";
    case StopReason::seconds:
      return "seconds";
    case StopReason::proven:
      return "proven";
    case StopReason::stopped:
      return "stopped";
    case StopReason::visits:
      return "visits";
    case StopReason::decided:
      return "decided";
  }
  return "stopped";
}

std::vector<double> at_temperature(const std::vector<double>& weights, double temperature) {
  const double most = weights.empty() ? 0.0 : *std::max_element(weights.begin(), weights.end());
  std::vector<double> chances(weights.size(), 0.0);
  double total = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double share = most == 0.0 ? 1.0 : weights[i] / most;
    // Below this the power underflows to the limit anyway.
    chances[i] =
        temperature < 1e-3 ? (share == 1.0 ? 1.0 : 0.0) : std::pow(share, 1.0 / temperature);
    total += chances[i];
  }
  for (double& chance : chances) chance /= total;
  return chances;
}

std::size_t draw(const std::vector<double>& probabilities, double uniform) noexcept {
  std::size_t last = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] <= 0.0) continue;
    last = i;
    uniform -= probabilities[i];
    if (uniform < 0.0) break;
  }
  return last;
}

std::vector<std::uint32_t> visits_of_good_moves(const SearchResult& result) {
  const std::vector<bool> good = good_moves(result);
  std::vector<std::uint32_t> visits = result.visits;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    if (!good[i]) visits[i] = 0;
  }
  return visits;
}

std::vector<double> choice_weights(const SearchResult& result) {
  const std::vector<std::uint32_t> visits = visits_of_good_moves(result);
  if (std::any_of(visits.begin(), visits.end(), [](auto count) { return count != 0; })) {
    return {visits.begin(), visits.end()};
  }
  const std::vector<bool> good = good_moves(result);
  std::vector<double> weights(result.priors.begin(), result.priors.end());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!good[i]) weights[i] = 0.0;
  }
  return weights;
}

std::vector<double> improved_policy_of_good_moves(const SearchResult& result) {
  const std::vector<bool> good = good_moves(result);
  std::vector<double> weights(good.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (good[i]) weights[i] = result.improved_policy[static_cast<std::size_t>(result.actions[i])];
  }
  const bool any = std::any_of(weights.begin(), weights.end(), [](double w) { return w > 0.0; });
  return any ? weights : choice_weights(result);
}

std::vector<TreeNode> most_visited(const Tree& tree, bool solver, std::size_t most) {
  Candidates candidates(most);
  candidates.add(tree.root(), -1, 0);
  std::vector<TreeNode> entries;
  FirstEntries first(tree.is_graph() ? most : 0);
  while (!candidates.empty() && entries.size() < most) {
    const auto next = candidates.take();
    const Node& node = *next.node;
    const auto index = static_cast<std::int32_t>(entries.size());
    TreeNode entry;
    entry.parent = next.parent;
    if (next.parent >= 0) {
      entry.action = node.action;
      entry.place = next.place;
      entry.prior = unpack_prior(node.prior);
    }
    entry.visits = next.visits;
    entry.sum = value_sum_of(node);
    const NodeState state = node.state.load(std::memory_order_acquire);
    const bool is_edge = state == NodeState::linked;
    const Node& position = is_edge ? tree.position_of(node) : node;
    const Proof proof = is_edge ? proof_of(tree, node) : node.proof.load(std::memory_order_relaxed);
    const auto proven = solver ? proven_for(proof, node.chooser) : std::nullopt;
    if (proven) entry.proven = static_cast<std::int8_t>(*proven);
    if (is_edge) {
      const std::int32_t listed = first.entry_of(node.children, index);
      if (listed != index) entry.same = listed;
    }
    entry.to_move = -1;
    const NodeState below = is_edge ? position.state.load(std::memory_order_acquire) : state;
    if (below == NodeState::expanded) {
      entry.to_move = static_cast<std::int8_t>(position.mover);
      if (entry.same < 0) {
        const int count = position.num_children.load(std::memory_order_acquire);
        std::uint16_t place = 0;
        for_each_child(tree.arena(), position, count,
                       [&](const Node& child) { candidates.add(child, index, place++); });
        note_unvisited(tree, position, count, entry);
      }
    }
    entries.push_back(entry);
  }
  return entries;
}

SearchResult read_tree(const Tree& tree, int num_actions, const SearchConfig& config, Rng rng,
                       std::size_t nodes, const RootPlan* plan, const RootSamples* samples) {
  const Node& root = tree.root();
  SearchResult result;
  result.nodes = tree.nodes();
  if (root.state.load(std::memory_order_acquire) != NodeState::expanded) return result;
  const std::vector<RootAction> all = root_actions(tree, config, plan, samples);
  fill_columns(result, all, num_actions, samples != nullptr);
  result.network_value = root.value;
  result.root = numbers_of(tree, root, config);
  if (config.solver)
    result.proven = proven_for(root.proof.load(std::memory_order_relaxed), root.mover);
  result.value = std::clamp(root.mean_for_mover(), -1.0, 1.0);
  if (result.proven) result.value = *result.proven == 0 ? config.draw_value : *result.proven;
  const RootAction& best = best_of(all, result.proven.has_value());
  result.action = best.action;
  fill_improved_policy(result, config, num_actions);
  if (config.temperature > 0.0 && !(best.proven && *best.proven == 1)) {
    // Halving visits moves to compare them, so the counts are not a policy.
    const auto weights =
        plan != nullptr ? improved_policy_of_good_moves(result) : choice_weights(result);
    result.action = all[draw(at_temperature(weights, config.temperature), rng.uniform())].action;
  }
  result.pv = principal_variation(tree, result.action);
  result.tree = most_visited(tree, config.solver, nodes);
  return result;
}

}  // namespace pyengine
