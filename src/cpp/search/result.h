/// The result of a search: plain values that outlive the tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "search/config.h"
#include "search/node_numbers.h"
#include "search/rules/root_plan.h"
#include "search/run/root_samples.h"
#include "search/tree/tree.h"

namespace pyengine {

enum class StopReason : std::uint8_t {
  simulations,
  seconds,
  proven,
  stopped,
  visits,   ///< the root's visit counter is full
  decided,  ///< see SearchConfig::stop_when_decided
};
[[nodiscard]] std::string_view to_string(StopReason reason) noexcept;

/// A node of the part of the tree that a result contains. Values are for the player who moved
/// there, as Q is; parents precede their children. Plain memory: Python reads it as a NumPy record.
struct TreeNode {
  double sum = 0.0;          ///< W: sum of the values of its visits
  std::int32_t parent = -1;  ///< index into SearchResult::tree; -1 for the root
  std::int32_t same = -1;    ///< in a graph: index of an earlier node that is the same position and
                             ///< has its children; else -1
  std::uint32_t visits = 0;
  float prior = 0.0F;
  float next_prior = kNoPrior;  ///< of next_action; kNoPrior without one
  ActionId action = 0xFFFF;     ///< the action that leads here; unused at the root
  std::uint16_t place = 0;      ///< among the children of its parent, in the order of creation
  /// The unvisited move that PUCT compares with the visited ones; kNoNext stands for the smallest
  /// one, because all priors of the node are equal.
  ActionId next_action = kNoNext;
  std::uint16_t unvisited = 0;      ///< moves without a node
  std::int8_t to_move = 0;          ///< player to move; -1 if terminal or unknown
  std::int8_t proven = kNotProven;  ///< -1, 0, 1 for the player who moved there

  static constexpr std::int8_t kNotProven = 2;
  static constexpr float kNoPrior = -1.0F;
  static constexpr ActionId kNoNext = 0xFFFF;
};
static_assert(sizeof(TreeNode) == 40);

struct SearchResult {
  Action action = kNoAction;
  double value = 0.0;                  ///< for the player to move at the root, in [-1, 1]
  float network_value = 0.0F;          ///< the evaluation of the root, for the same player
  std::optional<int> proven;           ///< for the same player
  std::vector<std::int32_t> actions;   ///< legal, ascending
  std::vector<std::uint32_t> visits;   ///< in the order of `actions`, like the next four
  std::vector<float> priors;           ///< as searched, including noise
  std::vector<float> q;                ///< for the player to move; NaN if unvisited
  std::vector<float> lcb;              ///< lower confidence bounds of q; empty unless they choose
  std::vector<std::int8_t> proofs;     ///< for the player to move, or TreeNode::kNotProven
  std::vector<float> policy;           ///< [num_actions], visits normalised
  std::vector<float> improved_policy;  ///< [num_actions], see rules/gumbel.h
  std::vector<std::int32_t> pv;        ///< principal variation
  std::uint64_t reused = 0;            ///< visits of the reused tree, included in `visits`
  std::uint64_t simulations = 0;       ///< made in this call
  std::uint64_t evaluations = 0;       ///< rows evaluated in this call
  std::uint64_t nodes = 0;
  double seconds = 0.0;
  StopReason stop_reason = StopReason::simulations;
  NodeNumbers root;            ///< with which the rule chooses at the root
  std::vector<TreeNode> tree;  ///< the most visited part, at most kTreeNodes nodes
};

inline constexpr std::size_t kTreeNodes = 4096;

/// Visits, without those of moves that are known to lose or to be worse than the proven value of
/// the position: they may have had many before that was known. Unchanged if no other move is left.
[[nodiscard]] std::vector<std::uint32_t> visits_of_good_moves(const SearchResult& result);

/// Weights for drawing a move at a temperature: visits_of_good_moves(), or the priors of those
/// moves if none of them has a visit.
[[nodiscard]] std::vector<double> choice_weights(const SearchResult& result);

/// The improved policy of the moves that visits_of_good_moves() keeps, 0 for others, in the order
/// of `actions`; the sum may be below 1. Falls back to choice_weights() if all are 0.
[[nodiscard]] std::vector<double> improved_policy_of_good_moves(const SearchResult& result);

/// Reads a tree while workers may change it. `nodes`: maximum size of SearchResult::tree. `plan`:
/// the search's root plan, if any; it chooses the move. `samples`: needed if choose is lcb.
SearchResult read_tree(const Tree& tree, int num_actions, const SearchConfig& config, Rng rng,
                       std::size_t nodes, const RootPlan* plan = nullptr,
                       const RootSamples* samples = nullptr);

/// The most visited nodes, at most `most` of them. They form a tree: in one, no node has more
/// visits than its parent; in a graph, the nodes below a position follow the first of its parents.
[[nodiscard]] std::vector<TreeNode> most_visited(const Tree& tree, bool solver, std::size_t most);

/// weights^(1 / temperature), normalised. At 0 the largest weights share the total equally. Uniform
/// if all weights are 0.
std::vector<double> at_temperature(const std::vector<double>& weights, double temperature);

/// Draws an index by probabilities that sum to about 1; `uniform` is in [0, 1). Never draws an
/// index of probability 0 unless all are 0.
[[nodiscard]] std::size_t draw(const std::vector<double>& probabilities, double uniform) noexcept;

}  // namespace pyengine
