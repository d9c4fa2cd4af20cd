#include "eval/network/softmax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/vectorised.h"

namespace pyengine {
namespace {

/// Maxima and sums are computed in this many parts: a fixed order of operations that suits vector
/// units.
constexpr std::size_t kParts = 16;
using Parts = std::array<float, kParts>;

/// exp(x) for x <= 0 or NaN: exp(n ln 2 + r) = 2^n exp(r) with |r| <= ln(2) / 2.
inline float exponential(float x) noexcept {
  constexpr float kLeast = -87.0F;     // exp(kLeast) is a normal number
  constexpr float kWhole = 0x1.8p23F;  // adding it rounds to an integer
  constexpr float kLog2E = 0x1.715476p+0F;
  constexpr float kLn2High = 0x1.62E4p-1F;  // its product with n is exact
  constexpr float kLn2Low = 0x1.7F7D1Cp-20F;
  const float bounded = x < kLeast ? kLeast : x;
  const float shifted = bounded * kLog2E + kWhole;
  const float n = shifted - kWhole;
  const float r = (bounded - n * kLn2High) - n * kLn2Low;
  // (exp(r) - 1 - r) / r^2, a minimax approximation: relative error of exp(r) 3.1e-9 before
  // rounding.
  const float tail = 0.49999993F +
      r * (0.16666521F + r * (0.041668387F + r * (0.0083687098F + r * 0.0013814613F)));
  const std::int32_t exponent =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kWhole);
  const auto scale = std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23U);
  const float result = scale * (1.0F + (r + r * r * tail));
  return x < std::numeric_limits<float>::lowest() ? 0.0F : result;
}

inline float larger(float a, float b) noexcept { return a > b ? a : b; }

PYENGINE_VECTORISED float highest_of(const float* x, std::size_t count) noexcept {
  Parts parts;
  parts.fill(-std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (std::size_t p = 0; p < kParts; ++p) parts[p] = larger(parts[p], x[i + p]);
  }
  for (; i < count; ++i) parts[0] = larger(parts[0], x[i]);
  return *std::max_element(parts.begin(), parts.end());
}

/// Replaces each x by exp(x - highest) and returns the sum.
PYENGINE_VECTORISED float exponentiate(float* x, std::size_t count, float highest) noexcept {
  Parts sums{};
  std::size_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (std::size_t p = 0; p < kParts; ++p) {
      x[i + p] = exponential(x[i + p] - highest);
      sums[p] += x[i + p];
    }
  }
  for (std::size_t p = 0; i < count; ++i, ++p) {
    x[i] = exponential(x[i] - highest);
    sums[p] += x[i];
  }
  for (std::size_t half = kParts / 2; half > 0; half /= 2) {
    for (std::size_t p = 0; p < half; ++p) sums[p] += sums[p + half];
  }
  return sums[0];
}

PYENGINE_VECTORISED void divide(float* x, std::size_t count, float by) noexcept {
  for (std::size_t i = 0; i < count; ++i) x[i] /= by;
}

}  // namespace

void softmax(std::span<float> numbers) noexcept {
  float* x = numbers.data();
  const std::size_t count = numbers.size();
  divide(x, count, exponentiate(x, count, highest_of(x, count)));
}

}  // namespace pyengine
