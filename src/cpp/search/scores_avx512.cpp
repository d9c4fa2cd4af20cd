#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

#include "search/scores.h"

// ThreadSanitizer would see vectors read what other threads write as atomics.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define PYENGINE_AVX512 __attribute__((target("avx512f,avx512dq")))
#include <immintrin.h>
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

/// The plain shifts of GCC 12's header warn of its own undefined lanes; masked ones do not.
constexpr __mmask8 kAll = 0xFF;

/// A word of each of eight nodes.
struct Words {
  __m512i sums;    ///< value_sum
  __m512i counts;  ///< visits, in_flight
  __m512i rest;    ///< the word with prior and proof
};

/// Picks lanes out of the five vectors that eight nodes fill: row r says which lane of what was
/// picked so far (0..7) or of vector r + 1 (8..15) goes where.
struct Pick {
  alignas(64) long long rows[4][8];
};
constexpr Pick kFirstWords = {{{0, 5, 10, 15, 0, 0, 0, 0},
                               {0, 1, 2, 3, 12, 0, 0, 0},
                               {0, 1, 2, 3, 4, 9, 14, 0},
                               {0, 1, 2, 3, 4, 5, 6, 11}}};
constexpr Pick kSecondWords = {{{1, 6, 11, 0, 0, 0, 0, 0},
                                {0, 1, 2, 8, 13, 0, 0, 0},
                                {0, 1, 2, 3, 4, 10, 15, 0},
                                {0, 1, 2, 3, 4, 5, 6, 12}}};
constexpr Pick kLastWords = {{{4, 9, 14, 0, 0, 0, 0, 0},
                              {0, 1, 2, 11, 0, 0, 0, 0},
                              {0, 1, 2, 3, 8, 13, 0, 0},
                              {0, 1, 2, 3, 4, 5, 10, 15}}};

PYENGINE_AVX512 inline __m512i pick(const Pick& pick, const __m512i (&from)[5]) noexcept {
  __m512i picked = from[0];
  for (int r = 0; r < 4; ++r) {
    picked = _mm512_permutex2var_epi64(picked, _mm512_load_si512(pick.rows[r]), from[r + 1]);
  }
  return picked;
}

PYENGINE_AVX512 inline Words read(const Node* nodes) noexcept {
  const auto* memory = reinterpret_cast<const std::byte*>(nodes);
  __m512i from[5];
  for (int i = 0; i < 5; ++i) from[i] = _mm512_loadu_si512(memory + i * 64);
  return {pick(kFirstWords, from), pick(kSecondWords, from), pick(kLastWords, from)};
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

PYENGINE_AVX512 double score_eights(const Node* nodes, int first, int count, const ScoreTask& task,
                                    double* scores, std::vector<int>& unvisited) noexcept {
  const __m512d loss = _mm512_set1_pd(task.loss);
  const __m512d none = _mm512_setzero_pd();
  const __m512i lost_code = _mm512_set1_epi64(static_cast<std::uint8_t>(task.lost));
  __m512d visited_prior = none;
  for (int i = 0; i < count; i += 8) {
    const int rest = count - i;
    const auto used = static_cast<__mmask8>(rest >= 8 ? 0xFF : (1 << rest) - 1);
    const Words words = read(nodes + i);
    const __m512i completed = _mm512_and_si512(words.counts, _mm512_set1_epi64(0xFFFFFFFF));
    const __m512i flying = _mm512_maskz_srli_epi64(kAll, words.counts, 32);
    const __m512d losses = _mm512_mul_pd(loss, _mm512_cvtepi64_pd(flying));
    const __m512d sum = _mm512_sub_pd(
        _mm512_mul_pd(_mm512_cvtepi64_pd(words.sums), _mm512_set1_pd(kValueUnit)), losses);
    const __m512d visits = _mm512_add_pd(_mm512_cvtepi64_pd(completed), losses);
    const __m512d total = _mm512_cvtepi64_pd(_mm512_add_epi64(completed, flying));
    const __m512d prior = priors(words.rest);

    auto lost = static_cast<__mmask8>(~used);
    if (task.lost != Proof::none) {
      const __m512i proof = _mm512_and_si512(_mm512_maskz_srli_epi64(kAll, words.rest, kProofShift),
                                             _mm512_set1_epi64(0xFF));
      lost |= _mm512_cmpeq_epi64_mask(proof, lost_code);
    }
    const __mmask8 judged = _mm512_cmp_pd_mask(visits, none, _CMP_NEQ_OQ);
    const __m512d mean = _mm512_maskz_div_pd(judged, sum, visits);
    const __m512d bonus = _mm512_div_pd(
        _mm512_mul_pd(_mm512_mul_pd(_mm512_set1_pd(task.rate), prior), _mm512_set1_pd(task.root)),
        _mm512_add_pd(_mm512_set1_pd(1.0), total));
    const __m512d score = _mm512_mask_mov_pd(
        _mm512_add_pd(mean, bonus), lost, _mm512_set1_pd(-std::numeric_limits<double>::infinity()));
    _mm512_storeu_pd(scores + i, score);

    const __mmask8 visited = _mm512_test_epi64_mask(completed, completed) & used;
    visited_prior = _mm512_mask_add_pd(visited_prior, visited, visited_prior, prior);
    for (unsigned left = static_cast<unsigned>(~judged & ~lost) & 0xFFU; left != 0;
         left &= left - 1) {
      unvisited.push_back(first + i + std::countr_zero(left));
    }
  }
  // Exact in any order: a prior is a multiple of 2^-42 and the sum is near 1.
  alignas(64) double lanes[8];
  _mm512_store_pd(lanes, visited_prior);
  return std::accumulate(lanes, lanes + 8, 0.0);
}

}  // namespace

ScoreNodes wide_score_nodes() noexcept {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  return has ? &score_eights : nullptr;
}

#else

ScoreNodes wide_score_nodes() noexcept { return nullptr; }

#endif

}  // namespace pyengine
