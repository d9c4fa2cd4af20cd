/// Small random numbers, several from each 64 bits of a stream, because random numbers would
/// otherwise dominate the cost of playouts.
#pragma once

#include <bit>
#include <cstdint>

#include "base/bits.h"
#include "base/rng.h"
#include "base/wide.h"

namespace pyengine {

/// The high word of bits * bound is a number below `bound`, and the low word is again uniform and
/// serves the next number. Each word yields numbers of kBits bits in total, so the bias of each is
/// below 2^(kBits - 64).
class SmallDraws {
 public:
  explicit SmallDraws(Rng& rng) noexcept : rng_(rng) {}

  /// Uniform in [0, bound), 1 <= bound <= 2^16.
  std::uint32_t below(std::uint32_t bound) noexcept {
    left_ -= std::bit_width(bound);
    if (left_ < 0) {
      bits_ = rng_.next();
      left_ = kBits - std::bit_width(bound);
    }
    const auto product = multiply_wide(bits_, bound);
    bits_ = product.low;
    return static_cast<std::uint32_t>(product.high);
  }

 private:
  static constexpr int kBits = 32;

  Rng& rng_;
  std::uint64_t bits_ = 0;
  int left_ = 0;  ///< unused bits of the word
};

/// A uniformly drawn bit of the non-empty `set`, as a set.
inline std::uint64_t draw_bit(std::uint64_t set, SmallDraws& draws) noexcept {
  const std::uint64_t sums = bits_below(set);
  const std::uint32_t rank = draws.below(static_cast<std::uint32_t>(sums >> 56));
  return std::uint64_t{1} << nth_bit(set, rank, sums);
}

}  // namespace pyengine
