#include "search/rules/puct_allotter.h"

#include <algorithm>
#include <limits>

namespace pyengine {

void PuctAllotter::read(const Tree& tree, const Node& node, const SearchConfig& config,
                        const puct::Parent& parent, bool may_create) {
  tree_ = &tree;
  node_ = &node;
  parent_ = parent;
  solver_ = config.solver;
  nodes_.clear();
  numbers_.clear();
  scores_.clear();
  const int count = node.num_children.load(std::memory_order_acquire);
  edges_ = may_create ? node.num_edges : count;
  double visited_prior = 0.0;
  for_each_child(tree.arena(), node, count, [&](Node& child) {
    nodes_.push_back(&child);
    numbers_.push_back(puct::read_child(child, parent));
    if (numbers_.back().visited) visited_prior += numbers_.back().prior;
  });
  first_play_ = puct::first_play_value(config, node.mean_for_mover(), visited_prior);
  for (const puct::Child& child : numbers_) {
    scores_.push_back(puct::score_of(child, parent_, first_play_));
  }
  visits_.assign(nodes_.size(), 0);
  add_next_edge();
}

void PuctAllotter::add_next_edge() {
  const auto place = static_cast<int>(nodes_.size());
  if (place >= edges_) return;
  nodes_.push_back(nullptr);
  numbers_.push_back({0.0, 0.0, unpack_prior(tree_->edge_prior(*node_, place)), 0.0, false});
  scores_.push_back(puct::score_of(numbers_.back(), parent_, first_play_));
  visits_.push_back(0);
}

std::size_t PuctAllotter::best_move() const noexcept {
  return static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) -
                                  scores_.begin());
}

void PuctAllotter::add_visit(std::size_t move) {
  numbers_[move] = puct::with_leaf_in_flight(numbers_[move], parent_);
  scores_[move] = puct::score_of(numbers_[move], parent_, first_play_);
  ++visits_[move];
  if (nodes_[move] == nullptr && move + 1 == nodes_.size()) add_next_edge();
}

bool PuctAllotter::allot(std::uint32_t visits, std::vector<Allotment>& given) {
  if (nodes_.empty()) return false;
  const auto ends_at = [&](std::size_t move) {
    if (scores_[move] == -std::numeric_limits<double>::infinity()) return true;
    return solver_ && nodes_[move] != nullptr &&
        nodes_[move]->proof.load(std::memory_order_relaxed) == Proof::draw;
  };
  std::uint32_t done = 0;
  for (; done < visits; ++done) {
    const std::size_t best = best_move();
    if (ends_at(best)) break;
    add_visit(best);
  }
  for (std::size_t move = 0; move < nodes_.size(); ++move) {
    if (visits_[move] == 0) continue;
    Node* const child = nodes_[move];
    given.push_back({child != nullptr ? Selection::of(child) : Selection::create(), visits_[move]});
  }
  return done != 0;
}

}  // namespace pyengine
