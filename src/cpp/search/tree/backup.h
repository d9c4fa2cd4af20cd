/// Back-up: adds a leaf's value to the statistics of its path and propagates proofs to the root.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "base/backoff.h"
#include "search/tree/path.h"
#include "search/tree/sharing.h"
#include "search/tree/tree.h"

namespace pyengine {

/// The lock of a leaf in flight. It keeps mark_again() and unmark() from interleaving, and is not
/// taken if one thread owns the tree. It is held for one pass over the path, so unmark() may spin.
template <Sharing S>
class LeafLock {
 public:
  explicit LeafLock(Node& leaf) noexcept : leaf_(leaf) {}
  LeafLock(const LeafLock&) = delete;
  LeafLock& operator=(const LeafLock&) = delete;
  [[nodiscard]] bool try_lock() noexcept {
    return S == Sharing::exclusive || !leaf_.locked.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept {
    if constexpr (S == Sharing::shared) leaf_.locked.store(false, std::memory_order_release);
  }

 private:
  Node& leaf_;
};

/// Marks every node on the path of a leaf in flight; unmark() removes the marks.
template <Sharing S>
void mark(const Path& path, std::uint32_t times = 1) noexcept {
  for (Node* node : path) add<S>(node->in_flight, times);
}
/// After a collision, marks the path of a leaf in flight `times` more times until unmark(), so that
/// later walks turn away earlier. Returns false and marks nothing if the leaf is no longer in
/// flight.
template <Sharing S>
bool mark_again(const Path& path, std::uint32_t times) noexcept {
  Node& leaf = *path.back();
  LeafLock<S> lock(leaf);
  if (!lock.try_lock()) return false;
  const bool flies = leaf.state.load(std::memory_order_relaxed) == NodeState::claimed &&
      leaf.in_flight.load(std::memory_order_relaxed) != 0;
  if (flies) mark<S>(path, times);
  lock.unlock();
  return flies;
}
/// Removes the marks of one walk, whatever other marks there are.
template <Sharing S>
void unmark_once(const Path& path, std::uint32_t times = 1) noexcept {
  for (Node* node : path) add<S>(node->in_flight, 0U - times);
}
/// Removes all marks of a leaf in flight, which in a tree all have the same path.
template <Sharing S>
void unmark(const Path& path) noexcept {
  Node& leaf = *path.back();
  LeafLock<S> lock(leaf);
  for (Backoff backoff; !lock.try_lock();) backoff.pause();
  const std::uint32_t marks = leaf.in_flight.load(std::memory_order_relaxed);
  for (Node* node : path) add<S>(node->in_flight, 0U - marks);
  lock.unlock();
}

/// Counts one visit, with a value for the first player, at every node of the path. The value counts
/// as 0 for the first `drawn` nodes (see Walk::drawn).
template <Sharing S>
void back_up(const Path& path, float value_for_first, std::size_t drawn = 0) noexcept {
  const std::int64_t fixed = to_fixed(value_for_first);
  for (std::size_t i = 0; i < drawn; ++i) add<S>(path[i]->visits, 1U);
  for (std::size_t i = drawn; i < path.size(); ++i) {
    Node* node = path[i];
    add<S>(node->value_sum, node->chooser == 0 ? fixed : -fixed);
    add<S>(node->visits, 1U);
  }
}

/// Counts one more visit of the edge node that leads to the position at the end of `path`, and
/// gives it the position's mean value. The change of its sum is counted at the nodes above it, as 0
/// for the first `drawn` ones.
template <Sharing S>
void back_up_mean(const Path& path, std::size_t drawn) noexcept {
  const std::size_t above = path.size() - 2;
  Node& edge = *path[above];
  const double visits = add<S>(edge.visits, 1U) + 1.0;
  const double mean = path.back()->mean_for_chooser() / kValueUnit;
  const double for_chooser = path.back()->chooser == edge.chooser ? mean : -mean;
  const std::int64_t sum = std::llround(visits * for_chooser);
  const std::int64_t change = sum - exchange<S>(edge.value_sum, sum);
  for (std::size_t i = 0; i < above; ++i) {
    Node& node = *path[i];
    if (i >= drawn) add<S>(node.value_sum, node.chooser == edge.chooser ? change : -change);
    add<S>(node.visits, 1U);
  }
}

/// The values of one visit for the first player: `draw` at the first `drawn` nodes of its path and
/// `value` at the others.
struct VisitValue {
  float value = 0.0F;
  float draw = 0.0F;  ///< see SearchConfig::draw_value
  std::uint32_t drawn = 0;
};

/// Adds the value of a draw, in place of the 0 of the functions above, to the first nodes of the
/// path.
template <Sharing S>
void back_up_draw(const Path& path, const VisitValue& visit) noexcept {
  const std::int64_t fixed = to_fixed(visit.draw);
  for (std::size_t i = 0; i < visit.drawn; ++i) {
    add<S>(path[i]->value_sum, path[i]->chooser == 0 ? fixed : -fixed);
  }
}

/// Adds the squares of a visit's values at the first `nodes` nodes of the path that store their
/// sum.
template <Sharing S>
void back_up_squares(Tree& tree, const Path& path, std::size_t nodes,
                     const VisitValue& visit) noexcept {
  for (std::size_t i = 0; i < nodes; ++i) {
    auto* const sum = tree.squares(*path[i]);
    const float value = i < visit.drawn ? visit.draw : visit.value;
    if (sum != nullptr) add<S>(*sum, to_fixed(value * value));
  }
}

/// Marks the terminal node at the end of `path` proven, then each node above it that has a winning
/// move or whose moves are all proven.
void prove(const Tree& tree, const Path& path, float value_for_first) noexcept;
/// The same for the root alone, from its moves. For a position of a graph that has become the root:
/// proofs may have stopped below it.
void prove_root(Tree& tree) noexcept;

}  // namespace pyengine
