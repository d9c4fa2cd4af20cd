#include "search/node_numbers.h"

#include "search/rules/puct.h"

namespace pyengine {
namespace {

constexpr int kNotProven = 2;  ///< as TreeNode::kNotProven

}  // namespace

const Node* child_of_action(const Tree& tree, const Node& node, Action action) {
  const Node* match = nullptr;
  for_each_child(tree.arena(), node, node.num_children.load(std::memory_order_acquire),
                 [&](const Node& child) { match = child.action == action ? &child : match; });
  return match;
}

NodeNumbers numbers_of(const Tree& tree, const Node& node, const SearchConfig& config) {
  NodeNumbers numbers;
  numbers.sum = node.chooser == node.mover ? value_sum_of(node) : -value_sum_of(node);
  numbers.stdev_factor = puct::stdev_factor(config, tree, node);
  numbers.visits = node.visits.load(std::memory_order_relaxed);
  numbers.value = node.value;
  numbers.moves.reserve(node.num_edges);
  const int count = node.num_children.load(std::memory_order_acquire);
  for_each_child(tree.arena(), node, count, [&](const Node& child) {
    const auto proven =
        config.solver ? proven_for(proof_of(tree, child), node.mover) : std::nullopt;
    numbers.moves.push_back({value_sum_of(child), child.action,
                             child.visits.load(std::memory_order_relaxed),
                             unpack_prior(child.prior), proven.value_or(kNotProven)});
  });
  for (int place = count; place < node.num_edges; ++place) {
    const Edge edge = tree.edge(node, place);
    numbers.moves.push_back({0.0, edge.action(), 0, unpack_prior(edge.prior()), kNotProven});
  }
  return numbers;
}

}  // namespace pyengine
