/// CPU features from CPUID. __builtin_cpu_supports() always answers "no" if the compiler's runtime
/// library lacks the CPU model.
#pragma once

#include <string>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

namespace pyengine {

/// Instruction sets that the CPU supports and the operating system enables.
struct CpuVectors {
  bool avx2 = false;
  bool avx512 = false;  ///< F and DQ
  /// POPCNT, LZCNT, BMI1 and BMI2. They were introduced with AVX2 but are separate features.
  bool bit_counts = false;
};

/// [Intel 64 manual, volume 1, 14.3 and 15.2]
[[nodiscard]] inline CpuVectors cpu_vectors() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  constexpr unsigned kOsSavesVectors = 1U << 27, kPopcnt = 1U << 23;      // leaf 1, ECX
  constexpr unsigned kAvx2 = 1U << 5, kAvx512 = (1U << 16) | (1U << 17);  // leaf 7, EBX
  constexpr unsigned kBmi = (1U << 3) | (1U << 8);                        // leaf 7, EBX
  constexpr unsigned kLzcnt = 1U << 5;                                    // leaf 0x80000001, ECX
  constexpr unsigned kSaved256 = 0x06, kSaved512 = 0xE6;                  // XCR0
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsSavesVectors) == 0) return {};
  const bool popcnt = (c & kPopcnt) != 0;
  const bool lzcnt = __get_cpuid(0x80000001U, &a, &b, &c, &d) != 0 && (c & kLzcnt) != 0;
  unsigned saved = 0, upper = 0;
  asm volatile("xgetbv" : "=a"(saved), "=d"(upper) : "c"(0));
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return {};
  return {.avx2 = (b & kAvx2) != 0 && (saved & kSaved256) == kSaved256,
          .avx512 = (b & kAvx512) == kAvx512 && (saved & kSaved512) == kSaved512,
          .bit_counts = popcnt && lzcnt && (b & kBmi) == kBmi};
#else
  return {};
#endif
}

/// The missing features of x86-64-v2, such as "SSSE3, POPCNT"; empty on other architectures.
/// [x86-64 psABI, section 3.1.1]
[[nodiscard]] inline std::string missing_of_x86_64_v2() {
  std::string missing;
#if defined(__x86_64__) && defined(__GNUC__)
  struct Feature {
    const char* name;
    unsigned bit;  // of leaf 1, ECX
  };
  constexpr Feature kNeeded[] = {{"SSE3", 0},    {"SSSE3", 9},   {"CMPXCHG16B", 13},
                                 {"SSE4.1", 19}, {"SSE4.2", 20}, {"POPCNT", 23}};
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return missing;
  for (const auto& [name, bit] : kNeeded) {
    if ((c >> bit & 1U) == 0) missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
#endif
  return missing;
}

}  // namespace pyengine
