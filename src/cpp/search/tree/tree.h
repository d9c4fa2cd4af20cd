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

namespace pyengine {

/// Cache lines of its own, as its root is written by every simulation.
class alignas(kCacheLine) Tree {
 public:
  explicit Tree(std::shared_ptr<ChunkPool> pool);
  /// A tree in an arena that others share; the memory returns when the last of them is gone.
  explicit Tree(std::shared_ptr<Arena> arena);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  [[nodiscard]] Node& root() noexcept { return root_; }
  [[nodiscard]] const Node& root() const noexcept { return root_; }
  [[nodiscard]] const Arena& arena() const noexcept { return *arena_; }
  [[nodiscard]] const std::shared_ptr<Arena>& shared_arena() const noexcept { return arena_; }
  /// The edge at `place` < num_edges of an expanded node.
  [[nodiscard]] Edge edge(const Node& node, int place) const noexcept {
    if (&node == &root_) return root_edges_[static_cast<std::size_t>(place)];
    return stored_edge(*arena_, node, place);
  }
  /// Its prior, found sooner.
  [[nodiscard]] PackedPrior edge_prior(const Node& node, int place) const noexcept {
    if (&node == &root_) return root_edges_[static_cast<std::size_t>(place)].prior();
    return stored_prior(*arena_, node, place);
  }
  /// All of them.
  [[nodiscard]] std::vector<Edge> edges(const Node& node) const;
  /// Nodes created, the root included. After advance() those dropped are subtracted as the
  /// background comes across them.
  [[nodiscard]] std::uint64_t nodes() const noexcept {
    return nodes_->load(std::memory_order_relaxed);
  }
  /// Workers count the nodes that they create and add them in one go.
  void add_nodes(std::uint64_t created) noexcept {
    nodes_->fetch_add(created, std::memory_order_relaxed);
  }

  /// Edges, mover and value of a claimed node, which nobody sees before publish(). False at the
  /// memory cap; the root always fits.
  bool store_evaluation(Allocator& allocator, Node& node, const EvalLeaf& leaf);
  /// The node is expanded or, where its evaluation could not be stored, fresh again: it will be
  /// evaluated again when next visited.
  static void publish(Node& node, bool stored) noexcept {
    node.state.store(stored ? NodeState::expanded : NodeState::fresh, std::memory_order_release);
  }
  /// Both; returns whether it was stored.
  bool expand(Allocator& allocator, Node& node, const EvalLeaf& leaf) {
    const bool stored = store_evaluation(allocator, node, leaf);
    publish(node, stored);
    return stored;
  }
  /// The child for the next edge, claimed by the caller; nullptr when another worker is creating
  /// one, and with `full` set when memory is at its cap.
  Node* create_child(Allocator& allocator, Node& parent, bool& full) noexcept;

  /// Mixes `noise` (per edge of the root, in their order) into the root's priors:
  /// (1 - fraction) * prior + fraction * noise. Children keep their places, edges without a child
  /// are sorted again. Only while nobody walks. clear_root_noise() restores the priors.
  void add_root_noise(std::span<const double> noise, double fraction);
  void clear_root_noise();
  /// Whether the root's children are in the order of their priors: not so under noise, nor when
  /// they were created under noise that is gone.
  [[nodiscard]] bool root_is_sorted() const noexcept { return root_sorted_; }

  /// Makes the child that `action` leads to the root and drops the rest; false (and nothing done)
  /// when there is no such child. Never blocks: the rest is sorted out in the background.
  bool advance(ActionId action);
  /// Drops everything, likewise: the tree is as new, in the same arena.
  void clear();
  /// Nobody will look at the tree again: what the background is doing for it may stop.
  void abandon() noexcept { arena_->abandoned.store(true, std::memory_order_relaxed); }

 private:
  /// Memory for the child at `place`, in a new block where one begins; nullptr at the cap.
  Node* make_place(Allocator& allocator, Node& parent, int place) noexcept;
  void set_root_priors(std::span<const Edge> priors);
  /// Moves the root's content out, to be swept in the background but for `kept`. Where that fails
  /// nothing has changed.
  void sweep_root(const Node* kept);

  std::shared_ptr<Arena> arena_;
  std::shared_ptr<std::atomic<std::uint64_t>> nodes_;  ///< shared with the background
  Node root_;
  /// The root's, which noise may change and which fit whatever the cap. Written before its state
  /// becomes expanded (release), and while nobody walks.
  std::vector<Edge> root_edges_;
  std::vector<Edge> clean_;  ///< the root's edges without noise, while there is noise
  bool root_sorted_ = true;
};

}  // namespace pyengine
