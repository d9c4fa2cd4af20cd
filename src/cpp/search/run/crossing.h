/// The step of a walk in a graph from an edge node to its position.
#pragma once

#include <optional>

#include "search/rules/rule.h"
#include "search/run/position_keys.h"
#include "search/run/walk_end.h"
#include "search/tree/path.h"
#include "search/tree/tree.h"

namespace pyengine {

/// Crosses from the edge nodes of one walk to their positions. Where a function returns no end, the
/// walk continues from the last node of the path, which is expanded.
template <Game G>
class Crossing {
 public:
  Crossing(Tree& tree, const RootSearch& search, Allocator& allocator, Descent<G>& descent,
           PositionKeys<G>& keys, Path& path) noexcept
      : tree_(tree),
        search_(search),
        allocator_(allocator),
        descent_(descent),
        keys_(keys),
        path_(path) {}

  /// Enters the last node of the path: an edge node that this walk has created and claimed.
  std::optional<Walk> enter_new() {
    Node& edge = *path_.back();
    if (is_forbidden(edge)) {
      Walk walk = end_at_forbidden(edge);
      edge.state.store(NodeState::unseen, std::memory_order_release);
      walk.created = 1;
      return walk;
    }
    try {
      std::optional<Walk> walk = reach(edge, NodeState::unseen, false, [&] { pass(edge); });
      if (walk) walk->created = created_;
      return walk;
    } catch (...) {
      tree_.add_nodes(created_);
      throw;
    }
  }

  /// Enters the last node of the path: an existing edge node.
  std::optional<Walk> enter() {
    Node& edge = *path_.back();
    NodeState state = edge.state.load(std::memory_order_acquire);
    if (state == NodeState::linked) prefetch(tree_.position_of(edge));
    if (is_forbidden(edge)) return end_at_forbidden(edge);
    pass(edge);
    if (state == NodeState::linked) return arrive(edge);
    if (state == NodeState::expanded) return end_if_proven(edge);
    if (state == NodeState::terminal || state == NodeState::claimed) {
      return end_at_unexpanded(descent_, edge, state);
    }
    const NodeState before = state;
    if (!edge.state.compare_exchange_strong(state, NodeState::claimed, std::memory_order_acquire)) {
      return Walk{};
    }
    return reach(edge, before, true, [] {});
  }

 private:
  /// The move is played while the position's node, in up to two cache lines, is on its way.
  static void prefetch(const Node& position) noexcept {
    __builtin_prefetch(&position);
    __builtin_prefetch(&position + 1);
  }

  void pass(const Node& edge) {
    descent_.pass(edge);
    ++plies_;
  }

  /// Finds the position of a claimed edge node, whose state was `before`; `is_counted`: as a node
  /// of the tree. `pass` completes the descent to it.
  template <class Pass>
  std::optional<Walk> reach(Node& edge, NodeState before, bool is_counted, const Pass& pass) {
    created_ = 1;
    std::optional<PositionKey> key;
    std::optional<Outcome> outcome;
    try {
      pass();
      descent_.reach();
      const G& position = descent_.position().value;
      outcome = position.outcome();
      key = keys_.of(position);
      if (const int boards = tree_.graph_history(); key && boards != 0) {
        key = with_earlier_boards(*key, position, boards);
      }
      path_.push_back(nullptr);  // room for the position
      path_.pop_back();
    } catch (...) {
      edge.state.store(before, std::memory_order_release);
      throw;
    }
    const std::optional<bool> is_new =
        key ? tree_.link(allocator_, edge, *key, plies_) : std::nullopt;
    if (!is_new.value_or(true)) {
      created_ = 0;
      if (is_counted) tree_.remove_node();  // as a position of its own
      return arrive(edge);
    }
    Node& position = tree_.position_of(edge);
    if (!outcome) {
      if (is_new) path_.push_back(&position);
      return Walk{WalkEnd::leaf};
    }
    position.value = outcome->first;
    position.state.store(NodeState::terminal, std::memory_order_release);
    return end_of_edge(edge, outcome->first);
  }

  /// Continues from a linked edge node to its position.
  std::optional<Walk> arrive(Node& edge) {
    Node& position = tree_.position_of(edge);
    const NodeState state = position.state.load(std::memory_order_acquire);
    if (state == NodeState::terminal) return end_of_edge(edge, position.value);
    if (state == NodeState::expanded && search_.config.solver && tree_.shares_proofs()) {
      const Proof proof = position.proof.load(std::memory_order_relaxed);
      if (proof != Proof::none) return end_of_edge(edge, static_cast<float>(proof));
    }
    path_.push_back(&position);
    if (state != NodeState::expanded) return end_at_unexpanded(descent_, position, state);
    const bool knows_less = edge.visits.load(std::memory_order_relaxed) <
        position.visits.load(std::memory_order_relaxed);
    if (knows_less) return Walk{WalkEnd::transposition};
    return std::nullopt;
  }

  std::optional<Walk> end_if_proven(const Node& node) const noexcept {
    const Proof proof = node.proof.load(std::memory_order_relaxed);
    if (search_.config.solver && proof != Proof::none) return end_of_proven(proof);
    return std::nullopt;
  }

  /// Ends at an edge node to a known position, which does not count the visit.
  static Walk end_of_edge(const Node& edge, float value) noexcept {
    return end_of_game(value, edge.proof.load(std::memory_order_relaxed) == Proof::none);
  }

  [[nodiscard]] bool is_forbidden(const Node& edge) const noexcept {
    if constexpr (ForgetsHistory<G>) {
      return descent_.position().value.repeats_forgotten(edge.action);
    }
    return false;
  }

  /// A move that this path forbids counts with the value that it has on other paths, or else with
  /// that of the node before it.
  Walk end_at_forbidden(const Node& edge) const noexcept {
    const bool is_known = edge.visits.load(std::memory_order_relaxed) != 0;
    const double for_chooser =
        is_known ? edge.mean_for_chooser() : path_[path_.size() - 2]->mean_for_mover();
    return end_of_known(static_cast<float>(edge.chooser == 0 ? for_chooser : -for_chooser));
  }

  Tree& tree_;
  const RootSearch& search_;
  Allocator& allocator_;
  Descent<G>& descent_;
  PositionKeys<G>& keys_;
  Path& path_;
  std::uint32_t plies_ = 0;    ///< moves from the start of the walk
  std::uint32_t created_ = 0;  ///< positions, by the last reach()
};

}  // namespace pyengine
