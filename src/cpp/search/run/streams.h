/// The random streams of searches: which search has which, so that no two share one.
#pragma once

#include <cstdint>

#include "base/rng.h"

namespace pyengine {

inline constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;  ///< 2^64 / golden ratio, odd
inline constexpr int kFirstSearches = 24;  ///< bits: these have wide ranges of numbers

/// Number of the first leaf of a search. A leaf takes one, and a search has at most 2^32 leaves,
/// beside a few numbers that leases leave unused: the ranges of the first 2^24 searches are 2^39
/// wide, and those of 63 times as many lie in the gaps. An evaluator knows the engine's seed alone,
/// so the seed of the call is in the numbers.
[[nodiscard]] inline std::uint64_t first_number(std::uint64_t seed, std::uint64_t search) noexcept {
  const std::uint64_t turn = search >> kFirstSearches;
  const std::uint64_t gap = (turn % 64) << 33;
  return (search << 40 >> 1) + gap + (seed + turn / 64) * kGolden;
}

/// Beside the streams of leaves, which are even.
[[nodiscard]] inline Rng noise_stream(std::uint64_t seed, std::uint64_t search) {
  return Rng(seed + (search >> kFirstSearches) * kGolden, (search << 40) + 1);
}

}  // namespace pyengine
