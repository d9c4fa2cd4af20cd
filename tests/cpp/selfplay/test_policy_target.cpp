/// Policy targets of searches.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "selfplay/policy_target.h"

namespace pyengine {
namespace {

TEST_CASE("forced playouts that PUCT would not have made are removed") {
  SearchConfig config;
  config.c_puct_base.reset();
  config.c_puct = 1.0;
  SearchResult result;
  result.visits = {80, 15, 4, 1};
  result.priors = {0.5F, 0.3F, 0.1F, 0.1F};
  result.q = {0.5F, -0.5F, 0.6F, -0.9F};
  // PUCT of the best move: 0.5 + sqrt(101) 0.5 / 81 = 0.562. The second move reaches it with 0.3
  // sqrt(101) / 1.062 - 1 = 1.8 visits; it may lose floor(sqrt(2 * 0.3 * 100)) = 7.
  CHECK(without_forced(result, 2.0, config) == std::vector<std::uint32_t>{80, 8, 4, 0});
  result.visits = {80, 6, 4, 1};
  CHECK(without_forced(result, 2.0, config)[1] == 2);
  // The root explores 2.5 times as much: 0.655 and 5.5 visits.
  config.root_c_puct = 2.0;
  result.root.stdev_factor = 1.25;
  result.visits = {80, 15, 4, 1};
  CHECK(without_forced(result, 2.0, config)[1] == 8);
  result.visits = {80, 6, 4, 1};
  CHECK(without_forced(result, 2.0, config)[1] == 6);
}

TEST_CASE("moves of equal value and prior lose no forced playouts to each other") {
  SearchConfig config;
  SearchResult result;
  result.visits = {40, 40, 19};
  result.priors = {0.4F, 0.4F, 0.2F};
  result.q = {0.0F, 0.0F, 0.0F};
  CHECK(without_forced(result, 2.0, config)[1] == 40);
}

TEST_CASE("the target of a proven win is the winning move") {
  SearchConfig config;
  SearchResult result;
  result.actions = {3, 5, 8};
  result.visits = {70, 20, 10};
  result.action = 5;
  result.proven = 1;
  CHECK(policy_target(result, config, 16) == std::vector<std::uint32_t>{0, 1, 0});
}

TEST_CASE("the target of a proven draw with few visits is uniform over drawing moves") {
  SearchConfig config;
  config.forced_playouts = 2.0;
  SearchResult result;
  result.actions = {3, 5, 8};
  result.visits = {9, 2, 4};
  result.q = {0.0F, -1.0F, 0.0F};
  result.priors = {0.4F, 0.3F, 0.3F};
  result.action = 3;
  result.proofs = {0, -1, 0};
  result.proven = 0;
  CHECK(policy_target(result, config, 16) == std::vector<std::uint32_t>{1, 0, 1});
  CHECK(policy_target(result, config, 5)[1] == 0);
  CHECK(policy_target(result, config, 5)[0] > 1);
}

TEST_CASE("a search that mostly visited losing moves has no policy target") {
  SearchConfig config;
  constexpr std::int8_t kOpen = TreeNode::kNotProven;
  SearchResult result;
  result.actions = {3, 5, 8};
  result.visits = {185, 12, 2};
  result.q = {-1.0F, 0.1F, -0.2F};
  result.proofs = {-1, kOpen, kOpen};
  CHECK(policy_target(result, config, 16) == std::vector<std::uint32_t>{0, 12, 2});
  CHECK(compares_too_little(result, config, 15));
  CHECK_FALSE(compares_too_little(result, config, 14));
  result.visits = {7, 6, 2};  // a small search, but most visits compare moves
  CHECK_FALSE(compares_too_little(result, config, 16));
  result.visits = {8, 5, 2};
  CHECK(compares_too_little(result, config, 16));
  result.proven = 0;
  CHECK_FALSE(compares_too_little(result, config, 16));
}

TEST_CASE("policy surprise is the divergence from the priors") {
  SearchResult result;
  result.actions = {3, 5, 8};
  const auto edges = [](float a, float b, float c) {
    return std::vector<Edge>{{pack_prior(c), 8}, {pack_prior(a), 3}, {pack_prior(b), 5}};
  };
  CHECK(policy_surprise(result, {50, 25, 25}, edges(0.5F, 0.25F, 0.25F)) == 0.0);
  const double expected = 0.75 * std::log(0.75 / 0.25) + 0.25 * std::log(0.25 / 0.5);
  CHECK(policy_surprise(result, {75, 25, 0}, edges(0.25F, 0.5F, 0.25F)) ==
        doctest::Approx(expected));
  CHECK(policy_surprise(result, {0, 0, 7}, edges(1.0F, 0.0F, 0.0F)) ==
        doctest::Approx(32 * std::log(2.0)));  // the prior is stored as 0
}

TEST_CASE("with forced playouts the move is sampled from the target") {
  SearchConfig config;
  config.temperature = 1.0;
  SearchResult result;
  result.actions = {3, 5, 8};
  result.visits = {50, 40, 10};
  result.action = 8;  // sampled from all visits
  const std::vector<std::uint32_t> target = {50, 40, 0};
  CHECK(taught_move(result, target, config, Rng(1, 1)) == 8);
  config.forced_playouts = 2.0;
  for (std::uint64_t stream = 0; stream < 50; ++stream) {
    CHECK(taught_move(result, target, config, Rng(1, stream)) != 8);
  }
  config.temperature = 0.0;
  CHECK(taught_move(result, target, config, Rng(1, 1)) == 8);
}

TEST_CASE("the Gumbel target is the improved policy without losing moves") {
  SearchConfig config;
  config.algorithm = Algorithm::gumbel;
  constexpr std::int8_t kOpen = TreeNode::kNotProven;
  SearchResult result;
  result.actions = {1, 2, 4};
  result.visits = {8, 8, 16};
  result.improved_policy = {0.0F, 0.5F, 0.25F, 0.0F, 0.25F};
  result.proofs = {kOpen, kOpen, kOpen};
  CHECK(policy_target(result, config, 16) == std::vector<std::uint32_t>{32768, 16384, 16384});
  result.proofs = {kOpen, -1, kOpen};
  CHECK(policy_target(result, config, 16) == std::vector<std::uint32_t>{43690, 0, 21845});
}

TEST_CASE("if a losing move has all of the improved policy, the target is the visits") {
  SearchConfig config;
  config.algorithm = Algorithm::gumbel;
  constexpr std::int8_t kOpen = TreeNode::kNotProven;
  SearchResult result;
  result.actions = {0, 1, 2};
  result.visits = {900, 75, 25};
  result.priors = {0.5F, 0.3F, 0.2F};
  result.improved_policy = {1.0F, 0.0F, 0.0F};  // rounded to float: the other moves were far worse
  result.proofs = {-1, kOpen, kOpen};
  CHECK(policy_target(result, config, 16) == std::vector<std::uint32_t>{0, 49151, 16384});
}

}  // namespace
}  // namespace pyengine
