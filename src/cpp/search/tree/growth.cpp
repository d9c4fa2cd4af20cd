// The functions of Tree that a walk calls. A game's module compiles them too, for itself.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <optional>

#include "search/tree/order.h"
#include "search/tree/tree.h"

namespace pyengine {

int Tree::place_of(const Node& node, int place) const noexcept {
  const FirstWords moves = first_stored_words(*arena_, node);
  const std::uint64_t key = order_key(order_, node.action, {moves.words.data(), moves.count});
  return place_in_order(place, node.num_edges, key);
}

template <Sharing S>
Node* Tree::create_child(Allocator& allocator, Node& parent, bool& full) noexcept {
  constexpr bool kLocks = S == Sharing::shared;
  if (kLocks && parent.locked.exchange(true, std::memory_order_acquire)) return nullptr;
  const int place = parent.num_children.load(std::memory_order_relaxed);
  Node* child = nullptr;
  if (place < parent.num_edges) child = make_place(allocator, parent, place);
  if (child == nullptr) {
    full = place < parent.num_edges;
  } else {
    const Edge edge = this->edge(parent, place);
    child = new (child) Node();
    child->action = edge.action();
    child->prior = edge.prior();
    child->chooser = parent.mover;
    child->state.store(NodeState::claimed, std::memory_order_relaxed);
    parent.num_children.store(static_cast<std::uint16_t>(place + 1), std::memory_order_release);
  }
  if (kLocks) parent.locked.store(false, std::memory_order_release);
  return child;
}

template Node* Tree::create_child<Sharing::exclusive>(Allocator&, Node&, bool&) noexcept;
template Node* Tree::create_child<Sharing::shared>(Allocator&, Node&, bool&) noexcept;

Node* Tree::make_place(Allocator& allocator, Node& parent, int place) noexcept {
  int block = 0;
  BlockIndex* link = &parent.children;
  if (place > 0) {  // block b <= kLinks begins at index 2^(b-1), and its link is in the first block
    block = std::min(static_cast<int>(std::bit_width(static_cast<unsigned>(place))),
                     FirstBlock::kLinks);
    link = block_link(*arena_, parent, block, *link);
    place -= 1 << (block - 1);
  }
  for (; place >= block_capacity(block); ++block) {
    place -= block_capacity(block);
    link = block_link(*arena_, parent, block + 1, *link);
  }
  if (place == 0) {
    const BlockIndex index = allocator.take(block_units(block));
    if (index == 0) return nullptr;
    if (block == 0) new (arena_->at(index)) FirstBlock();
    if (block >= FirstBlock::kLinks) new (arena_->at(index)) LaterBlock();
    *link = index;
  }
  return block_nodes(*arena_, block, *link) + place;
}

std::optional<bool> Tree::link(Allocator& allocator, Node& node, const PositionKey& key,
                               std::uint32_t plies) noexcept {
  const auto link = positions_->acquire(allocator, key, root_ply_ + plies, node.chooser);
  if (link.position == 0) return std::nullopt;
  node.children = link.position;
  node.state.store(NodeState::linked, std::memory_order_release);
  return link.is_new;
}

}  // namespace pyengine
