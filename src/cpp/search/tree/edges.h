/// How the moves of a judged node are kept: as a list of 4 bytes each in the search's order, or,
/// where one prior holds for all of them, as a set of one bit each (Go 19x19: 48 bytes for 1,448).
#pragma once

#include <span>

#include "base/memory.h"
#include "eval/evaluator.h"
#include "search/tree/node.h"

namespace pyengine {

/// Writes the edges of `leaf` in the search's order; `edges` has a place for each.
void list_edges(const EvalLeaf& leaf, std::span<Edge> edges);

/// Takes memory for the edges of `leaf`, writes them and makes them `node`'s; false at the memory
/// cap.
bool store_edges(Allocator& allocator, const EvalLeaf& leaf, Node& node);

/// The units that store_edges() took for this node.
[[nodiscard]] int stored_edge_units(const Arena& arena, const Node& node) noexcept;

/// The edge at `place` of a node whose edges are stored.
[[nodiscard]] Edge stored_edge(const Arena& arena, const Node& node, int place) noexcept;

/// Prior of each of `count` moves that have the same.
[[nodiscard]] inline PackedPrior equal_prior(int count) noexcept {
  return pack_prior(1.0F / static_cast<float>(count));
}

/// The prior of stored_edge(), found sooner.
[[nodiscard]] inline PackedPrior stored_prior(const Arena& arena, const Node& node,
                                              int place) noexcept {
  if (node.edges_are_bits) return equal_prior(node.num_edges);
  return arena.at<Edge>(node.edges)[place].prior();
}

}  // namespace pyengine
