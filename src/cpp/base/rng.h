/// Random number streams; there is no global generator.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "base/wide.h"

namespace pyengine {

/// Philox4x64-10 [Salmon et al., 2011], a counter-based generator. The key identifies the stream,
/// so streams never share state. Matches numpy.random.Philox(key=[seed, stream]).
class Rng {
 public:
  explicit Rng(std::uint64_t seed = 0, std::uint64_t stream = 0) noexcept : key_{seed, stream} {}

  /// {seed, stream}.
  [[nodiscard]] const std::array<std::uint64_t, 2>& key() const noexcept { return key_; }
  /// 64 uniform bits.
  std::uint64_t next() noexcept {
    if (used_ == 4) refill();
    return block_[used_++];
  }
  /// Uniform in [0, 1), 53 bits.
  double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Uniform in [0, bound), bound >= 1, by multiplication (Lemire); the bias is below bound / 2^64.
  std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>(multiply_wide(next(), bound).high);
  }
  /// Standard Gumbel by inversion of exp(-exp(-x)); always finite.
  double gumbel() noexcept { return -std::log(-std::log(open_uniform())); }
  /// Standard normal (Marsaglia's polar method).
  double normal() noexcept;
  /// Gamma(shape, 1), shape > 0 (Marsaglia and Tsang, 2000).
  double gamma(double shape) noexcept;

 private:
  void refill() noexcept;
  /// Uniform in (0, 1), 52 bits.
  double open_uniform() noexcept { return (static_cast<double>(next() >> 12) + 0.5) * 0x1.0p-52; }

  std::array<std::uint64_t, 2> key_;
  std::array<std::uint64_t, 4> counter_{};
  std::array<std::uint64_t, 4> block_{};
  unsigned used_ = 4;  ///< words of block_ already returned
};

}  // namespace pyengine
