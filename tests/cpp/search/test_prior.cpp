/// The 16-bit format of priors, and edges.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "search/tree/node.h"
#include "search_fixtures.h"

namespace pyengine {
namespace {

TEST_CASE("every code of a prior in (0, 1] survives a round trip") {
  const int one = pack_prior(1.0F);
  CHECK(one == 0xF800);
  for (int code = 0; code <= one; ++code) {
    REQUIRE(pack_prior(unpack_prior(static_cast<PackedPrior>(code))) == code);
  }
}

TEST_CASE("larger codes stand for larger priors") {
  for (int code = 1; code <= 0xF800; ++code) {
    REQUIRE(unpack_prior(static_cast<PackedPrior>(code)) >
            unpack_prior(static_cast<PackedPrior>(code - 1)));
  }
}

TEST_CASE("a prior is rounded to the nearest code, a tie to the larger one") {
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const auto p = static_cast<float>(std::pow(search_test::unit(i), 8.0));
    const PackedPrior code = pack_prior(p);
    const float stored = unpack_prior(code);
    const float below = unpack_prior(static_cast<PackedPrior>(code == 0 ? 0 : code - 1));
    const float above = unpack_prior(static_cast<PackedPrior>(code + 1));
    if (p < 0x1p-30F) continue;  // see the next case
    REQUIRE(std::abs(p - stored) <= p - below);
    REQUIRE(std::abs(p - stored) <= above - p);
    REQUIRE(std::abs(p - stored) <= std::ldexp(p, -12));
  }
  const float low = unpack_prior(1000);
  const float high = unpack_prior(1001);
  CHECK(pack_prior((low + high) / 2) == 1001);
  CHECK(pack_prior(std::nextafter((low + high) / 2, 0.0F)) == 1000);
}

TEST_CASE("values below the smallest prior, and NaN, become zero; the smallest prior does not") {
  CHECK(pack_prior(0.0F) == 0);
  CHECK(pack_prior(-1.0F) == 0);
  CHECK(pack_prior(std::numeric_limits<float>::quiet_NaN()) == 0);
  CHECK(pack_prior(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(pack_prior(std::nextafter(0x1p-31F, 0.0F)) == 0);
  CHECK(pack_prior(0x1p-31F) == 1);
  CHECK(unpack_prior(0) == 0.0F);
}

TEST_CASE("a prior slightly above 1 after rounding is still a prior") {
  CHECK(unpack_prior(pack_prior(1.0000001F)) == 1.0F);
  CHECK(unpack_prior(pack_prior(1.0F)) == 1.0F);
}

TEST_CASE("edges are in search order: larger prior, then smaller action") {
  std::vector<Edge> edges;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const auto prior = static_cast<PackedPrior>(search_test::mixed(i) % 7 * 9000);
    edges.emplace_back(prior, static_cast<ActionId>(search_test::mixed(i + 77) & 0xFFFFU));
  }
  std::sort(edges.begin(), edges.end());
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const Edge a = edges[i - 1];
    const Edge b = edges[i];
    REQUIRE((a.prior() > b.prior() || (a.prior() == b.prior() && a.action() <= b.action())));
  }
}

TEST_CASE("an edge preserves prior and action, including the extremes") {
  for (const int action : {0, 1, 361, 0xFFFE, 0xFFFF}) {
    for (const int prior : {0, 1, 0xF800, 0xFFFF}) {
      const Edge edge(static_cast<PackedPrior>(prior), static_cast<ActionId>(action));
      CHECK(edge.action() == action);
      CHECK(edge.prior() == prior);
    }
  }
}

TEST_CASE("values sum exactly in any order") {
  std::vector<std::int64_t> values;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    values.push_back(to_fixed(static_cast<float>(2.0 * search_test::unit(i) - 1.0)));
  }
  std::int64_t forwards = 0;
  std::int64_t backwards = 0;
  for (const std::int64_t value : values) forwards += value;
  for (auto value = values.rbegin(); value != values.rend(); ++value) backwards += *value;
  CHECK(forwards == backwards);
  CHECK(to_fixed(1.0F) == 1 << 24);
  CHECK(to_fixed(-1.0F) == -(1 << 24));
}

}  // namespace
}  // namespace pyengine
