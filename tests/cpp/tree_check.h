/// Checks the invariants of a whole tree after a search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "search/tree/tree.h"

namespace pyengine::search_test {

/// The result of a tree check.
struct TreeCount {
  std::uint64_t nodes = 0;  ///< as Tree::nodes() counts them
  std::uint64_t expanded = 0;
  std::uint64_t wrong = 0;  ///< nodes that violate an invariant
  std::string first_wrong;  ///< which one, and how
};

/// Checks the invariants of every node while nobody searches. `exact`: N = 1 + sum of N(child) for
/// expanded nodes; this does not hold at the memory limit, where a node may be evaluated, or count
/// its own evaluation, again.
class TreeCheck {
 public:
  TreeCheck(const Tree& tree, bool exact) : tree_(tree), exact_(exact) {}

  TreeCount run() {
    visit(tree_.root(), nullptr);
    for (const auto& [node, links] : links_) {
      const auto& position = *reinterpret_cast<const Position*>(
          reinterpret_cast<const std::byte*>(node) - offsetof(Position, node));
      expect(position.references >= links, *node, "too few references");
    }
    return count_;
  }

 private:
  void expect(bool holds, const Node& node, const std::string& rule) {
    if (holds) return;
    if (count_.wrong++ == 0) {
      count_.first_wrong = rule + ": visits " + std::to_string(node.visits.load()) + ", action " +
          std::to_string(node.action) + ", state " +
          std::to_string(static_cast<int>(node.state.load()));
    }
  }
  void visit(const Node& node, const Node* parent) {
    const Node& position = tree_.position_of(node);
    if (&position == &node) return visit_position(node, parent);
    expect(node.in_flight.load() == 0, node, "a mark is left on an edge node");
    expect(!node.locked.load(), node, "the lock of an edge node is held");
    const Proof proof = node.proof.load();
    const NodeState state = position.state.load();
    if (state == NodeState::terminal) {
      check_terminal_sum(node, position.value);
    } else {
      expect(proof == Proof::none || proof == position.proof.load(), node,
             "not the position's proof");
    }
    expect(node.chooser == parent->mover, node, "another player moved here");
    if (++links_[&position] == 1) visit_position(position, nullptr);
  }
  void check_terminal_sum(const Node& node, float value) {
    const double mean = static_cast<double>(node.value_sum.load()) * kValueUnit;
    const double for_chooser = node.chooser == 0 ? value : -value;
    expect(mean == for_chooser * static_cast<double>(node.visits.load()), node,
           "W of a terminal node");
  }
  void visit_position(const Node& node, const Node* parent) {
    ++count_.nodes;
    const std::uint64_t visits = node.visits.load();
    const NodeState state = node.state.load();
    expect(node.in_flight.load() == 0, node, "a mark is left");
    expect(state != NodeState::claimed, node, "a node is claimed");
    expect(!node.locked.load(), node, "a lock is held");
    const double sum = std::abs(static_cast<double>(node.value_sum.load())) * kValueUnit;
    // A mean that a graph corrects is rounded.
    const double rounding = tree_.is_graph() ? kValueUnit * static_cast<double>(visits) : 0.0;
    expect(sum <= static_cast<double>(visits) + rounding, node, "|W| > N");
    if (parent != nullptr) expect(node.chooser == parent->mover, node, "another player moved here");
    if (state == NodeState::terminal) {
      check_terminal_sum(node, node.value);
    }
    if (state != NodeState::expanded) {
      expect(node.num_children.load() == 0, node, "children without edges");
      return;
    }
    ++count_.expanded;
    check_children(node, visits);
  }
  void check_children(const Node& node, std::uint64_t visits) {
    const auto edges = tree_.edges(node);
    const int children = node.num_children.load();
    expect(children <= node.num_edges, node, "more children than edges");
    std::uint64_t below = 0;
    int place = 0;
    for_each_child(tree_.arena(), node, children, [&](const Node& child) {
      const Edge edge = edges[static_cast<std::size_t>(place++)];
      expect(edge.action() == child.action && edge.prior() == child.prior, child,
             "a child is not that of its edge");
      below += child.visits.load();
      visit(child, &node);
    });
    const bool proven = node.proof.load() != Proof::none;
    // A node with a proof is visited as a whole; its children are not visited again.
    if (exact_ && !proven) expect(visits == 1 + below, node, "N != 1 + sum of N(child)");
    expect(visits >= 1 + below, node, "N < 1 + sum of N(child)");
    if (proven) check_proof(node, children);
  }
  void check_proof(const Node& node, int children) {
    const int sign = node.mover == 0 ? 1 : -1;
    bool all = children == node.num_edges;
    int best = -2;
    for_each_child(tree_.arena(), node, children, [&](const Node& child) {
      const Proof proof = child.proof.load();
      if (proof == Proof::none) {
        all = false;
      } else {
        best = std::max(best, sign * static_cast<int>(proof));
      }
    });
    expect(best == 1 || all, node, "a proof without a reason");
    expect(best == sign * static_cast<int>(node.proof.load()), node, "a wrong proof");
  }

  const Tree& tree_;
  bool exact_;
  TreeCount count_;
  std::unordered_map<const Node*, std::uint32_t> links_;  ///< edge nodes that lead to a position
};

inline TreeCount check_tree(const Tree& tree, bool exact = true) {
  return TreeCheck(tree, exact).run();
}

}  // namespace pyengine::search_test
