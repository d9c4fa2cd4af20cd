#include "search/tree/tree.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "base/janitor.h"
#include "search/tree/order.h"

namespace pyengine {
namespace {

constexpr std::uint64_t kFlushEvery = 1024;  ///< nodes freed before their memory is made available
/// Visits below which advance() counts the nodes itself, which takes up to half a millisecond.
constexpr std::uint32_t kVisitsToCount = 1U << 14;

/// Frees everything below `top` except the nodes below `kept`, which has a new owner, and positions
/// that other nodes refer to.
class Sweep {
 public:
  /// `positions`: nullptr unless a graph.
  Sweep(std::shared_ptr<Arena> arena, PositionTable* positions, const Node* kept)
      : allocator_(std::move(arena)), positions_(positions), kept_(kept) {}

  /// Returns the number of nodes freed below `top`, including `kept`, whose content moved. If its
  /// own list runs out of memory it stops, and the rest is leaked until the arena is destroyed.
  std::uint64_t run(const Node& top) noexcept {
    try {
      sweep(top);
    } catch (const std::bad_alloc&) {
      pending_.clear();
    }
    allocator_.flush();
    return dropped_;
  }
  /// Call after everything has been freed.
  void free_table() noexcept {
    positions_->free_memory(allocator_);
    allocator_.flush();
  }

 private:
  struct Block {
    BlockIndex index;
    int number;
    int used;
  };

  void sweep(const Node& top) {
    drop_content(top);
    while (!pending_.empty() && !arena().abandoned.load(std::memory_order_relaxed)) {
      const Block block = pending_.back();
      pending_.pop_back();
      drop_block(block);
    }
  }

  Arena& arena() { return *allocator_.arena(); }

  void drop_content(const Node& node) {
    if (node.edges != 0) free_edges(allocator_, node);
    int rest = node.num_children.load(std::memory_order_relaxed);
    if (rest == 0) return;
    for (BlockWalk walk(arena(), node);; walk.next()) {
      pending_.push_back({walk.index(), walk.block(), std::min(walk.capacity(), rest)});
      rest -= walk.capacity();
      if (rest <= 0) return;
    }
  }

  void drop_block(const Block& block) {
    Node* nodes = block_nodes(arena(), block.number, block.index);
    for (int i = 0; i < block.used; ++i) drop_node(nodes[i]);
    allocator_.give(block.index, block_units(block.number));
    if (dropped_ / kFlushEvery != flushed_) {
      flushed_ = dropped_ / kFlushEvery;
      allocator_.flush();
    }
  }

  void drop_node(const Node& node) {
    if (is_linked(node)) {
      release(node.children);
    } else {
      if (&node != kept_) drop_content(node);
      ++dropped_;
    }
  }

  void release(BlockIndex index) {
    if (!positions_->release(arena(), index)) return;
    const Node& node = arena().at<Position>(index)->node;
    if (&node != kept_) drop_content(node);
    allocator_.give(index, kPositionUnits);
    ++dropped_;
  }

  Allocator allocator_;
  PositionTable* positions_;
  const Node* kept_;
  std::vector<Block> pending_;
  std::uint64_t dropped_ = 0;
  std::uint64_t flushed_ = 0;
};

/// Number of nodes below and including `top`. No worker may change them.
std::uint64_t count_nodes(const Arena& arena, const Node& top) {
  std::uint64_t count = 1;
  std::vector<const Node*> pending = {&top};
  while (!pending.empty()) {
    const Node& node = *pending.back();
    pending.pop_back();
    const int children = node.num_children.load(std::memory_order_relaxed);
    count += static_cast<std::uint64_t>(children);
    for_each_child(arena, node, children, [&](const Node& child) {
      if (child.num_children.load(std::memory_order_relaxed) != 0) pending.push_back(&child);
    });
  }
  return count;
}

/// Copies a node. No other worker may use either node.
void copy_node(const Node& from, Node& to) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  to.value_sum.store(from.value_sum.load(kRelaxed), kRelaxed);
  to.visits.store(from.visits.load(kRelaxed), kRelaxed);
  to.in_flight.store(from.in_flight.load(kRelaxed), kRelaxed);
  to.children = from.children;
  to.edges = from.edges;
  to.value = from.value;
  to.num_edges = from.num_edges;
  to.num_children.store(from.num_children.load(kRelaxed), kRelaxed);
  to.action = from.action;
  to.prior = from.prior;
  to.state.store(from.state.load(kRelaxed), kRelaxed);
  to.proof.store(from.proof.load(kRelaxed), kRelaxed);
  to.chooser = from.chooser;
  to.mover = from.mover;
  to.edges_are_bits = from.edges_are_bits;
  to.has_prior_sum = from.has_prior_sum;
  to.has_square_sum = from.has_square_sum;
}

}  // namespace

Tree::Tree(std::shared_ptr<ChunkPool> pool) : Tree(std::make_shared<Arena>(std::move(pool))) {}

Tree::Tree(std::shared_ptr<Arena> arena)
    : arena_(std::move(arena)), nodes_(std::make_shared<std::atomic<std::uint64_t>>(1)) {}

// Stops a sweep of this arena, if one is running.
Tree::~Tree() { abandon(); }

std::vector<Edge> Tree::edges(const Node& node) const {
  std::vector<Edge> all;
  all.reserve(node.num_edges);
  for (int place = 0; place < node.num_edges; ++place) all.push_back(edge(node, place));
  return all;
}

bool Tree::store_evaluation(Allocator& allocator, Node& node, const EvalLeaf& leaf) {
  node.value = leaf.value;
  node.mover = leaf.to_move & 1;
  if (&node != &root_) return store_edges(allocator, leaf, node, sums_);
  root_edges_.resize(static_cast<std::size_t>(leaf.num_legal()));
  list_edges(leaf, root_edges_);
  if (order_ != 0) order_root();
  node.num_edges = static_cast<std::uint16_t>(root_edges_.size());
  return true;
}

void Tree::order_root() {
  const std::vector<Edge> sorted = root_edges_;
  const std::uint64_t key = order_key(order_, 0, {});
  const int count = static_cast<int>(sorted.size());
  for (int place = 0; place < count; ++place) {
    root_edges_[static_cast<std::size_t>(place)] =
        sorted[static_cast<std::size_t>(place_in_order(place, count, key))];
  }
}

void Tree::change_root_priors(std::span<const double> priors) {
  std::vector<Edge> changed;
  changed.reserve(root_edges_.size());
  for (std::size_t i = 0; i < root_edges_.size(); ++i) {
    const PackedPrior prior = pack_prior(static_cast<float>(priors[i]));
    changed.emplace_back(prior, root_edges_[i].action());
  }
  if (clean_.empty()) clean_ = root_edges_;
  set_root_priors(changed);
}

void Tree::clear_root_noise() {
  if (clean_.empty()) return;
  set_root_priors(clean_);
  clean_.clear();
}

void Tree::order_root_edges(std::span<const double> keys) {
  std::vector<std::pair<double, Edge>> rest;
  const auto children = root_.num_children.load(std::memory_order_relaxed);
  for (std::size_t i = children; i < root_edges_.size(); ++i) {
    rest.emplace_back(keys[i], root_edges_[i]);
  }
  std::sort(rest.begin(), rest.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (clean_.empty()) clean_ = root_edges_;
  std::transform(rest.begin(), rest.end(), root_edges_.begin() + children,
                 [](const auto& entry) { return entry.second; });
  root_sorted_ = std::is_sorted(root_edges_.begin(), root_edges_.end());
}

void Tree::set_root_priors(std::span<const Edge> priors) {
  ActionId last = 0;
  for (const Edge edge : priors) last = std::max(last, edge.action());
  std::vector<PackedPrior> by_action(std::size_t{last} + 1);
  for (const Edge edge : priors) by_action[edge.action()] = edge.prior();
  for (Edge& edge : root_edges_) edge = Edge(by_action[edge.action()], edge.action());
  const int children = root_.num_children.load(std::memory_order_relaxed);
  std::sort(root_edges_.begin() + children, root_edges_.end());
  root_sorted_ = std::is_sorted(root_edges_.begin(), root_edges_.end());
  for_each_child(*arena_, root_, children,
                 [&](Node& child) { child.prior = by_action[child.action]; });
}

bool Tree::advance(ActionId action) {
  Node* kept = nullptr;
  for_each_child(*arena_, root_, root_.num_children.load(std::memory_order_relaxed),
                 [&](Node& child) {
                   if (child.action == action) kept = &child;
                 });
  if (kept == nullptr) return false;
  kept = &position_of(*kept);
  std::vector<Edge> kept_edges = edges(*kept);
  const auto* sum = squares(*kept);
  const std::int64_t kept_squares = sum != nullptr ? sum->load(std::memory_order_relaxed) : 0;
  Node new_root;
  copy_node(*kept, new_root);
  const std::uint32_t visits = kept->visits.load(std::memory_order_relaxed);
  if (is_graph()) {  // other moves may lead to most of the graph
    sweep_root(kept, nodes(), false);
  } else if (visits < kVisitsToCount) {
    sweep_root(kept, count_nodes(*arena_, *kept), true);
  } else {
    sweep_root(kept, visits, false);
  }
  root_edges_ = std::move(kept_edges);
  copy_node(new_root, root_);
  root_squares_.store(kept_squares, std::memory_order_relaxed);
  ++root_ply_;
  return true;
}

void Tree::clear() {
  const auto positions = is_graph() ? std::make_shared<PositionTable>() : nullptr;
  sweep_root(nullptr, 1, true);
  positions_ = positions;
  root_edges_.clear();
  copy_node(Node(), root_);
  root_squares_.store(0, std::memory_order_relaxed);
}

void Tree::share_positions(bool proofs, int history) {
  if (!is_graph()) positions_ = std::make_shared<PositionTable>();
  shares_proofs_ = proofs;
  graph_history_ = history;
}

void Tree::wait_for_sweeps(const std::function<bool()>& goes_on) const {
  if (sweeps_.use_count() != 1) wait_for_background(goes_on);
}

/// The background thread runs one sweep after another, so each sees the count corrected by the
/// previous one.
void Tree::sweep_root(const Node* kept, std::uint64_t nodes, bool counted) {
  auto old_root = std::make_shared<Node>();
  copy_node(root_, *old_root);
  auto left = std::make_shared<std::atomic<std::uint64_t>>(nodes);
  const auto sweep_all = [arena = arena_, positions = positions_, old_root, kept, before = nodes_,
                          left, nodes, counted] {
    Sweep sweep(arena, positions.get(), kept);
    const std::uint64_t dropped = sweep.run(*old_root);
    if (kept == nullptr && positions != nullptr) sweep.free_table();
    const std::uint64_t exact = before->load(std::memory_order_relaxed) - dropped;
    if (!counted) left->fetch_add(exact - nodes, std::memory_order_relaxed);
  };
  // Until it is swept, a search of a graph could find positions that are about to be freed, and its
  // result would depend on the time. Earlier sweeps do not know what this one keeps.
  const bool at_once = is_graph() && this->nodes() < kVisitsToCount && sweeps_.use_count() == 1;
  if (at_once) {
    sweep_all();
  } else {
    run_in_background([sweep_all, running = sweeps_] { sweep_all(); });
  }
  nodes_ = std::move(left);
  clean_.clear();
  root_sorted_ = true;
  provisional_ = false;
}

void Tree::set_root_mover(int mover) noexcept {
  const std::uint8_t opponent = (1 - mover) & 1;
  if (root_.chooser == opponent) return;
  root_.chooser = opponent & 1;
  root_.value_sum.store(-root_.value_sum.load(std::memory_order_relaxed),
                        std::memory_order_relaxed);
}

}  // namespace pyengine
