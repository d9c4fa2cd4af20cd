#define PYENGINE_TARGET "avx512f,avx512dq"
#include "search/rules/scan_wide.h"

namespace pyengine {

#if defined(PYENGINE_VECTORS)
#if !defined(__clang__)
// GCC 12's header implements many intrinsics with undefined lanes.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
namespace {

/// Eight numbers at a time.
struct Eight {
  using Int = __m512i;
  using Double = __m512d;
  using Mask = __mmask8;
  static constexpr int kLanes = 8;
  static constexpr Mask kAll = 0xFF;

  PYENGINE_VECTORS static Int load(const void* memory) noexcept {
    return _mm512_loadu_si512(memory);
  }
  template <class At>
  PYENGINE_VECTORS static Int each(At at) noexcept {
    return _mm512_set_epi64(at(7), at(6), at(5), at(4), at(3), at(2), at(1), at(0));
  }
  PYENGINE_VECTORS static Int all(long long value) noexcept { return _mm512_set1_epi64(value); }
  PYENGINE_VECTORS static Double all(double value) noexcept { return _mm512_set1_pd(value); }

  template <unsigned lanes>
  PYENGINE_VECTORS static Int blend(Int a, Int b) noexcept {
    return _mm512_mask_mov_epi64(a, static_cast<Mask>(lanes), b);
  }
  template <int w>
  PYENGINE_VECTORS static Int rotate(Int a) noexcept {
    return w == 0 ? a : _mm512_maskz_alignr_epi64(kAll, a, a, w);
  }
  template <int bits>
  PYENGINE_VECTORS static Int shift_left(Int a) noexcept {
    return _mm512_maskz_slli_epi64(kAll, a, bits);
  }

  /// Rounded once, like the scalar conversion.
  PYENGINE_VECTORS static Double to_doubles(Int a) noexcept { return _mm512_cvtepi64_pd(a); }
  /// The lower and upper 32 bits, unsigned.
  PYENGINE_VECTORS static Double low_halves(Int a) noexcept {
    return _mm512_cvtepi64_pd(a & all(0xFFFFFFFFLL));
  }
  PYENGINE_VECTORS static Double high_halves(Int a) noexcept {
    return _mm512_cvtepi64_pd(_mm512_maskz_srli_epi64(kAll, a, 32));
  }
  PYENGINE_VECTORS static Double as_doubles(Int a) noexcept { return _mm512_castsi512_pd(a); }

  PYENGINE_VECTORS static Mask not_zero(Int a) noexcept { return _mm512_test_epi64_mask(a, a); }
  PYENGINE_VECTORS static Mask not_zero(Double a) noexcept {
    return _mm512_cmp_pd_mask(a, all(0.0), _CMP_NEQ_OQ);
  }
  PYENGINE_VECTORS static Mask less(Int a, Int b) noexcept { return _mm512_cmplt_epi64_mask(a, b); }
  PYENGINE_VECTORS static Mask equal(Int a, Int b) noexcept {
    return _mm512_cmpeq_epi64_mask(a, b);
  }
  PYENGINE_VECTORS static Mask equal(Double a, Double b) noexcept {
    return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
  }
  PYENGINE_VECTORS static Mask greater(Double a, Double b) noexcept {
    return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ);
  }
  PYENGINE_VECTORS static unsigned bits(Mask mask) noexcept { return mask; }

  PYENGINE_VECTORS static Double where(Mask mask, Double a) noexcept {
    return _mm512_maskz_mov_pd(mask, a);
  }
  PYENGINE_VECTORS static Double select(Mask mask, Double yes, Double no) noexcept {
    return _mm512_mask_mov_pd(no, mask, yes);
  }
  PYENGINE_VECTORS static Int select(Mask mask, Int yes, Int no) noexcept {
    return _mm512_mask_mov_epi64(no, mask, yes);
  }

  PYENGINE_VECTORS static double largest(Double a) noexcept { return _mm512_reduce_max_pd(a); }
  PYENGINE_VECTORS static double sum(Double a) noexcept { return _mm512_reduce_add_pd(a); }
  /// The minimum over the selected lanes.
  PYENGINE_VECTORS static long long least(Mask lanes, Int a) noexcept {
    return _mm512_mask_reduce_min_epi64(lanes, a);
  }
};

}  // namespace

ScanChildren avx512_scan_children() noexcept {
  static const bool has = cpu_vectors().avx512;
  return has ? &scan_wide<Eight> : nullptr;
}

#else

ScanChildren avx512_scan_children() noexcept { return nullptr; }

#endif

}  // namespace pyengine
