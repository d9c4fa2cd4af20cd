#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "base/rng.h"

namespace pyengine {
namespace {

/// Mean, variance and third central moment of `draw()` over `count` draws.
struct Moments {
  double mean = 0.0;
  double variance = 0.0;
  double third = 0.0;
};

template <class Draw>
Moments moments_of(int count, Draw draw) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(draw());
  Moments moments;
  for (const double value : values) moments.mean += value / count;
  for (const double value : values) {
    const double d = value - moments.mean;
    moments.variance += d * d / count;
    moments.third += d * d * d / count;
  }
  return moments;
}

constexpr int kDraws = 200'000;

TEST_CASE("a stream is numpy's Philox with the key [seed, stream]") {
  // [hex(x) for x in numpy.random.Philox(key=numpy.array([seed, stream], "u8")).random_raw(6)]
  struct Case {
    std::uint64_t seed, stream;
    std::array<std::uint64_t, 6> words;
  };
  const std::array cases{
      Case{0,
           0,
           {0x02f4ba6408e4d89b, 0x3dd62b0b9ca8c5b2, 0x1c8667a55d902e79, 0x907d7a052fd5b4dc,
            0x809bf322883987c3, 0x471128b9e807f7dd}},
      Case{42,
           7,
           {0xa64064f34e84b9a3, 0xe287959a866a08fd, 0x8dc181f009b96c03, 0xf3f6001d4fa83454,
            0x69c633ee791df6b3, 0x89327f7a8f0127a4}},
      Case{~std::uint64_t{0},
           1,
           {0xa7a2e8236bfb4443, 0xc71a2ea098bcf226, 0x2d2da51db1f0283d, 0x0f3b034e0c89feec,
            0x43c18637337651be, 0x32bc59aca9f40749}},
  };
  for (const Case& c : cases) {
    Rng rng(c.seed, c.stream);
    for (const std::uint64_t word : c.words) CHECK(rng.next() == word);
  }
}

TEST_CASE("the thousandth word of a stream matches numpy") {
  Rng rng(42, 7);
  for (int i = 0; i < 999; ++i) rng.next();
  CHECK(rng.next() == 0x8cd2e0d9ba726223);
}

TEST_CASE("uniform numbers match numpy.random.Generator(Philox).random") {
  Rng rng(42, 7);
  CHECK(rng.uniform() == 0.649420079613736);
  CHECK(rng.uniform() == 0.8848813535936771);
  CHECK(rng.uniform() == 0.5537339411764371);
  CHECK(rng.uniform() == 0.9529724189339113);
}

TEST_CASE("a copy of a stream continues like the original") {
  Rng original(3, 4);
  original.next();
  Rng copy = original;
  for (int i = 0; i < 20; ++i) CHECK(copy.next() == original.next());
}

TEST_CASE("neighbouring seeds and streams have no word in common") {
  std::set<std::uint64_t> words;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t stream = 0; stream < 10; ++stream) {
      Rng rng(seed, stream);
      for (int i = 0; i < 20; ++i) words.insert(rng.next());
    }
  }
  CHECK(words.size() == 2000);
}

TEST_CASE("uniform numbers lie in [0, 1) with mean 1/2 and variance 1/12") {
  Rng rng(1);
  const Moments m = moments_of(kDraws, [&] {
    const double u = rng.uniform();
    REQUIRE(u >= 0.0);
    REQUIRE(u < 1.0);
    return u;
  });
  CHECK(m.mean == doctest::Approx(0.5).epsilon(0.005));
  CHECK(m.variance == doctest::Approx(1.0 / 12.0).epsilon(0.01));
}

TEST_CASE("below(n) gives each of 0..n-1 equally often") {
  for (const std::uint32_t bound : {1U, 2U, 7U, 361U}) {
    CAPTURE(bound);
    Rng rng(bound);
    std::vector<int> seen(bound);
    for (int i = 0; i < kDraws; ++i) {
      const std::uint32_t value = rng.below(bound);
      REQUIRE(value < bound);
      ++seen[value];
    }
    const double expected = static_cast<double>(kDraws) / bound;
    double chi_square = 0.0;
    for (const int count : seen) chi_square += (count - expected) * (count - expected) / expected;
    // Mean bound - 1, standard deviation sqrt(2 (bound - 1)).
    CHECK(chi_square <= bound - 1.0 + 5.0 * std::sqrt(2.0 * (bound - 1.0)));
  }
}

TEST_CASE("below reaches the largest bound") {
  Rng rng(5);
  std::uint32_t largest = 0;
  for (int i = 0; i < 1000; ++i) largest = std::max(largest, rng.below(0xFFFFFFFFU));
  CHECK(largest > 0xFE000000U);
}

TEST_CASE("normal numbers have mean 0, variance 1 and no skew") {
  Rng rng(2);
  const Moments m = moments_of(kDraws, [&] { return rng.normal(); });
  CHECK(std::abs(m.mean) < 0.01);
  CHECK(m.variance == doctest::Approx(1.0).epsilon(0.02));
  CHECK(std::abs(m.third) < 0.05);
}

TEST_CASE("gamma(a) numbers are positive with mean a, variance a and third moment 2a") {
  for (const double shape : {0.03, 0.3, 1.0, 2.5, 10.0}) {
    CAPTURE(shape);
    Rng rng(3);
    const Moments m = moments_of(kDraws, [&] {
      const double value = rng.gamma(shape);
      REQUIRE(value >= 0.0);
      REQUIRE(std::isfinite(value));
      return value;
    });
    CHECK(m.mean == doctest::Approx(shape).epsilon(0.03));
    CHECK(m.variance == doctest::Approx(shape).epsilon(0.08));
    CHECK(m.third == doctest::Approx(2.0 * shape).epsilon(0.25));
  }
}

}  // namespace
}  // namespace pyengine
