/// The values of root moves and their lower confidence bounds.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "search/run/root_samples.h"

namespace pyengine {
namespace {

constexpr auto kAlone = Sharing::exclusive;

TEST_CASE("s^2 is the variance of the values plus a prior that fades with their number") {
  struct Case {
    std::vector<float> values;
    double variance;
  };
  const Case cases[] = {
      {{}, 1.0},
      {{0.5F}, 0.5},
      {{1.0F, -1.0F}, 1.0 + 1.0 / 9},
      {{0.25F, 0.25F, 0.25F}, 1.0 / 28},
      {{1.0F, 0.0F, 0.0F, 1.0F}, 0.25 + 1.0 / 65},
  };
  Node root;
  Node child;
  child.action = 7;
  const Edge edges[] = {{pack_prior(1.0F), 7}};
  for (const Case& c : cases) {
    RootSamples samples(edges);
    for (const float value : c.values) samples.add<kAlone>({&root, &child}, {value});
    CHECK(samples.variance(7) == doctest::Approx(c.variance).epsilon(1e-9));
  }
}

TEST_CASE(
    "a visit that ends at the root is no sample, and one that skips a draw below it is a draw") {
  Node root;
  Node child;
  const Edge edges[] = {{pack_prior(1.0F), 0}};
  RootSamples samples(edges);
  samples.add<kAlone>({&root}, {1.0F});
  CHECK(samples.variance(0) == 1.0);
  samples.add<kAlone>({&root, &child}, {1.0F, 0.0F, 2});
  samples.add<kAlone>({&root, &child}, {1.0F, 0.0F, 1});
  CHECK(samples.variance(0) == doctest::Approx(0.25 + 1.0 / 9));
}

TEST_CASE("the bound is as many standard errors below the mean as asked for") {
  CHECK(lower_bound(0.5, 100.0, 0.25, 2.0) == doctest::Approx(0.4));
  CHECK(lower_bound(0.5, 100.0, 0.25, 0.0) == 0.5);
}

}  // namespace
}  // namespace pyengine
