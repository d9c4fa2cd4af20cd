#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "search/scan.h"

// ThreadSanitizer would see vectors read what other threads write as atomics.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define PYENGINE_AVX512 __attribute__((target("avx512f,avx512dq")))
#include <immintrin.h>
#if !defined(__clang__)
// The header of GCC 12 begins many instructions with lanes that it leaves undefined.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

namespace pyengine {

#if defined(PYENGINE_AVX512)
namespace {

// A node is five words of 8 bytes; these three are read.
static_assert(sizeof(Node) == 40 && std::endian::native == std::endian::little);
static_assert(offsetof(Node, value_sum) == 0);
static_assert(offsetof(Node, visits) == 8 && offsetof(Node, in_flight) == 12);
static_assert(offsetof(Node, prior) == 34 && offsetof(Node, proof) == 37);
constexpr int kPriorShift = 16;  ///< within the word at 32
constexpr int kProofShift = 40;

constexpr __mmask8 kAll = 0xFF;

/// A word of each of eight nodes.
struct Words {
  __m512i sums;    ///< value_sum
  __m512i counts;  ///< visits, in_flight
  __m512i rest;    ///< the word with prior and proof
};

/// Of eight nodes side by side, node k has its word w in lane (5 k + w) mod 8 of one of five
/// vectors: no two nodes in the same lane, so that blends put eight words together. A rotation by w
/// gives all words one order: lane p holds node kNodeOfLane[p].
constexpr int kNodeOfLane[8] = {0, 5, 2, 7, 4, 1, 6, 3};

/// The lanes of vector `vector` in which word `w` of a node lies.
constexpr __mmask8 lanes_of_word(int w, int vector) noexcept {
  unsigned lanes = 0;
  for (int node = 0; node < 8; ++node) {
    const int at = 5 * node + w;
    if (at / 8 == vector) lanes |= 1U << (at % 8);
  }
  return static_cast<__mmask8>(lanes);
}

template <int w>
PYENGINE_AVX512 inline __m512i word(const __m512i (&vectors)[5]) noexcept {
  __m512i words = vectors[0];
  words = _mm512_mask_mov_epi64(words, lanes_of_word(w, 1), vectors[1]);
  words = _mm512_mask_mov_epi64(words, lanes_of_word(w, 2), vectors[2]);
  words = _mm512_mask_mov_epi64(words, lanes_of_word(w, 3), vectors[3]);
  words = _mm512_mask_mov_epi64(words, lanes_of_word(w, 4), vectors[4]);
  return w == 0 ? words : _mm512_maskz_alignr_epi64(kAll, words, words, w);
}

PYENGINE_AVX512 inline Words words_of(const Node* nodes) noexcept {
  const auto* memory = reinterpret_cast<const std::byte*>(nodes);
  __m512i vectors[5];
  for (int i = 0; i < 5; ++i) vectors[i] = _mm512_loadu_si512(memory + 64 * i);
  return {word<0>(vectors), word<1>(vectors), word<4>(vectors)};
}

/// unpack_prior() of eight: the same bits, written as doubles.
PYENGINE_AVX512 inline __m512d priors(__m512i rest) noexcept {
  constexpr long long kBaseOfDouble = (1023LL - 31) << 11;
  const __m512i code =
      _mm512_and_si512(_mm512_maskz_srli_epi64(kAll, rest, kPriorShift), _mm512_set1_epi64(0xFFFF));
  const __m512i bits = _mm512_maskz_slli_epi64(
      kAll, _mm512_add_epi64(code, _mm512_set1_epi64(kBaseOfDouble)), 52 - 11);
  return _mm512_castsi512_pd(_mm512_maskz_mov_epi64(_mm512_test_epi64_mask(code, code), bits));
}

/// The first eight children, which lie in blocks of 1, 1, 2 and 4.
struct FirstEight {
  const Node* nodes[8];
};

/// Places beyond `count` repeat the first child or are memory of a block without a node yet.
inline FirstEight first_eight(const Arena& arena, const Node& node, int count) noexcept {
  auto* block = arena.at<FirstBlock>(node.children);
  const Node* zero = block->nodes();
  const Node* one = count > 1 ? arena.at<Node>(block->links[0]) : zero;
  FirstEight first{{zero, one, zero, zero, zero, zero, zero, zero}};
  if (count > 2) {
    first.nodes[2] = arena.at<Node>(block->links[1]);
    first.nodes[3] = first.nodes[2] + 1;
  }
  if (count > 4) {
    first.nodes[4] = arena.at<Node>(block->links[2]);
    for (int i = 5; i < 8; ++i) first.nodes[i] = first.nodes[4] + (i - 4);
  }
  return first;
}

/// The word at `offset` of eight nodes, in their order.
PYENGINE_AVX512 inline __m512i word(const Node* const (&nodes)[8], std::size_t offset) noexcept {
  const auto at = [&](int i) {
    long long value;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(nodes[i]) + offset, sizeof value);
    return value;
  };
  return _mm512_set_epi64(at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0));
}

/// Eight children scored.
struct Scored {
  __m512d score;  ///< -infinity in lanes that are not to be chosen
  __m512d visited_prior;
};

PYENGINE_AVX512 void keep(unsigned fresh, __m512i places, __m512d bonus,
                          std::vector<Unvisited>& unvisited) noexcept {
  alignas(64) double lanes[8];
  alignas(64) long long place[8];
  _mm512_store_pd(lanes, bonus);
  _mm512_store_si512(place, places);
  for (; fresh != 0; fresh &= fresh - 1) {
    const int lane = std::countr_zero(fresh);
    unvisited.push_back({static_cast<int>(place[lane]), lanes[lane]});
  }
}

/// `used`: which lanes are children. Divisions are not masked: what they would wait for takes
/// longer than they do.
PYENGINE_AVX512 inline Scored score(const Words& words, __m512i places, __mmask8 used,
                                    const ScoreTask& task,
                                    std::vector<Unvisited>& unvisited) noexcept {
  const __m512i low = _mm512_set1_epi64(0xFFFFFFFF);
  const __m512i completed = _mm512_and_si512(words.counts, low);
  const __m512i flying = _mm512_maskz_srli_epi64(kAll, words.counts, 32);
  const __mmask8 visited = _mm512_test_epi64_mask(words.counts, low);
  __mmask8 judged = visited;
  __m512d sum = _mm512_mul_pd(_mm512_cvtepi64_pd(words.sums), _mm512_set1_pd(kValueUnit));
  __m512d visits = _mm512_cvtepi64_pd(completed);
  if (task.loss != 0.0) {
    const __m512d losses = _mm512_mul_pd(_mm512_set1_pd(task.loss), _mm512_cvtepi64_pd(flying));
    sum = _mm512_sub_pd(sum, losses);
    visits = _mm512_add_pd(visits, losses);
    judged = _mm512_test_epi64_mask(words.counts, words.counts);
  }
  const __m512d prior = priors(words.rest);
  const __m512d total = _mm512_cvtepi64_pd(_mm512_add_epi64(completed, flying));
  const __m512d bonus = _mm512_div_pd(
      _mm512_mul_pd(_mm512_mul_pd(_mm512_set1_pd(task.rate), prior), _mm512_set1_pd(task.root)),
      _mm512_add_pd(_mm512_set1_pd(1.0), total));
  if (task.lost != Proof::none) {
    const __m512i proof = _mm512_and_si512(_mm512_maskz_srli_epi64(kAll, words.rest, kProofShift),
                                           _mm512_set1_epi64(0xFF));
    const __m512i lost = _mm512_set1_epi64(static_cast<std::uint8_t>(task.lost));
    const __mmask8 open = _mm512_mask_cmpneq_epi64_mask(used, proof, lost);
    const auto fresh = static_cast<__mmask8>(open & ~judged);
    if (fresh != 0) keep(fresh, places, bonus, unvisited);
    judged &= open;
  } else if (const auto fresh = static_cast<__mmask8>(used & ~judged); fresh != 0) {
    keep(fresh, places, bonus, unvisited);
  }
  judged &= used;
  return {_mm512_mask_add_pd(_mm512_set1_pd(-std::numeric_limits<double>::infinity()), judged,
                             _mm512_div_pd(sum, visits), bonus),
          _mm512_maskz_mov_pd(visited & used, prior)};
}

/// The lanes of the first `count` of eight children in their order, and in that of word().
[[nodiscard]] inline __mmask8 first_lanes(int count) noexcept {
  return static_cast<__mmask8>(count >= 8 ? 0xFF : (1 << count) - 1);
}
[[nodiscard]] inline __mmask8 first_mixed_lanes(int count) noexcept {
  constexpr std::uint8_t kLanes[8] = {0x00, 0x01, 0x21, 0x25, 0xA5, 0xB5, 0xB7, 0xF7};
  return count >= 8 ? __mmask8{0xFF} : kLanes[count];
}

/// The best of each lane so far.
struct Bests {
  __m512d score;
  __m512d visited_prior;  ///< sum over all
  __m512i places;
  __m512i nodes;  ///< their addresses
};

/// The first of the largest scores.
PYENGINE_AVX512 inline Scan first_best(const Bests& best) noexcept {
  Scan scan;
  scan.score = _mm512_reduce_max_pd(best.score);
  // Exact in any order: a prior is a multiple of 2^-42 and the sum is near 1.
  scan.visited_prior = _mm512_reduce_add_pd(best.visited_prior);
  const __mmask8 equal = _mm512_cmp_pd_mask(best.score, _mm512_set1_pd(scan.score), _CMP_EQ_OQ);
  const long long place = _mm512_mask_reduce_min_epi64(equal, best.places);
  scan.place = static_cast<int>(place);
  const auto lane = std::countr_zero(static_cast<unsigned>(
      _mm512_mask_cmpeq_epi64_mask(equal, best.places, _mm512_set1_epi64(place))));
  alignas(64) Node* nodes[8];
  _mm512_store_si512(nodes, best.nodes);
  scan.child = nodes[lane];
  return scan;
}

PYENGINE_AVX512 Scan scan_eights(const Arena& arena, const Node& node, int count,
                                 const ScoreTask& task,
                                 std::vector<Unvisited>& unvisited) noexcept {
  __m512i places = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const FirstEight few = first_eight(arena, node, count);
  const Scored begin = score({word(few.nodes, 0), word(few.nodes, 8), word(few.nodes, 32)}, places,
                             first_lanes(count), task, unvisited);
  Scan scan;
  if (count <= 8) {
    scan.score = _mm512_reduce_max_pd(begin.score);
    scan.visited_prior = _mm512_reduce_add_pd(begin.visited_prior);
    scan.place = std::countr_zero(static_cast<unsigned>(
        _mm512_cmp_pd_mask(begin.score, _mm512_set1_pd(scan.score), _CMP_EQ_OQ)));
    scan.child = const_cast<Node*>(few.nodes[scan.place]);
    return scan;
  }
  Bests best{begin.score, begin.visited_prior, places, _mm512_loadu_si512(few.nodes)};
  const auto& lane = kNodeOfLane;
  places = _mm512_set_epi64(lane[7], lane[6], lane[5], lane[4], lane[3], lane[2], lane[1], lane[0]);
  const auto offset = [&](int i) { return static_cast<long long>(sizeof(Node)) * lane[i]; };
  const __m512i offsets = _mm512_set_epi64(offset(7), offset(6), offset(5), offset(4), offset(3),
                                           offset(2), offset(1), offset(0));
  BlockIndex index = arena.at<FirstBlock>(node.children)->links[FirstBlock::kLinks - 1];
  for (int block = FirstBlock::kLinks, first = 8;; ++block) {
    auto* header = arena.at<LaterBlock>(index);
    const int end = std::min(first + block_capacity(block), count);
    for (Node* nodes = header->nodes(); first < end; first += 8, nodes += 8) {
      places = _mm512_add_epi64(places, _mm512_set1_epi64(8));
      const Scored next =
          score(words_of(nodes), places, first_mixed_lanes(end - first), task, unvisited);
      const __mmask8 better = _mm512_cmp_pd_mask(next.score, best.score, _CMP_GT_OQ);
      best.score = _mm512_mask_mov_pd(best.score, better, next.score);
      best.places = _mm512_mask_mov_epi64(best.places, better, places);
      best.nodes = _mm512_mask_add_epi64(best.nodes, better, offsets,
                                         _mm512_set1_epi64(std::bit_cast<long long>(nodes)));
      best.visited_prior = _mm512_add_pd(best.visited_prior, next.visited_prior);
    }
    if (end == count) return first_best(best);
    index = header->next;  // else it may be in the making
  }
}

}  // namespace

ScanChildren wide_scan_children() noexcept {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  return has ? &scan_eights : nullptr;
}

#else

ScanChildren wide_scan_children() noexcept { return nullptr; }

#endif

}  // namespace pyengine
