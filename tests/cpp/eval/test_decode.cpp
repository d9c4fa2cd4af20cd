#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "eval/network/decode.h"
#include "games/any/registry.h"

using namespace pyengine;

namespace {

EvalLeaf leaf_with(const std::vector<Action>& legal, int to_move = 0) {
  EvalLeaf leaf;
  for (const Action action : legal) leaf.legal.push_back(action);
  leaf.to_move = to_move;
  return leaf;
}

/// A policy that answers with its own indices, as probabilities.
std::vector<float> counting(int size) {
  std::vector<float> policy(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < policy.size(); ++i) policy[i] = static_cast<float>(i);
  return policy;
}

float value_of(const ModelSpec& spec, const std::vector<float>& value, int to_move = 0) {
  const Decoder decoder(spec, *load_game("tic_tac_toe"));
  EvalLeaf leaf = leaf_with({0}, to_move);
  const std::vector<float> policy(9, 0.0F);
  decoder.decode(policy.data(), value.data(), leaf);
  return leaf.value;
}

}  // namespace

TEST_CASE("logits become a softmax over the legal actions only") {
  const Decoder decoder({}, *load_game("tic_tac_toe"));
  EvalLeaf leaf = leaf_with({1, 4, 8});
  std::vector<float> policy(9, 50.0F);  // illegal actions do not count
  policy[1] = 0.0F;
  policy[4] = std::log(2.0F);
  policy[8] = std::log(5.0F);
  const float value = 0.5F;
  decoder.decode(policy.data(), &value, leaf);
  CHECK(leaf.priors[0] == doctest::Approx(1.0 / 8));
  CHECK(leaf.priors[1] == doctest::Approx(2.0 / 8));
  CHECK(leaf.priors[2] == doctest::Approx(5.0 / 8));
  CHECK(leaf.value == 0.5F);
}

TEST_CASE("probabilities are divided by their sum, and equal if all are 0") {
  ModelSpec spec;
  spec.policy = "probs";
  const Decoder decoder(spec, *load_game("tic_tac_toe"));
  const float value = 0.0F;
  EvalLeaf leaf = leaf_with({1, 3});
  decoder.decode(counting(9).data(), &value, leaf);
  CHECK(leaf.priors == std::vector<float>{0.25F, 0.75F});
  EvalLeaf none = leaf_with({0, 5});
  decoder.decode(std::vector<float>(9, 0.0F).data(), &value, none);
  CHECK(none.priors == std::vector<float>{0.5F, 0.5F});
}

TEST_CASE("all kinds of value express the same game result") {
  ModelSpec scalar;
  CHECK(value_of(scalar, {-0.25F}) == -0.25F);
  CHECK(value_of(scalar, {1.005F}) == 1.0F);  // rounding of a low-precision network
  scalar.value_kind = "probs";
  CHECK(value_of(scalar, {0.75F}) == 0.5F);
  scalar.value_kind = "logits";
  CHECK(value_of(scalar, {0.5F}) == doctest::Approx(std::tanh(0.5)));
  ModelSpec parts;
  parts.value = {"draw", "win", "loss"};
  CHECK(value_of(parts, {std::log(2.0F), std::log(5.0F), 0.0F}) == doctest::Approx(0.5));
  parts.value_kind = "probs";
  CHECK(value_of(parts, {0.25F, 0.625F, 0.125F}) == doctest::Approx(0.5));
  parts.value_kind = "log_probs";
  CHECK(value_of(parts, {std::log(0.25F), std::log(0.125F), std::log(0.625F)}) ==
        doctest::Approx(-0.5));
}

TEST_CASE("only a 3-way value knows the probability of a draw, whoever it is for") {
  const auto draw_of = [](const ModelSpec& spec, const std::vector<float>& value, int to_move) {
    const Decoder decoder(spec, *load_game("tic_tac_toe"));
    EvalLeaf leaf = leaf_with({0}, to_move);
    leaf.draw = 0.75F;  // of an earlier leaf
    const std::vector<float> policy(9, 0.0F);
    SymmetryMean mean;
    mean.add(decoder, policy.data(), value.data(), 0, leaf);
    mean.add(decoder, policy.data(), value.data(), 1, leaf);
    mean.finish(leaf);
    return leaf.draw;
  };
  ModelSpec spec;
  CHECK(draw_of(spec, {0.25F}, 0) == 0.0F);
  spec.value = {"loss", "draw", "win"};
  spec.value_for = "first_player";
  CHECK(draw_of(spec, {0.0F, std::log(3.0F), 0.0F}, 1) == doctest::Approx(0.6));
  spec.value_kind = "probs";
  CHECK(draw_of(spec, {0.25F, 0.5F, 0.25F}, 0) == 0.5F);
}

TEST_CASE("a value for the first player is negated for the second") {
  ModelSpec spec;
  spec.value_for = "first_player";
  CHECK(value_of(spec, {0.25F}, 0) == 0.25F);
  CHECK(value_of(spec, {0.25F}, 1) == -0.25F);
}

TEST_CASE("the pass has the spec's index and the other actions keep their order") {
  const auto game = load_game("go", {{"board_size", 2LL}});
  const float value = 0.0F;
  const auto order = [&](std::optional<int> pass_index) {
    ModelSpec spec;
    spec.policy = "probs";
    spec.pass_index = pass_index;
    EvalLeaf leaf = leaf_with({0, 1, 2, 3, 4});
    Decoder(spec, *game).decode(counting(5).data(), &value, leaf);
    std::string text;
    for (const float prior : leaf.priors) text += std::to_string(std::lround(prior * 10));
    return text;
  };
  CHECK(order(std::nullopt) == "01234");
  CHECK(order(4) == "01234");
  CHECK(order(0) == "12340");
  CHECK(order(2) == "01342");
  ModelSpec spec;
  spec.pass_index = 5;
  CHECK_THROWS_AS(Decoder(spec, *game), ModelError);
  CHECK_THROWS_AS(Decoder(spec, *load_game("tic_tac_toe")), ModelError);
}

TEST_CASE("a policy read bottom_up starts with the last row") {
  ModelSpec spec;
  spec.policy = "probs";
  spec.policy_rows = "bottom_up";
  const float value = 0.0F;
  EvalLeaf leaf = leaf_with({0, 8});
  Decoder(spec, *load_game("tic_tac_toe")).decode(counting(9).data(), &value, leaf);
  CHECK(leaf.priors[0] == doctest::Approx(6.0 / 8));
  CHECK(leaf.priors[1] == doctest::Approx(2.0 / 8));
}

TEST_CASE("an answer under a symmetry is read at the symmetric action") {
  const auto game = load_game("tic_tac_toe");
  ModelSpec spec;
  spec.policy = "probs";
  const Decoder decoder(spec, *game);
  const float value = 0.0F;
  for (int k = 0; k < 8; ++k) {
    EvalLeaf leaf = leaf_with({2});
    std::vector<float> policy(9, 0.0F);
    policy[game->symmetries().action[static_cast<std::size_t>(k)][2]] = 1.0F;
    leaf.legal.push_back(3);
    SymmetryMean answer;
    answer.add(decoder, policy.data(), &value, k, leaf);
    answer.finish(leaf);
    CHECK(leaf.priors == std::vector<float>{1.0F, 0.0F});
  }
}

TEST_CASE("the mean over symmetries does not depend on the order of the answers") {
  const Decoder decoder({}, *load_game("tic_tac_toe"));
  Rng rng(5);
  std::vector<std::vector<float>> policies(8, std::vector<float>(9));
  std::vector<float> values(8);
  for (auto& policy : policies) {
    for (float& logit : policy) logit = static_cast<float>(rng.normal());
  }
  for (float& value : values) value = static_cast<float>(rng.uniform() * 2 - 1);
  SymmetryMean mean;  // reused: finish() must reset it
  const auto mean_of = [&](const std::vector<int>& order) {
    EvalLeaf leaf = leaf_with({0, 1, 5, 7});
    for (const int k : order) {
      const auto i = static_cast<std::size_t>(k);
      mean.add(decoder, policies[i].data(), &values[i], k, leaf);
    }
    mean.finish(leaf);
    leaf.priors.push_back(leaf.value);
    return leaf.priors;
  };
  std::vector<int> order = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<float> expected = mean_of(order);
  for (int i = 0; i < 20; ++i) {
    std::next_permutation(order.begin(), order.end());
    std::reverse(order.begin(), order.begin() + 5);
    CHECK(mean_of(order) == expected);
  }
}

TEST_CASE("a non-finite number is an error that names the output") {
  const Decoder decoder({}, *load_game("tic_tac_toe"));
  std::vector<float> policy(9, 0.0F);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  const float fine = 0.0F;
  CHECK_NOTHROW(decoder.check(policy.data(), &fine));
  CHECK_THROWS_WITH_AS(decoder.check(policy.data(), &nan),
                       doctest::Contains("value must be finite"), EvaluationError);
  for (const float wrong : {infinite, nan}) {
    policy[3] = wrong;
    CHECK_THROWS_WITH_AS(decoder.check(policy.data(), &fine),
                         doctest::Contains("policy must be finite"), EvaluationError);
  }
}

TEST_CASE("a logit of -infinity is probability 0 unless all legal logits are -infinity") {
  const float infinite = std::numeric_limits<float>::infinity();
  const float value = 0.0F;
  for (const char* kind : {"logits", "log_probs"}) {
    ModelSpec spec;
    spec.policy = kind;
    const Decoder decoder(spec, *load_game("tic_tac_toe"));
    std::vector<float> policy(9, -infinite);
    policy[1] = policy[5] = 2.0F;
    CHECK_NOTHROW(decoder.check(policy.data(), &value));
    EvalLeaf leaf = leaf_with({0, 1, 5, 8});
    decoder.decode(policy.data(), &value, leaf);
    CHECK(leaf.priors == std::vector<float>{0.0F, 0.5F, 0.5F, 0.0F});
    EvalLeaf none = leaf_with({0, 8});
    CHECK_THROWS_WITH_AS(decoder.decode(policy.data(), &value, none),
                         doctest::Contains("leave a legal action, got -inf for all 2"),
                         EvaluationError);
  }
}

TEST_CASE("some but not all parts of a 3-way value in logarithms may be -infinity") {
  const float infinite = std::numeric_limits<float>::infinity();
  ModelSpec spec;
  spec.value = {"win", "draw", "loss"};
  spec.value_kind = "log_probs";
  const Decoder decoder(spec, *load_game("tic_tac_toe"));
  const std::vector<float> policy(9, 0.0F);
  const float won[] = {0.0F, -infinite, -infinite};
  CHECK_NOTHROW(decoder.check(policy.data(), won));
  CHECK(decoder.read_value(won, 0).value == 1.0F);
  const float nothing[] = {-infinite, -infinite, -infinite};
  CHECK_THROWS_WITH_AS(decoder.check(policy.data(), nothing),
                       doctest::Contains("leave win, draw or loss possible"), EvaluationError);
}

TEST_CASE("a number out of range is an error that names the kind of output") {
  const auto message = [](const ModelSpec& spec, float policy, std::vector<float> value) {
    const Decoder decoder(spec, *load_game("tic_tac_toe"));
    std::vector<float> policies(9, 0.0F);
    policies[4] = policy;
    try {
      decoder.check(policies.data(), value.data());
    } catch (const EvaluationError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  ModelSpec spec;
  CHECK(message(spec, -3.0F, {-1.005F}).empty());
  CHECK(message(spec, -3.0F, {1.7F}) ==
        "the network's value must lie in [-1, 1] (value_kind=\"logits\" in the spec takes tanh of "
        "it), got 1.700000 at index 0");
  spec.policy = "probs";
  CHECK(message(spec, -0.005F, {0.0F}).empty());
  CHECK(message(spec, 7.0F, {0.0F}).empty());  // for example visits, which are divided by their sum
  CHECK(message(spec, -3.0F, {0.0F}) ==
        "the network's policy must be probabilities (policy=\"logits\" in the spec reads logits), "
        "got -3.000000 at index 4");
  spec.value_kind = "probs";
  CHECK(message(spec, 0.0F, {1.0F}).empty());
  CHECK(message(spec, 0.0F, {-0.5F}).find("in [0, 1], as value_kind=\"probs\"") !=
        std::string::npos);
  spec.value = {"win", "draw", "loss"};
  CHECK(message(spec, 0.0F, {0.5F, 0.5F, 0.0F}).empty());
  CHECK(message(spec, 0.0F, {1.5F, -0.5F, 0.0F}).find("got -0.500000 at index 1") !=
        std::string::npos);
  CHECK(message(spec, 0.0F, {0.5F, 0.5F, 0.005F}).empty());
  for (const float one : {1.0F, 0.3F, 0.0F}) {
    CHECK(message(spec, 0.0F, {one, one, one}).find("sum to 1") != std::string::npos);
  }
  spec.value_kind = "logits";
  CHECK(message(spec, 0.0F, {1.5F, -9.0F, 0.0F}).empty());
}
