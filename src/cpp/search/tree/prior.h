/// Priors in 16 bits: 5-bit exponent, 11-bit mantissa. Relative error below 2^-12 down to 2^-31.
#pragma once

#include <bit>
#include <cstdint>

namespace pyengine {

using PackedPrior = std::uint16_t;

namespace prior_format {
inline constexpr int kDroppedBits = 12;                   ///< out of a float's 23 mantissa bits
inline constexpr std::uint32_t kExponentBias = 127 - 31;  ///< exponent code 31 is 2^0
inline constexpr std::uint32_t kBase = kExponentBias << 11;
}  // namespace prior_format

/// The nearest code of p in [0, 1]; 0 below 2^-31. Monotonic.
[[nodiscard]] inline PackedPrior pack_prior(float p) noexcept {
  using namespace prior_format;
  if (!(p >= 0x1p-31F)) return 0;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(p) + (1U << (kDroppedBits - 1));
  const std::uint32_t code = (bits >> kDroppedBits) - kBase;
  // Code 0 is reserved for zero, so the smallest value that would map to it is rounded up to code
  // 1.
  return static_cast<PackedPrior>(code < 1 ? 1 : (code > 0xFFFF ? 0xFFFF : code));
}

[[nodiscard]] inline float unpack_prior(PackedPrior code) noexcept {
  using namespace prior_format;
  if (code == 0) return 0.0F;
  return std::bit_cast<float>((code + kBase) << kDroppedBits);
}

}  // namespace pyengine
