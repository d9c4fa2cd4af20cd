/// Assigns random streams to searches so that no two share one.
#pragma once

#include <cstdint>

#include "base/rng.h"

namespace pyengine {

inline constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;  ///< 2^64 / golden ratio, odd
inline constexpr int kFirstSearches = 24;  ///< log2 of the number of searches with wide ranges

/// Number of the first leaf of a search. Each leaf takes one number, and a search has at most 2^32
/// leaves plus a few numbers that leases leave unused. The ranges of the first 2^24 searches are
/// 2^39 wide; the next 63 * 2^24 searches use the gaps. Evaluators only know the engine's seed, so
/// the numbers include the seed of the call.
[[nodiscard]] inline std::uint64_t first_number(std::uint64_t seed, std::uint64_t search) noexcept {
  const std::uint64_t turn = search >> kFirstSearches;
  const std::uint64_t gap = (turn % 64) << 33;
  return (search << 40 >> 1) + gap + (seed + turn / 64) * kGolden;
}

/// Odd; the streams of leaves are even.
[[nodiscard]] inline Rng noise_stream(std::uint64_t seed, std::uint64_t search) {
  return Rng(seed + (search >> kFirstSearches) * kGolden, (search << 40) + 1);
}

}  // namespace pyengine
