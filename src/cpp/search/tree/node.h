/// Nodes and edges. A node's children are created on their first visit, in edge order, so the
/// children are always a prefix of the edges:
///
///   node ──edges──▶ [ e0 e1 e2 e3 e4 ... ]      sorted: larger prior, smaller action; see edges.h
///     │
///     └─children──▶ [links, c0] ──▶ [c1]        contiguous blocks of 1, 1, 2, 4, 8 ... nodes
///                               ──▶ [c2 c3]
///                               ──▶ [c4 ... c7]
///                               ──▶ [next, c8 ... c15] ──▶ [next, c16 ...] ...
///
/// Nodes never move. A rule reads the children and one more edge. The first sixteen children are
/// two loads away, so selection in a small node waits for nothing else.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/memory.h"
#include "base/types.h"
#include "search/tree/prior.h"

namespace pyengine {

/// A legal move: prior and action packed into one number whose descending order is the search
/// order.
class Edge {
 public:
  Edge() = default;
  Edge(PackedPrior prior, ActionId action) noexcept
      : bits_((static_cast<std::uint32_t>(prior) << 16) | (0xFFFFU - action)) {}
  [[nodiscard]] PackedPrior prior() const noexcept { return static_cast<PackedPrior>(bits_ >> 16); }
  [[nodiscard]] ActionId action() const noexcept {
    return static_cast<ActionId>(0xFFFFU - (bits_ & 0xFFFFU));
  }
  /// Larger prior first, then smaller action.
  friend bool operator<(Edge a, Edge b) noexcept { return a.bits_ > b.bits_; }

 private:
  std::uint32_t bits_ = 0;
};
static_assert(sizeof(Edge) == 4);

enum class NodeState : std::uint8_t {
  unseen,    ///< unknown whether the game is over here: a walk failed on its way
  fresh,     ///< not terminal, not evaluated, and not claimed
  claimed,   ///< a worker is evaluating it
  expanded,  ///< evaluated; edges, mover and value may be read
  terminal,  ///< the game is over here; value may be read
  linked,    ///< in a graph: the position is the node that `children` names; see positions.h
};

/// Game-theoretic value for the first player.
enum class Proof : std::int8_t { loss = -1, draw = 0, win = 1, none = 127 };
/// The proof that `player` loses.
[[nodiscard]] constexpr Proof loss_of(int player) noexcept {
  return player == 0 ? Proof::loss : Proof::win;
}

/// Values are summed in fixed point. Integer addition commutes, so the same back-ups give the same
/// sum in any order.
inline constexpr double kValueUnit = 0x1p-24;
[[nodiscard]] inline std::int64_t to_fixed(float value) noexcept {
  return std::llround(static_cast<double>(value) * 0x1p24);
}

/// The most visits a node can count. The root has the most, and the search stops at this limit.
inline constexpr std::uint32_t kMaxVisits = std::numeric_limits<std::uint32_t>::max();

struct Node {
  /// W: sum of completed back-ups in units of 2^-24, for the player who moved here. Written by any
  /// worker, relaxed.
  std::atomic<std::int64_t> value_sum{0};
  /// N: number of completed back-ups, including the node's own evaluation. Written by any worker,
  /// relaxed.
  std::atomic<std::uint32_t> visits{0};
  /// Leaves in flight below, leased simulations, and joint walks heading here. Written by any
  /// worker; relaxed, except for leases (run/lease.h).
  std::atomic<std::uint32_t> in_flight{0};
  /// First block of children. Written by the holder of the lock, before num_children. In a linked
  /// node the Position, written by the worker that claimed the node, before state (release).
  BlockIndex children = 0;
  /// See edges.h. Written by the worker that claimed the node, before state becomes expanded
  /// (release).
  BlockIndex edges = 0;
  /// The node's own evaluation, for the player to move; at a terminal node, for the first player.
  float value = 0.0F;
  std::uint16_t num_edges = 0;  ///< at most kMaxActions
  /// Number of children that may be read. Written by the holder of the lock, release.
  std::atomic<std::uint16_t> num_children{0};
  ActionId action = 0;    ///< the action that leads here; constant
  PackedPrior prior = 0;  ///< prior of that action; root noise changes it between searches
  std::atomic<NodeState> state{NodeState::fresh};  ///< acquire / release
  std::atomic<Proof> proof{Proof::none};           ///< set once; see prove()
  /// Held while a child is created, while a leaf in flight is marked, and during a lease
  /// (run/lease.h): acquire / release; sequentially consistent when a lease is taken.
  std::atomic<bool> locked{false};
  std::uint8_t chooser : 1 = 0;         ///< player who moved here; constant
  std::uint8_t mover : 1 = 0;           ///< player to move; written with edges
  std::uint8_t edges_are_bits : 1 = 0;  ///< the edges are a bit set with one prior, not a list
  std::uint8_t has_prior_sum : 1 = 0;   ///< stored after the list: see prior_sum()
  std::uint8_t has_square_sum : 1 = 0;  ///< stored before the edges: see square_sum()

  /// W / N, for the player who moved here.
  [[nodiscard]] double mean_for_chooser() const noexcept {
    return static_cast<double>(value_sum.load(std::memory_order_relaxed)) * kValueUnit /
        visits.load(std::memory_order_relaxed);
  }
  /// The same value for the player to move at the node.
  [[nodiscard]] double mean_for_mover() const noexcept {
    const double mean = mean_for_chooser();
    return chooser == mover ? mean : -mean;
  }
};
static_assert(sizeof(Node) == 40 && alignof(Node) == kUnitBytes);

[[nodiscard]] inline bool is_linked(const Node& node) noexcept {
  return node.state.load(std::memory_order_acquire) == NodeState::linked;
}

/// Block 0 of a node's children.
struct FirstBlock {
  static constexpr int kLinks = 4;
  BlockIndex links[kLinks] = {};  ///< blocks 1 ... 4; each written before num_children reaches it
  [[nodiscard]] Node* nodes() noexcept { return reinterpret_cast<Node*>(this + 1); }
};
/// Blocks from 4 on. Blocks 1 to 3 contain only nodes.
struct LaterBlock {
  BlockIndex next = 0;  ///< written before num_children reaches the next block
  std::uint32_t unused = 0;
  [[nodiscard]] Node* nodes() noexcept { return reinterpret_cast<Node*>(this + 1); }
};
static_assert(sizeof(FirstBlock) == 2 * kUnitBytes && sizeof(LaterBlock) == kUnitBytes);

/// Number of children in block b: 1, 1, 2, 4, 8 ... 1024, 1024, ...
[[nodiscard]] constexpr int block_capacity(int block) noexcept {
  return block == 0 ? 1 : 1 << std::min(block - 1, 10);
}
[[nodiscard]] constexpr int block_units(int block) noexcept {
  const std::size_t header = block == 0 ? sizeof(FirstBlock)
      : block < FirstBlock::kLinks      ? 0
                                        : sizeof(LaterBlock);
  const auto capacity = static_cast<std::size_t>(block_capacity(block));
  return static_cast<int>((header + capacity * sizeof(Node)) / kUnitBytes);
}
static_assert(block_units(63) <= Arena::kMaxUnits);
[[nodiscard]] constexpr int edge_units(int edges) noexcept { return (edges + 1) / 2; }
static_assert(kMaxActions <= std::numeric_limits<decltype(Node::num_edges)>::max());
static_assert(edge_units(kMaxActions + 1) <= Arena::kMaxUnits);  // the prior sum follows the edges

/// The nodes of block `block`.
[[nodiscard]] inline Node* block_nodes(const Arena& arena, int block, BlockIndex index) noexcept {
  if (block == 0) return arena.at<FirstBlock>(index)->nodes();
  if (block < FirstBlock::kLinks) return arena.at<Node>(index);
  return arena.at<LaterBlock>(index)->nodes();
}

/// Where the index of block `block` is stored; `before` is the index of the previous block.
[[nodiscard]] inline BlockIndex* block_link(const Arena& arena, Node& node, int block,
                                            BlockIndex before) noexcept {
  if (block == 0) return &node.children;
  if (block <= FirstBlock::kLinks) return &arena.at<FirstBlock>(node.children)->links[block - 1];
  return &arena.at<LaterBlock>(before)->next;
}

/// Iterates over a node's blocks of children. Access only blocks whose children num_children
/// counts; a worker may be creating the next one.
class BlockWalk {
 public:
  BlockWalk(const Arena& arena, const Node& node) noexcept
      : arena_(arena), node_(const_cast<Node&>(node)), index_(node.children) {}
  [[nodiscard]] int block() const noexcept { return block_; }
  [[nodiscard]] int capacity() const noexcept { return block_capacity(block_); }
  [[nodiscard]] BlockIndex index() const noexcept { return index_; }
  [[nodiscard]] Node* nodes() const noexcept { return block_nodes(arena_, block_, index_); }
  void next() noexcept { index_ = *block_link(arena_, node_, ++block_, index_); }

 private:
  const Arena& arena_;
  Node& node_;
  int block_ = 0;
  BlockIndex index_;
};

/// Calls `visit(child)` for the first `count` children of `node`, in edge order.
template <class Visit>
void for_each_child(const Arena& arena, const Node& node, int count, Visit&& visit) {
  if (count == 0) return;
  BlockWalk walk(arena, node);
  for (int done = 0;; walk.next()) {
    const int here = std::min(walk.capacity(), count - done);
    Node* nodes = walk.nodes();
    for (int i = 0; i < here; ++i) visit(nodes[i]);
    done += here;
    if (done == count) return;
  }
}

/// for_each_child() for at least one child, with the path to the first blocks unrolled: the address
/// of the next node is available some cycles earlier. `visit` is compiled several times.
template <class Visit>
[[gnu::always_inline]] inline void for_each_child_fast(const Arena& arena, const Node& node,
                                                       int count, Visit&& visit) {
  const BlockIndex children = node.children;
  FirstBlock* const first = arena.at<FirstBlock>(children);
  const auto block_at = [&](int link) {
    return arena.at_near<Node>(first->links[link], children, first);
  };
  visit(first->nodes()[0]);
  if (count == 1) return;
  visit(*block_at(0));
  if (count == 2) return;
  Node* nodes = block_at(1);
  visit(nodes[0]);
  if (count == 3) return;
  visit(nodes[1]);
  if (count == 4) return;
  nodes = block_at(2);
  for (int i = 0; i < std::min(count - 4, 4); ++i) visit(nodes[i]);
  if (count <= 8) return;
  BlockIndex index = first->links[3];
  for (int block = 4, done = 8;; ++block) {
    const int here = std::min(block_capacity(block), count - done);
    LaterBlock* const later = arena.at<LaterBlock>(index);
    for (int i = 0; i < here; ++i) visit(later->nodes()[i]);
    done += here;
    if (done == count) return;
    index = later->next;
  }
}

/// The child at index `place`, which must exist.
[[nodiscard]] inline Node* child_at(const Arena& arena, const Node& node, int place) noexcept {
  BlockWalk walk(arena, node);
  for (; place >= walk.capacity(); walk.next()) place -= walk.capacity();
  return walk.nodes() + place;
}

}  // namespace pyengine
