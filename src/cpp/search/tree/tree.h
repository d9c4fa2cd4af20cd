/// The tree of one search: nodes in an arena under a root that the tree holds itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.h"
#include "eval/evaluator.h"
#include "search/tree/edges.h"
#include "search/tree/node.h"
#include "search/tree/sharing.h"

namespace pyengine {

/// It has cache lines of its own, because every simulation writes to its root.
class alignas(kCacheLine) Tree {
 public:
  explicit Tree(std::shared_ptr<ChunkPool> pool);
  /// A tree in an arena that others share; the memory returns with the last of them.
  explicit Tree(std::shared_ptr<Arena> arena);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  [[nodiscard]] Node& root() noexcept { return root_; }
  [[nodiscard]] const Node& root() const noexcept { return root_; }
  [[nodiscard]] const Arena& arena() const noexcept { return *arena_; }
  [[nodiscard]] const std::shared_ptr<Arena>& shared_arena() const noexcept { return arena_; }
  /// Makes the moves of each node stand in a random order that `key` names, for rules without
  /// priors. Only while the tree is empty; 0, the default: larger priors first.
  void order_by(std::uint64_t key) noexcept { order_ = key; }
  [[nodiscard]] std::uint64_t order() const noexcept { return order_; }
  /// Whether nodes keep the sum of their priors, for rules that ask for prior_sum(). Only while the
  /// tree is empty.
  void keep_prior_sums(bool keep) noexcept { keeps_prior_sums_ = keep; }
  /// The edge at `place` < num_edges of an expanded node.
  [[nodiscard]] Edge edge(const Node& node, int place) const noexcept {
    if (&node == &root_) return root_edges_[static_cast<std::size_t>(place)];
    return stored_edge(*arena_, node, order_ == 0 ? place : place_of(node, place));
  }
  /// The prior of edge(), without looking for its action. In a tree without a random order.
  [[nodiscard]] PackedPrior edge_prior(const Node& node, int place) const noexcept {
    if (&node == &root_) return root_edges_[static_cast<std::size_t>(place)].prior();
    return stored_prior(*arena_, node, place);
  }
  /// All edges, in the search's order.
  [[nodiscard]] std::vector<Edge> edges(const Node& node) const;
  /// Nodes created, with the root. After an advance() to a node of many visits the number of visits
  /// stands for the number of nodes below it, which is not larger, until the background has
  /// counted.
  [[nodiscard]] std::uint64_t nodes() const noexcept {
    return nodes_->load(std::memory_order_relaxed);
  }
  /// A worker adds the nodes of a turn at once.
  void add_nodes(std::uint64_t created) noexcept {
    nodes_->fetch_add(created, std::memory_order_relaxed);
  }

  /// Writes edges, mover and value of a claimed node, which no other worker reads before publish().
  /// False at the memory cap; the root always fits.
  bool store_evaluation(Allocator& allocator, Node& node, const EvalLeaf& leaf);
  /// Makes the node expanded, or fresh when its evaluation could not be stored: its next visit
  /// evaluates it again.
  static void publish(Node& node, bool stored) noexcept {
    node.state.store(stored ? NodeState::expanded : NodeState::fresh, std::memory_order_release);
  }
  /// Both functions above; returns whether the evaluation was stored.
  bool expand(Allocator& allocator, Node& node, const EvalLeaf& leaf) {
    const bool stored = store_evaluation(allocator, node, leaf);
    publish(node, stored);
    return stored;
  }
  /// Creates the child of the next edge; the caller has claimed it. nullptr when another worker is
  /// creating one, and when memory is at its cap, which sets `full`.
  template <Sharing S = Sharing::shared>
  Node* create_child(Allocator& allocator, Node& parent, bool& full) noexcept;

  /// Gives the root other priors (per edge of the root, in their order) for a search. Children keep
  /// their places; edges without a child are sorted again. Only while no worker walks.
  /// clear_root_noise() restores the priors.
  void change_root_priors(std::span<const double> priors);
  void clear_root_noise();
  /// The root's edges with the priors of the evaluator, whatever a search has changed.
  [[nodiscard]] const std::vector<Edge>& evaluated_root_edges() const noexcept {
    return clean_.empty() ? root_edges_ : clean_;
  }
  /// Sorts the root's edges without a child by `keys` (per edge of the root, in their order), the
  /// largest first; priors stay. clear_root_noise() restores the order.
  void order_root_edges(std::span<const double> keys);
  /// Whether the root's children are in the order of their priors. Noise changes the order, and it
  /// stays changed for children that were created under noise.
  [[nodiscard]] bool root_is_sorted() const noexcept { return root_sorted_; }

  /// Nobody moved to the root: its statistics are for the opponent of the player to move there,
  /// also where advance() has kept those of a player who moves twice in a row.
  void set_root_mover(int mover) noexcept;
  /// The root's evaluation was cut short: it serves a result, and no later search.
  void set_provisional() noexcept { provisional_ = true; }
  [[nodiscard]] bool provisional() const noexcept { return provisional_; }

  /// Makes the child of `action` the root and drops the rest; without such a child changes nothing
  /// and returns false. Never blocks: the background frees the rest.
  bool advance(ActionId action);
  /// Drops everything in the same way; the tree keeps its arena.
  void clear();
  /// The tree will not be read again: the background may stop freeing its nodes.
  void abandon() noexcept { arena_->abandoned.store(true, std::memory_order_relaxed); }

 private:
  /// Where the edge that comes at `place` of the random order is stored.
  [[nodiscard]] int place_of(const Node& node, int place) const noexcept;
  void order_root();
  /// Memory for the child at `place`, in a new block where one begins; nullptr at the cap.
  Node* make_place(Allocator& allocator, Node& parent, int place) noexcept;
  void set_root_priors(std::span<const Edge> priors);
  /// Hands the root's content to the background, which frees all of it but `kept`; `nodes` are left
  /// then, at most, or exactly so many where `counted`. When it throws, nothing has changed.
  void sweep_root(const Node* kept, std::uint64_t nodes, bool counted);

  std::shared_ptr<Arena> arena_;
  std::shared_ptr<std::atomic<std::uint64_t>> nodes_;  ///< shared with the background
  Node root_;
  /// Noise may change the root's edges, and they fit at any cap. Written before the root's state
  /// becomes expanded (release), and while no worker walks.
  std::vector<Edge> root_edges_;
  std::vector<Edge> clean_;  ///< while there is noise: the root's edges without it
  bool root_sorted_ = true;
  bool provisional_ = false;
  std::uint64_t order_ = 0;  ///< key of the random order, or 0
  bool keeps_prior_sums_ = false;
};

}  // namespace pyengine
