#include "base/rng.h"

#include "base/wide.h"

namespace pyengine {
// Multipliers and key increments: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3".
void Rng::refill() noexcept {
  for (auto& word : counter_) {
    if (++word != 0) break;
  }
  std::array<std::uint64_t, 4> x = counter_;
  std::array<std::uint64_t, 2> key = key_;
  for (int round = 0; round < 10; ++round) {
    const Wide p0 = multiply_wide(0xD2E7470EE14C6C93U, x[0]);
    const Wide p1 = multiply_wide(0xCA5A826395121157U, x[2]);
    x = {p1.high ^ x[1] ^ key[0], p1.low, p0.high ^ x[3] ^ key[1], p0.low};
    key[0] += 0x9E3779B97F4A7C15U;
    key[1] += 0xBB67AE8584CAA73BU;
  }
  block_ = x;
  used_ = 0;
}

double Rng::normal() noexcept {
  for (;;) {
    const double u = 2.0 * uniform() - 1.0;
    const double v = 2.0 * uniform() - 1.0;
    const double square = u * u + v * v;
    if (square < 1.0 && square > 0.0) return u * std::sqrt(-2.0 * std::log(square) / square);
  }
}

double Rng::gamma(double shape) noexcept {
  if (shape < 1.0) {  // Gamma(a) = Gamma(a + 1) * U^(1/a)
    const double u = 1.0 - uniform();
    return gamma(shape + 1.0) * std::pow(u, 1.0 / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double base = 1.0 + c * x;
    if (base <= 0.0) continue;
    const double v = base * base * base;
    const double u = 1.0 - uniform();
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

}  // namespace pyengine
