/// The rules of 8x8 Othello with AVX2: the four lanes of a vector are the directions +1, +8, +7 and
/// +9. Call only from functions with PYENGINE_OTHELLO_AVX2, on processors that support it.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define PYENGINE_OTHELLO_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#include <immintrin.h>

#include <array>
#include <cstdint>

#include "base/cpu.h"
#include "games/othello_rays.h"

namespace pyengine::othello {

[[nodiscard]] inline bool has_avx2() noexcept {
  static const CpuVectors cpu = cpu_vectors();
  return cpu.avx2 && cpu.bit_counts;
}

struct Avx2 {
  PYENGINE_OTHELLO_AVX2 static __m256i all(std::uint64_t word) noexcept {
    return _mm256_set1_epi64x(static_cast<long long>(word));
  }
  PYENGINE_OTHELLO_AVX2 static __m256i lanes(const std::array<std::uint64_t, 4>& words) noexcept {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(words.data()));
  }
  PYENGINE_OTHELLO_AVX2 static std::uint64_t any_lane(__m256i a) noexcept {
    const __m128i two = _mm_or_si128(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    return static_cast<std::uint64_t>(
        _mm_cvtsi128_si64(_mm_or_si128(two, _mm_unpackhi_epi64(two, two))));
  }

  /// `a` with the union of its lanes in every lane.
  PYENGINE_OTHELLO_AVX2 static __m256i in_every_lane(__m256i a) noexcept {
    const __m256i pairs = _mm256_or_si256(a, _mm256_permute4x64_epi64(a, 0x4E));
    return _mm256_or_si256(pairs, _mm256_shuffle_epi32(pairs, 0x4E));
  }

  PYENGINE_OTHELLO_AVX2 static std::uint64_t moves(std::uint64_t own,
                                                   std::uint64_t other) noexcept {
    return moves(all(own), all(other));
  }
  /// Every lane holds all discs, here and below.
  PYENGINE_OTHELLO_AVX2 static std::uint64_t moves(__m256i own, __m256i other) noexcept {
    const __m256i step = _mm256_set_epi64x(9, 7, 8, 1);
    const __m256i two_steps = _mm256_add_epi64(step, step);
    constexpr long long kInner = 0x7E7E7E7E7E7E7E7E;
    const __m256i over = _mm256_and_si256(other, _mm256_set_epi64x(kInner, kInner, -1, kInner));
    __m256i up = _mm256_and_si256(over, _mm256_sllv_epi64(own, step));
    __m256i down = _mm256_and_si256(over, _mm256_srlv_epi64(own, step));
    up = _mm256_or_si256(up, _mm256_and_si256(over, _mm256_sllv_epi64(up, step)));
    down = _mm256_or_si256(down, _mm256_and_si256(over, _mm256_srlv_epi64(down, step)));
    const __m256i pairs_up = _mm256_and_si256(over, _mm256_sllv_epi64(over, step));
    const __m256i pairs_down = _mm256_srlv_epi64(pairs_up, step);
    up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, two_steps)));
    down = _mm256_or_si256(down, _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, two_steps)));
    up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, two_steps)));
    down = _mm256_or_si256(down, _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, two_steps)));
    const __m256i beyond =
        _mm256_or_si256(_mm256_sllv_epi64(up, step), _mm256_srlv_epi64(down, step));
    return any_lane(_mm256_andnot_si256(_mm256_or_si256(own, other), beyond));
  }

  PYENGINE_OTHELLO_AVX2 static std::uint64_t flips(unsigned point, std::uint64_t own,
                                                   std::uint64_t other) noexcept {
    return any_lane(flips_by_line(point, all(own), all(other)));
  }
  PYENGINE_OTHELLO_AVX2 static __m256i flips(unsigned point, __m256i own, __m256i other) noexcept {
    return in_every_lane(flips_by_line(point, own, other));
  }
  /// On each ray the first point without an opponent's disc ends the run; the run is flipped if the
  /// player to move has a disc there.
  PYENGINE_OTHELLO_AVX2 static __m256i flips_by_line(unsigned point, __m256i mine,
                                                     __m256i theirs) noexcept {
    const Rays& rays = kRays[point];
    const __m256i zero = _mm256_setzero_si256();

    const __m256i up = lanes(rays.up);
    const __m256i up_ends = _mm256_andnot_si256(theirs, up);
    const __m256i up_end =
        _mm256_and_si256(_mm256_and_si256(up_ends, _mm256_sub_epi64(zero, up_ends)), mine);
    const __m256i below = _mm256_sub_epi64(_mm256_add_epi64(up_end, _mm256_set1_epi64x(-1)),
                                           _mm256_cmpeq_epi64(up_end, zero));

    const __m256i step = _mm256_set_epi64x(9, 7, 8, 1);
    const __m256i two_steps = _mm256_add_epi64(step, step);
    const __m256i down = lanes(rays.down);
    const __m256i down_ends = _mm256_andnot_si256(theirs, down);
    __m256i behind = _mm256_srlv_epi64(down_ends, step);
    behind = _mm256_or_si256(behind, _mm256_srlv_epi64(behind, step));
    behind = _mm256_or_si256(behind, _mm256_srlv_epi64(behind, two_steps));
    behind =
        _mm256_or_si256(behind, _mm256_srlv_epi64(behind, _mm256_add_epi64(two_steps, two_steps)));
    const __m256i down_end = _mm256_and_si256(_mm256_andnot_si256(behind, down_ends), mine);
    const __m256i above = _mm256_sub_epi64(zero, _mm256_add_epi64(down_end, down_end));

    return _mm256_or_si256(_mm256_and_si256(up, below), _mm256_and_si256(down, above));
  }

  PYENGINE_OTHELLO_AVX2 static int count(std::uint64_t discs) noexcept {
    return static_cast<int>(_mm_popcnt_u64(discs));
  }
  /// The index of the bit of `set` with `rank` smaller ones.
  PYENGINE_OTHELLO_AVX2 static unsigned nth(std::uint64_t set, unsigned rank) noexcept {
    return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(std::uint64_t{1} << rank, set)));
  }
};

}  // namespace pyengine::othello

#endif
