#define PYENGINE_TARGET "avx2"
#include "search/rules/scan_wide.h"

namespace pyengine {

#if defined(PYENGINE_VECTORS)
namespace {

/// Four numbers at a time. AVX2 cannot convert 64-bit integers to doubles, so the functions below
/// use doubles from 2^52 on, whose mantissa has units of one.
struct Four {
  using Int = __m256i;
  using Double = __m256d;
  using Mask = __m256i;  ///< all or no bits set per lane
  static constexpr int kLanes = 4;

  PYENGINE_VECTORS static Int load(const void* memory) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i_u*>(memory));
  }
  template <class At>
  PYENGINE_VECTORS static Int each(At at) noexcept {
    return _mm256_set_epi64x(at(3), at(2), at(1), at(0));
  }
  PYENGINE_VECTORS static Int all(long long value) noexcept { return _mm256_set1_epi64x(value); }
  PYENGINE_VECTORS static Double all(double value) noexcept { return _mm256_set1_pd(value); }

  template <unsigned lanes>
  PYENGINE_VECTORS static Int blend(Int a, Int b) noexcept {
    constexpr unsigned kEven = (lanes & 1U) | (lanes & 2U) << 1 | (lanes & 4U) << 2 |
        (lanes & 8U) << 3;  // of eight halves
    return lanes == 0 ? a : _mm256_blend_epi32(a, b, static_cast<int>(3 * kEven));
  }
  template <int w>
  PYENGINE_VECTORS static Int rotate(Int a) noexcept {
    constexpr int kOrder = w | (w + 1) % 4 << 2 | (w + 2) % 4 << 4 | (w + 3) % 4 << 6;
    return w == 0 ? a : _mm256_permute4x64_epi64(a, kOrder);
  }
  template <int bits>
  PYENGINE_VECTORS static Int shift_left(Int a) noexcept {
    return _mm256_slli_epi64(a, bits);
  }

  static constexpr long long kTwo52 = 0x433LL << 52;  ///< 2^52 as a double
  static constexpr long long kTwo84 = 0x453LL << 52;  ///< 2^84: its mantissa has units of 2^32
  static constexpr int kUpper = 0xAA;                 ///< the upper half of each lane
  /// Rounded once, like the scalar conversion: both halves are exact and their sum is rounded.
  PYENGINE_VECTORS static Double to_doubles(Int a) noexcept {
    const Int low = _mm256_blend_epi32(a, all(kTwo52), kUpper);
    // The flipped sign bit adds 2^63, which is subtracted below.
    const Int high = _mm256_srli_epi64(a, 32) ^ all(kTwo84 | 1LL << 31);
    return (as_doubles(high) - all(0x1p84 + 0x1p63 + 0x1p52)) + as_doubles(low);
  }
  /// The lower and upper 32 bits, unsigned.
  PYENGINE_VECTORS static Double low_halves(Int a) noexcept {
    return as_doubles(_mm256_blend_epi32(a, all(kTwo52), kUpper)) - all(0x1p52);
  }
  PYENGINE_VECTORS static Double high_halves(Int a) noexcept {
    return as_doubles(_mm256_srli_epi64(a, 32) | all(kTwo52)) - all(0x1p52);
  }
  PYENGINE_VECTORS static Double as_doubles(Int a) noexcept { return _mm256_castsi256_pd(a); }
  PYENGINE_VECTORS static Mask as_mask(Double a) noexcept { return _mm256_castpd_si256(a); }

  PYENGINE_VECTORS static Mask not_zero(Int a) noexcept { return ~equal(a, all(0LL)); }
  PYENGINE_VECTORS static Mask not_zero(Double a) noexcept {
    return as_mask(_mm256_cmp_pd(a, all(0.0), _CMP_NEQ_OQ));
  }
  PYENGINE_VECTORS static Mask less(Int a, Int b) noexcept { return _mm256_cmpgt_epi64(b, a); }
  PYENGINE_VECTORS static Mask equal(Int a, Int b) noexcept { return _mm256_cmpeq_epi64(a, b); }
  PYENGINE_VECTORS static Mask equal(Double a, Double b) noexcept {
    return as_mask(_mm256_cmp_pd(a, b, _CMP_EQ_OQ));
  }
  PYENGINE_VECTORS static Mask greater(Double a, Double b) noexcept {
    return as_mask(_mm256_cmp_pd(a, b, _CMP_GT_OQ));
  }
  PYENGINE_VECTORS static unsigned bits(Mask mask) noexcept {
    return static_cast<unsigned>(_mm256_movemask_pd(as_doubles(mask)));
  }

  PYENGINE_VECTORS static Double where(Mask mask, Double a) noexcept {
    return as_doubles(mask & as_mask(a));
  }
  PYENGINE_VECTORS static Double select(Mask mask, Double yes, Double no) noexcept {
    return _mm256_blendv_pd(no, yes, as_doubles(mask));
  }
  PYENGINE_VECTORS static Int select(Mask mask, Int yes, Int no) noexcept {
    return as_mask(select(mask, as_doubles(yes), as_doubles(no)));
  }

  PYENGINE_VECTORS static double largest(Double a) noexcept {
    const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
  }
  PYENGINE_VECTORS static double sum(Double a) noexcept {
    const __m128d two = _mm256_castpd256_pd128(a) + _mm256_extractf128_pd(a, 1);
    return two[0] + two[1];
  }
  /// The minimum over the selected lanes; all values are between 0 and 2^31.
  PYENGINE_VECTORS static long long least(Mask lanes, Int a) noexcept {
    const Int kept = a | ~lanes;
    const __m128i two =
        _mm_min_epu32(_mm256_castsi256_si128(kept), _mm256_extracti128_si256(kept, 1));
    return _mm_cvtsi128_si64(_mm_min_epu32(two, _mm_unpackhi_epi64(two, two)));
  }
};

}  // namespace

ScanChildren avx2_scan_children() noexcept {
  static const bool has = cpu_vectors().avx2;
  return has ? &scan_wide<Four> : nullptr;
}

#else

ScanChildren avx2_scan_children() noexcept { return nullptr; }

#endif

}  // namespace pyengine
