/// The tree of one search: nodes in an arena, below a root stored in the tree itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "eval/evaluator.h"
#include "search/tree/edges.h"
#include "search/tree/node.h"
#include "search/tree/positions.h"
#include "search/tree/sharing.h"

namespace pyengine {

/// Aligned to its own cache lines, because every simulation writes to the root.
class alignas(kCacheLine) Tree {
 public:
  explicit Tree(std::shared_ptr<ChunkPool> pool);
  /// A tree in a shared arena, which is freed with its last user.
  explicit Tree(std::shared_ptr<Arena> arena);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  [[nodiscard]] Node& root() noexcept { return root_; }
  [[nodiscard]] const Node& root() const noexcept { return root_; }
  [[nodiscard]] const Arena& arena() const noexcept { return *arena_; }
  [[nodiscard]] const std::shared_ptr<Arena>& shared_arena() const noexcept { return arena_; }
  /// Orders the moves of each node randomly by `key`, for rules without priors. Call only on an
  /// empty tree; 0, the default, orders by descending prior.
  void order_by(std::uint64_t key) noexcept { order_ = key; }
  [[nodiscard]] std::uint64_t order() const noexcept { return order_; }
  /// Whether nodes store the sum of their priors, for rules that call prior_sum(). Call only on an
  /// empty tree.
  void keep_prior_sums(bool keep) noexcept { sums_.priors = keep; }
  /// Whether nodes store the sum of the squares of their values. Call only on an empty tree.
  void keep_squares(bool keep) noexcept { sums_.squares = keep; }
  [[nodiscard]] bool keeps_squares() const noexcept { return sums_.squares; }
  /// The value of a draw for the first player in the sums of the tree. Call only on an empty tree.
  void set_draw(float value) noexcept { draw_ = value; }
  [[nodiscard]] float draw() const noexcept { return draw_; }
  /// Sum of the squares of a node's values, in units of 2^-24; nullptr if it stores none. Any
  /// worker may add to it, relaxed.
  [[nodiscard]] std::atomic<std::int64_t>* squares(const Node& node) noexcept {
    return const_cast<std::atomic<std::int64_t>*>(std::as_const(*this).squares(node));
  }
  [[nodiscard]] const std::atomic<std::int64_t>* squares(const Node& node) const noexcept {
    if (&node == &root_) return &root_squares_;
    return node.has_square_sum ? &square_sum(*arena_, node) : nullptr;
  }
  /// The edge at index `place` < num_edges of an expanded node.
  [[nodiscard]] Edge edge(const Node& node, int place) const noexcept {
    if (&node == &root_) return root_edges_[static_cast<std::size_t>(place)];
    return stored_edge(*arena_, node, order_ == 0 ? place : place_of(node, place));
  }
  /// The prior of edge(), without decoding its action. For trees without a random order.
  [[nodiscard]] PackedPrior edge_prior(const Node& node, int place) const noexcept {
    if (&node == &root_) return root_edges_[static_cast<std::size_t>(place)].prior();
    return stored_prior(*arena_, node, place);
  }
  /// All edges, in search order.
  [[nodiscard]] std::vector<Edge> edges(const Node& node) const;
  /// Makes the tree a graph, in which nodes that are the same position share what is below them.
  /// Call only on an empty tree. `proofs`: whether a proof of a position holds on every path to it.
  /// `history`: number of earlier boards in its key.
  void share_positions(bool proofs, int history = 0);
  [[nodiscard]] bool is_graph() const noexcept { return positions_ != nullptr; }
  [[nodiscard]] int graph_history() const noexcept { return graph_history_; }
  [[nodiscard]] bool shares_proofs() const noexcept { return shares_proofs_; }
  /// The node with the moves, children and evaluation of `node`, which is `node` itself unless it
  /// is linked.
  [[nodiscard]] Node& position_of(Node& node) const noexcept {
    return is_linked(node) ? arena_->at<Position>(node.children)->node : node;
  }
  [[nodiscard]] const Node& position_of(const Node& node) const noexcept {
    return position_of(const_cast<Node&>(node));
  }
  /// Links a claimed node of a graph to its position, `plies` moves below the root. Returns whether
  /// the position is new, and then claimed; nullopt at the memory limit, where the node remains its
  /// own position.
  std::optional<bool> link(Allocator& allocator, Node& node, const PositionKey& key,
                           std::uint32_t plies) noexcept;
  /// Number of nodes created, including the root; in a graph, number of positions. After an
  /// advance() to a node with many visits, the visit count serves as an upper bound until the
  /// background thread has counted.
  [[nodiscard]] std::uint64_t nodes() const noexcept {
    return nodes_->load(std::memory_order_relaxed);
  }
  /// Adds the nodes of a whole turn in one call.
  void add_nodes(std::uint64_t created) noexcept {
    nodes_->fetch_add(created, std::memory_order_relaxed);
  }
  void remove_node() noexcept { nodes_->fetch_sub(1, std::memory_order_relaxed); }

  /// Writes edges, mover and value of a claimed node; other workers read them only after publish().
  /// False at the memory limit; the root always fits.
  bool store_evaluation(Allocator& allocator, Node& node, const EvalLeaf& leaf);
  /// Makes the node expanded, or fresh if its evaluation could not be stored: the next visit
  /// evaluates it again.
  static void publish(Node& node, bool stored) noexcept {
    node.state.store(stored ? NodeState::expanded : NodeState::fresh, std::memory_order_release);
  }
  /// Calls both functions above; returns whether the evaluation was stored.
  bool expand(Allocator& allocator, Node& node, const EvalLeaf& leaf) {
    const bool stored = store_evaluation(allocator, node, leaf);
    publish(node, stored);
    return stored;
  }
  /// Creates the child of the next edge, claimed by the caller. Returns nullptr if another worker
  /// is creating one, or at the memory limit, which also sets `full`.
  template <Sharing S = Sharing::shared>
  Node* create_child(Allocator& allocator, Node& parent, bool& full) noexcept;

  /// Replaces the root's priors (in edge order) for one search. Children keep their places; edges
  /// without a child are sorted again. Call only while no worker is walking the tree.
  /// clear_root_noise() restores the priors.
  void change_root_priors(std::span<const double> priors);
  void clear_root_noise();
  /// The root's edges with the evaluator's priors, without noise.
  [[nodiscard]] const std::vector<Edge>& evaluated_root_edges() const noexcept {
    return clean_.empty() ? root_edges_ : clean_;
  }
  /// Sorts the root's childless edges by descending `keys` (in edge order) without changing priors.
  /// clear_root_noise() restores the order.
  void order_root_edges(std::span<const double> keys);
  /// Whether the root's children are in prior order. Noise changes the order permanently for
  /// children created under it.
  [[nodiscard]] bool root_is_sorted() const noexcept { return root_sorted_; }

  /// Nobody moved to the root: its statistics are for the opponent of the player to move there,
  /// even if advance() kept those of a player who moves twice in a row.
  void set_root_mover(int mover) noexcept;
  /// The root's evaluation was cut short: it is good enough for a result, but not for a later
  /// search.
  void set_provisional() noexcept { provisional_ = true; }
  [[nodiscard]] bool provisional() const noexcept { return provisional_; }

  /// Makes the child of `action` the root and drops the rest. Without such a child, changes nothing
  /// and returns false. Never blocks: a background thread frees the rest.
  bool advance(ActionId action);
  /// Drops all nodes in the same way; the tree keeps its arena.
  void clear();
  /// Waits until the nodes that were dropped have been freed, or `goes_on` returns false.
  void wait_for_sweeps(const std::function<bool()>& goes_on) const;
  /// Declares that the tree will not be read again: the background thread may stop freeing its
  /// nodes.
  void abandon() noexcept { arena_->abandoned.store(true, std::memory_order_relaxed); }

 private:
  /// The stored index of the edge at index `place` of the random order.
  [[nodiscard]] int place_of(const Node& node, int place) const noexcept;
  void order_root();
  /// Memory for the child at index `place`, in a new block if necessary; nullptr at the memory
  /// limit.
  Node* make_place(Allocator& allocator, Node& parent, int place) noexcept;
  void set_root_priors(std::span<const Edge> priors);
  /// Hands the root's content to the background thread, which frees all of it except `kept`; at
  /// most `nodes` remain, or exactly that many if `counted`. Strong exception guarantee.
  void sweep_root(const Node* kept, std::uint64_t nodes, bool counted);

  std::shared_ptr<Arena> arena_;
  std::shared_ptr<std::atomic<std::uint64_t>> nodes_;  ///< shared with the background thread
  std::shared_ptr<const int> sweeps_ = std::make_shared<int>();  ///< shared with each sweep to come
  std::shared_ptr<PositionTable> positions_;  ///< nullptr unless a graph; shared likewise
  bool shares_proofs_ = true;
  int graph_history_ = 0;
  std::uint32_t root_ply_ = 0;  ///< of a graph: moves since its first root
  Node root_;
  /// Noise can change the root's edges, and they fit at any memory limit. Written before the root's
  /// state becomes expanded (release), and while no worker is walking the tree.
  std::vector<Edge> root_edges_;
  std::vector<Edge> clean_;  ///< the root's edges without noise, while there is noise
  bool root_sorted_ = true;
  bool provisional_ = false;
  std::uint64_t order_ = 0;  ///< key of the random order, or 0
  EdgeSums sums_;
  float draw_ = 0.0F;
  std::atomic<std::int64_t> root_squares_{0};  ///< see squares()
};

}  // namespace pyengine
