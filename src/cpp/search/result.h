/// What a search found: plain values that outlive the tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "search/config.h"
#include "search/rules/root_plan.h"
#include "search/tree/tree.h"

namespace pyengine {

enum class StopReason : std::uint8_t {
  simulations,
  seconds,
  proven,
  stopped,
  visits,  ///< the root has as many as can be counted
};
[[nodiscard]] std::string_view to_string(StopReason reason) noexcept;

/// A node of the part of the tree that a result keeps. Values are for the player who moved there,
/// as Q is; parents come before their children. Plain memory: Python reads it as a NumPy record.
struct TreeNode {
  std::int32_t parent = -1;  ///< index into SearchResult::tree; -1 of the root
  std::int32_t action = kNoAction;
  std::uint32_t visits = 0;
  float prior = 0.0F;
  float q = 0.0F;                   ///< NaN without visits
  std::int8_t to_move = 0;          ///< player to move; -1 where the game is over or unknown
  std::int8_t proven = kNotProven;  ///< -1, 0, 1 for the player who moved there
  std::int16_t unused = 0;

  static constexpr std::int8_t kNotProven = 2;
};
static_assert(sizeof(TreeNode) == 24);

struct SearchResult {
  Action action = kNoAction;
  double value = 0.0;                  ///< for the player to move at the root, in [-1, 1]
  float network_value = 0.0F;          ///< the root's own evaluation, likewise
  std::optional<int> proven;           ///< likewise
  std::vector<std::int32_t> actions;   ///< legal, ascending
  std::vector<std::uint32_t> visits;   ///< in the order of `actions`, as all below
  std::vector<float> priors;           ///< as searched, noise included
  std::vector<float> q;                ///< for the player to move; NaN where unvisited
  std::vector<std::int8_t> proofs;     ///< of moves, for the player to move; TreeNode::kNotProven
  std::vector<float> policy;           ///< [num_actions], visits normalised
  std::vector<float> improved_policy;  ///< [num_actions], see rules/gumbel.h
  std::vector<std::int32_t> pv;        ///< principal variation
  std::uint64_t reused = 0;            ///< of `visits`: those of the tree that was continued
  std::uint64_t simulations = 0;       ///< of this call
  std::uint64_t evaluations = 0;       ///< rows evaluated in this call
  std::uint64_t nodes = 0;
  double seconds = 0.0;
  StopReason stop_reason = StopReason::simulations;
  std::vector<TreeNode> tree;  ///< the most visited part, at most kTreeNodes nodes
};

inline constexpr std::size_t kTreeNodes = 4096;

/// Visits without those of moves that are known to lose, or to give away what the position is
/// known to be worth: before that was known they may have had many. As they are where there is no
/// other move.
[[nodiscard]] std::vector<std::uint32_t> visits_of_good_moves(const SearchResult& result);

/// What a move is drawn by at a temperature: visits_of_good_moves(), or the priors of those moves
/// where none of them has a visit.
[[nodiscard]] std::vector<double> choice_weights(const SearchResult& result);

/// The improved policy of the moves that visits_of_good_moves() keeps, 0 of others, in the order of
/// `actions`; its sum may be below 1. Where it is 0 for all of them: choice_weights().
[[nodiscard]] std::vector<double> improved_policy_of_good_moves(const SearchResult& result);

/// Reads a tree, which workers may be changing. `nodes`: the most of SearchResult::tree. `plan`: of
/// the search, where its rule has one; it chooses the move.
SearchResult read_tree(const Tree& tree, int num_actions, const SearchConfig& config, Rng rng,
                       std::size_t nodes, const RootPlan* plan = nullptr);

/// weights^(1 / temperature), normalised; at 0 all on the largest (shared among equals). Equal
/// where all weights are 0.
std::vector<double> at_temperature(const std::vector<double>& weights, double temperature);

/// Draws a place by probabilities that sum to about 1; `uniform` in [0, 1). Never one of
/// probability 0, unless all are.
[[nodiscard]] std::size_t draw(const std::vector<double>& probabilities, double uniform) noexcept;

}  // namespace pyengine
