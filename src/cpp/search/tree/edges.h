/// How the moves of an evaluated node are kept: as a list of 4 bytes each in the search's order,
/// or, if all have the same prior, as a set of one bit each (Go 19x19: 48 bytes and not 1,448).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "eval/evaluator.h"
#include "search/tree/node.h"

namespace pyengine {

/// Writes the edges of `leaf` in the search's order. `edges` has as many places.
void list_edges(const EvalLeaf& leaf, std::span<Edge> edges);

/// Takes memory for the edges of `leaf` and gives them to `node`; false at the memory cap.
/// `with_sum`: prior_sum() need not read them all.
bool store_edges(Allocator& allocator, const EvalLeaf& leaf, Node& node, bool with_sum = false);

/// The units that store_edges() took for this node.
[[nodiscard]] int stored_edge_units(const Arena& arena, const Node& node) noexcept;

/// The edge at `place` of a node whose edges are stored.
[[nodiscard]] Edge stored_edge(const Arena& arena, const Node& node, int place) noexcept;

/// The first words of what is stored of a node's edges: they tell it from other nodes.
struct FirstWords {
  std::array<std::uint64_t, 8> words{};
  std::size_t count = 0;
};
[[nodiscard]] FirstWords first_stored_words(const Arena& arena, const Node& node) noexcept;

/// The prior of each of `count` moves, if all have the same.
[[nodiscard]] inline PackedPrior equal_prior(int count) noexcept {
  return pack_prior(1.0F / static_cast<float>(count));
}

/// The prior of stored_edge(), without looking for its action.
[[nodiscard]] inline PackedPrior stored_prior(const Arena& arena, const Node& node,
                                              int place) noexcept {
  if (node.edges_are_bits) return equal_prior(node.num_edges);
  return arena.at<Edge>(node.edges)[place].prior();
}

/// Sum of the priors of the edges from place `first` on; `before`: of the edges before it. Exact:
/// priors are multiples of 2^-42, and their sum is about 1.
[[nodiscard]] double prior_sum(const Arena& arena, const Node& node, int first,
                               double before) noexcept;

}  // namespace pyengine
