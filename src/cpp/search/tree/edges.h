/// Storage of the moves of an evaluated node: a list of 4 bytes per move in search order or, if all
/// priors are equal, a bit set (Go 19x19: 48 bytes instead of 1,448).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "eval/evaluator.h"
#include "search/tree/node.h"

namespace pyengine {

/// Writes the edges of `leaf` in search order. `edges` has one element per move.
void list_edges(const EvalLeaf& leaf, std::span<Edge> edges);

/// Sums that are stored with the edges.
struct EdgeSums {
  bool priors = false;   ///< so that prior_sum() does not have to read all edges
  bool squares = false;  ///< see square_sum(); left out of the largest possible block
};

/// Allocates and stores the edges of `leaf` in `node`; false at the memory limit.
bool store_edges(Allocator& allocator, const EvalLeaf& leaf, Node& node, EdgeSums sums = {});

/// Frees what store_edges() allocated for this node.
void free_edges(Allocator& allocator, const Node& node) noexcept;

/// Number of arena units of a node's edges, without the sum of squares.
[[nodiscard]] int stored_edge_units(const Arena& arena, const Node& node) noexcept;

/// Sum of the squares of the values of a node's visits, in units of 2^-24. Written by any worker,
/// relaxed. Only for nodes with has_square_sum.
[[nodiscard]] inline std::atomic<std::int64_t>& square_sum(const Arena& arena,
                                                           const Node& node) noexcept {
  return *arena.at<std::atomic<std::int64_t>>(node.edges - 1);
}

/// The edge at index `place` of a node with stored edges.
[[nodiscard]] Edge stored_edge(const Arena& arena, const Node& node, int place) noexcept;

/// The first words of a node's stored edges, which identify the node.
struct FirstWords {
  std::array<std::uint64_t, 8> words{};
  std::size_t count = 0;
};
[[nodiscard]] FirstWords first_stored_words(const Arena& arena, const Node& node) noexcept;

/// The prior of each of `count` moves if all priors are equal.
[[nodiscard]] inline PackedPrior equal_prior(int count) noexcept {
  return pack_prior(1.0F / static_cast<float>(count));
}

/// The prior of stored_edge(), without decoding its action.
[[nodiscard]] inline PackedPrior stored_prior(const Arena& arena, const Node& node,
                                              int place) noexcept {
  if (node.edges_are_bits) return equal_prior(node.num_edges);
  return arena.at<Edge>(node.edges)[place].prior();
}

/// Sum of the priors of the edges from index `first` on, given the sum `before` of the preceding
/// ones. Exact, because priors are multiples of 2^-42 and their sum is about 1.
[[nodiscard]] double prior_sum(const Arena& arena, const Node& node, int first,
                               double before) noexcept;

}  // namespace pyengine
