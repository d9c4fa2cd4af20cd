/// The scan of a node's children with vectors of any width, matching puct::score(). A file for one
/// width defines PYENGINE_TARGET (the instruction set), includes this header and defines a type V
/// as in scan_avx2.cpp. Everything is local to that file, so the linker cannot mix code for
/// different processors.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/cpu.h"
#include "search/rules/scan.h"

// ThreadSanitizer would report vector reads of words that other threads write atomically.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define PYENGINE_VECTORS __attribute__((target(PYENGINE_TARGET)))
#include <immintrin.h>

namespace pyengine {
namespace {

// A node is five words of 8 bytes; these three are read.
constexpr int kNodeWords = 5;
static_assert(sizeof(Node) == 8 * kNodeWords && std::endian::native == std::endian::little);
static_assert(offsetof(Node, value_sum) == 0);
static_assert(offsetof(Node, visits) == 8 && offsetof(Node, in_flight) == 12);
static_assert(offsetof(Node, prior) == 34 && offsetof(Node, proof) == 37);
constexpr int kPriorShift = 16;  ///< within the word at offset 32
constexpr int kProofShift = 40;

/// One word from each of V::kLanes nodes.
template <class V>
struct Words {
  typename V::Int sums;    ///< value_sum
  typename V::Int counts;  ///< visits, in_flight
  typename V::Int rest;    ///< the word containing prior and proof
};

/// `lanes` contiguous nodes fill five vectors. Word w of node k is in lane (5 k + w) mod `lanes` of
/// one of them. It is in a different lane for each node, so blends collect one word of all nodes,
/// and a rotation by w restores the order of word 0.
[[nodiscard]] constexpr int lane_of_node(int lanes, int node) noexcept {
  return kNodeWords * node % lanes;
}
[[nodiscard]] constexpr int node_of_lane(int lanes, int lane) noexcept {
  int node = 0;
  while (lane_of_node(lanes, node) != lane) ++node;
  return node;
}

/// The lanes of vector `vector` that contain word `w` of a node.
[[nodiscard]] constexpr unsigned lanes_of_word(int lanes, int w, int vector) noexcept {
  unsigned found = 0;
  for (int node = 0; node < lanes; ++node) {
    const int at = kNodeWords * node + w;
    if (at / lanes == vector) found |= 1U << (at % lanes);
  }
  return found;
}

template <class V, int w>
PYENGINE_VECTORS inline typename V::Int word(
    const typename V::Int (&vectors)[kNodeWords]) noexcept {
  typename V::Int words = vectors[0];
  words = V::template blend<lanes_of_word(V::kLanes, w, 1)>(words, vectors[1]);
  words = V::template blend<lanes_of_word(V::kLanes, w, 2)>(words, vectors[2]);
  words = V::template blend<lanes_of_word(V::kLanes, w, 3)>(words, vectors[3]);
  words = V::template blend<lanes_of_word(V::kLanes, w, 4)>(words, vectors[4]);
  return V::template rotate<w % V::kLanes>(words);
}

template <class V>
PYENGINE_VECTORS inline Words<V> words_of(const Node* nodes) noexcept {
  const auto* memory = reinterpret_cast<const std::byte*>(nodes);
  typename V::Int vectors[kNodeWords];
  for (int i = 0; i < kNodeWords; ++i) vectors[i] = V::load(memory + 8 * V::kLanes * i);
  return {word<V, 0>(vectors), word<V, 1>(vectors), word<V, 4>(vectors)};
}

/// The first four or eight children, which are in blocks of 1, 1, 2 and 4.
template <int lanes>
struct FirstNodes {
  Node* nodes[lanes];
};

/// Lanes beyond `count` repeat the first child, or point into a block where no node exists yet.
template <int lanes>
FirstNodes<lanes> first_nodes(const Arena& arena, const Node& node, int count) noexcept {
  auto* block = arena.at<FirstBlock>(node.children);
  FirstNodes<lanes> first;
  std::fill_n(first.nodes, lanes, block->nodes());
  if (count > 1) first.nodes[1] = arena.at<Node>(block->links[0]);
  if (count > 2) {
    first.nodes[2] = arena.at<Node>(block->links[1]);
    first.nodes[3] = first.nodes[2] + 1;
  }
  if constexpr (lanes == 8) {
    if (count > 4) {
      first.nodes[4] = arena.at<Node>(block->links[2]);
      for (int i = 5; i < 8; ++i) first.nodes[i] = first.nodes[4] + (i - 4);
    }
  }
  return first;
}

template <class V>
PYENGINE_VECTORS inline Words<V> words_of(const FirstNodes<V::kLanes>& first) noexcept {
  const auto word = [&](std::size_t offset) {
    return [&first, offset](int i) {
      long long value;
      std::memcpy(&value, reinterpret_cast<const std::byte*>(first.nodes[i]) + offset, 8);
      return value;
    };
  };
  return {V::each(word(0)), V::each(word(8)), V::each(word(32))};
}

/// unpack_prior() in every lane, producing the same bits as doubles.
template <class V>
PYENGINE_VECTORS inline typename V::Double priors(typename V::Int rest) noexcept {
  constexpr int kCodeShift = 52 - 11;  // 5-bit exponent and 11-bit mantissa
  constexpr long long kBase = (1023LL - 31) << 52;
  const auto code =
      V::template shift_left<kCodeShift - kPriorShift>(rest) & V::all(0xFFFFLL << kCodeShift);
  return V::where(V::not_zero(code), V::as_doubles(code + V::all(kBase)));
}

template <class V>
PYENGINE_VECTORS void keep(unsigned fresh, typename V::Int places, typename V::Double bonus,
                           std::vector<Unvisited>& unvisited) noexcept {
  double lanes[V::kLanes];
  long long place[V::kLanes];
  std::memcpy(lanes, &bonus, sizeof lanes);
  std::memcpy(place, &places, sizeof place);
  for (; fresh != 0; fresh &= fresh - 1) {
    const int lane = std::countr_zero(fresh);
    unvisited.push_back({static_cast<int>(place[lane]), lanes[lane]});
  }
}

template <class V>
struct Scored {
  typename V::Double score;  ///< -infinity in lanes that must not be chosen
  typename V::Double visited_prior;
};

/// Lanes of `places` from `count` on are not children. All lanes divide, since waiting for a mask
/// would take longer.
template <class V>
PYENGINE_VECTORS inline Scored<V> score(const Words<V>& words, typename V::Int places, int count,
                                        const puct::Parent& parent,
                                        std::vector<Unvisited>& unvisited) noexcept {
  using Mask = typename V::Mask;
  const auto completed = V::low_halves(words.counts);
  const auto flying = V::high_halves(words.counts);
  auto sum = V::to_doubles(words.sums) * V::all(kValueUnit);
  auto visits = completed;
  if (parent.loss != 0.0) {
    const auto losses = V::all(parent.loss) * flying;
    sum = sum - losses;
    visits = visits + losses;
  }
  const auto prior = priors<V>(words.rest);
  const auto total = completed + flying;
  const auto bonus = V::all(parent.rate) * prior * V::all(parent.sqrt_n) / (V::all(1.0) + total);
  const Mask used = V::less(places, V::all(static_cast<long long>(count)));
  Mask open = used;
  if (parent.lost != Proof::none) {
    const auto proof = words.rest & V::all(0xFFLL << kProofShift);
    const long long lost = static_cast<std::uint8_t>(parent.lost);
    open = static_cast<Mask>(used & ~V::equal(proof, V::all(lost << kProofShift)));
  }
  const Mask valued = V::not_zero(visits);
  const unsigned fresh = V::bits(static_cast<Mask>(open & ~valued));
  if (fresh != 0) keep<V>(fresh, places, bonus, unvisited);
  return {V::select(static_cast<Mask>(open & valued), sum / visits + bonus,
                    V::all(-std::numeric_limits<double>::infinity())),
          V::where(static_cast<Mask>(used & V::not_zero(completed)), prior)};
}

/// The best candidate of each lane so far.
template <class V>
struct Bests {
  typename V::Double score;
  typename V::Double visited_prior;  ///< sum over all
  typename V::Int places;
  typename V::Int nodes;  ///< their addresses
};

/// The first candidate with the largest score.
template <class V>
PYENGINE_VECTORS inline Scan first_best(const Bests<V>& best) noexcept {
  Scan scan;
  scan.score = V::largest(best.score);
  // Exact in any order: priors are multiples of 2^-42, and their sum is near 1.
  scan.visited_prior = V::sum(best.visited_prior);
  const long long place = V::least(V::equal(best.score, V::all(scan.score)), best.places);
  scan.place = static_cast<int>(place);
  Node* nodes[V::kLanes];
  std::memcpy(nodes, &best.nodes, sizeof nodes);
  scan.child = nodes[std::countr_zero(V::bits(V::equal(best.places, V::all(place))))];
  return scan;
}

template <class V>
PYENGINE_VECTORS Scan scan_wide(const Arena& arena, const Node& node, int count,
                                const puct::Parent& parent,
                                std::vector<Unvisited>& unvisited) noexcept {
  constexpr int kLanes = V::kLanes;
  const auto few = first_nodes<kLanes>(arena, node, count);
  auto places = V::each([](int i) { return static_cast<long long>(i); });
  const Scored<V> begin = score<V>(words_of<V>(few), places, count, parent, unvisited);
  if (count <= kLanes) {
    Scan scan;
    scan.score = V::largest(begin.score);
    scan.visited_prior = V::sum(begin.visited_prior);
    scan.place = std::countr_zero(V::bits(V::equal(begin.score, V::all(scan.score))));
    scan.child = few.nodes[scan.place];
    return scan;
  }
  Bests<V> best{begin.score, begin.visited_prior, places,
                V::each([&](int i) { return std::bit_cast<long long>(few.nodes[i]); })};
  places = V::each([](int i) { return static_cast<long long>(node_of_lane(kLanes, i)); });
  const auto offsets = places * static_cast<long long>(sizeof(Node));
  constexpr int kFirstBlock = std::bit_width(static_cast<unsigned>(kLanes));  // has kLanes nodes
  BlockIndex index = arena.at<FirstBlock>(node.children)->links[kFirstBlock - 1];
  for (int block = kFirstBlock, first = kLanes;; ++block) {
    const int end = std::min(first + block_capacity(block), count);
    for (Node* nodes = block_nodes(arena, block, index); first < end; nodes += kLanes) {
      places = places + V::all(static_cast<long long>(kLanes));
      const Scored<V> next = score<V>(words_of<V>(nodes), places, count, parent, unvisited);
      const auto better = V::greater(next.score, best.score);
      best.score = V::select(better, next.score, best.score);
      best.places = V::select(better, places, best.places);
      best.nodes = V::select(better, offsets + V::all(std::bit_cast<long long>(nodes)), best.nodes);
      best.visited_prior = best.visited_prior + next.visited_prior;
      first += kLanes;
    }
    if (end == count) return first_best<V>(best);
    index = *block_link(arena, const_cast<Node&>(node), block + 1,
                        index);  // may not contain a node yet
  }
}

}  // namespace
}  // namespace pyengine

#endif
