/// Which vector instructions the processor has and the operating system lets programs use.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace pyengine {

struct CpuVectors {
  bool avx2 = false;
  bool avx512 = false;  ///< the parts F and DQ
};

/// Reads CPUID itself: __builtin_cpu_supports answers "no" to everything where the runtime library
/// of the compiler keeps no model of the processor. Intel 64 manual, volume 1, 14.3 and 15.2.
[[nodiscard]] inline CpuVectors cpu_vectors() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  constexpr unsigned kOsSavesVectors = 1U << 27;                          // leaf 1, ECX
  constexpr unsigned kAvx2 = 1U << 5, kAvx512 = (1U << 16) | (1U << 17);  // leaf 7, EBX
  constexpr unsigned kSaved256 = 0x06, kSaved512 = 0xE6;                  // XCR0
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsSavesVectors) == 0) return {};
  unsigned saved = 0, upper = 0;
  asm volatile("xgetbv" : "=a"(saved), "=d"(upper) : "c"(0));
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return {};
  return {.avx2 = (b & kAvx2) != 0 && (saved & kSaved256) == kSaved256,
          .avx512 = (b & kAvx512) == kAvx512 && (saved & kSaved512) == kSaved512};
#else
  return {};
#endif
}

}  // namespace pyengine
