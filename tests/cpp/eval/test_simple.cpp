#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "base/error.h"
#include "eval/abilities.h"
#include "eval/evaluate_states.h"
#include "eval/mixed.h"
#include "eval/simple.h"
#include "games/any/registry.h"
#include "games/any/state.h"

using namespace pyengine;

namespace {

struct Evaluated {
  std::vector<float> policy;
  float value = 0.0F;
};

Evaluated evaluated(Evaluator& evaluator, const State& state, std::uint64_t seed = 0) {
  BindOptions options;
  options.seed = seed;
  const auto bound = evaluator.bind(state.game(), options);
  Evaluated answer;
  answer.policy.resize(static_cast<std::size_t>(state.game()->shape().num_actions));
  const State* const one[] = {&state};
  evaluate_states(*bound, one, answer.policy, {&answer.value, 1});
  return answer;
}

State played(const char* game, const std::vector<Action>& moves) {
  State state(load_game(game));
  for (const Action move : moves) state.apply_action(move);
  return state;
}

}  // namespace

TEST_CASE("uniform: equal priors over the legal actions, value 0") {
  UniformEvaluator uniform;
  const Evaluated answer = evaluated(uniform, played("tic_tac_toe", {0, 4, 8}));
  for (const int action : {0, 4, 8}) CHECK(answer.policy[static_cast<std::size_t>(action)] == 0);
  for (const int action : {1, 2, 3, 5, 6, 7}) {
    CHECK(answer.policy[static_cast<std::size_t>(action)] == 1.0F / 6.0F);
  }
  CHECK(answer.value == 0.0F);
}

TEST_CASE("rollout: the mean result of random games, for the player to move") {
  // x x .   x to move; the expected means are enumerated below
  // o o x
  // x o .
  const State state = played("tic_tac_toe", {0, 3, 1, 4, 5, 7, 6});
  const State first = played("tic_tac_toe", {0, 3, 1, 4, 5, 7});
  RolloutEvaluator many(4000);
  // o to move at c1 or c3: after c1 x fills c3 for a draw; after c3 x wins at c1.
  CHECK(evaluated(many, state).value == doctest::Approx(-0.5).epsilon(0.08));
  // x to move at a3, c1 or c3: a3 leads to the position above, c1 wins, and after c3 (a3 and c1 are
  // left) o at a3 lets x win and o at c1 draws.
  CHECK(evaluated(many, first).value == doctest::Approx((0.5 + 1.0 + 0.5) / 3.0).epsilon(0.08));
}

TEST_CASE("playouts depend on seed and leaf number only") {
  const State state = played("connect_four", {3});
  RolloutEvaluator rollouts(10);
  const float value = evaluated(rollouts, state, 1).value;
  CHECK(evaluated(rollouts, state, 1).value == value);
  bool differs = false;
  for (std::uint64_t seed = 2; seed < 12; ++seed) {
    differs = differs || evaluated(rollouts, state, seed).value != value;
  }
  CHECK(differs);
}

TEST_CASE("mixed: the network's priors and (1 - mix) * network + mix * rollout") {
  const State state = played("connect_four", {3, 3, 3});
  const float rollout = evaluated(*std::make_unique<RolloutEvaluator>(100), state).value;
  const auto mixed = [&](double mix) {
    MixedEvaluator evaluator(std::make_shared<UniformEvaluator>(),
                             std::make_shared<RolloutEvaluator>(100), mix);
    return evaluated(evaluator, state).value;
  };
  CHECK(mixed(0.0) == 0.0F);
  CHECK(mixed(0.25) == doctest::Approx(0.25F * rollout));
  CHECK(mixed(1.0) == rollout);
  MixedEvaluator turned(std::make_shared<RolloutEvaluator>(100),
                        std::make_shared<UniformEvaluator>(), 0.5);
  CHECK(evaluated(turned, state).value == doctest::Approx(0.5F * rollout));
}

TEST_CASE("arguments out of range are rejected with their value") {
  CHECK_THROWS_WITH_AS(RolloutEvaluator(0), doctest::Contains("got 0"), ConfigError);
  const auto uniform = std::make_shared<UniformEvaluator>();
  CHECK_THROWS_AS(MixedEvaluator(uniform, uniform, 1.5), ConfigError);
  CHECK_THROWS_AS(MixedEvaluator(uniform, uniform, std::nan("")), ConfigError);
}

TEST_CASE("more states than fit into a batch are evaluated in order") {
  const auto game = load_game("tic_tac_toe");
  std::vector<State> states(150, State(game));
  std::vector<const State*> pointers;
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i].apply_action(static_cast<Action>(i % 9));
    pointers.push_back(&states[i]);
  }
  RolloutEvaluator rollout;
  const auto bound = rollout.bind(game, {});
  std::vector<float> policy(states.size() * 9);
  std::vector<float> value(states.size());
  evaluate_states(*bound, pointers, policy, value);
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::size_t a = 0; a < 9; ++a) {
      CHECK(policy[i * 9 + a] == (a == i % 9 ? 0.0F : 0.125F));
    }
  }
  CHECK(stats_of(*bound).rows == 150);
}
