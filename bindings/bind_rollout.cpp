/// The rollout policy of Go; pyengine.eval.RolloutPolicy is the public class.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "base/error.h"
#include "bindings.h"
#include "casts.h"
#include "eval/rollout/policy_priors.h"
#include "eval/rollout/policy_rollout.h"
#include "games/any/state.h"
#include "games/go/rollout.h"
#include "interpreter.h"
#include "locked.h"

namespace pyengine::bindings {
namespace {

using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;
using PolicyPointer = std::shared_ptr<GoRolloutPolicy>;

std::vector<float> vector_of(const Floats& array) {
  return {array.data(), array.data() + array.size()};
}

PolicyPointer policy_of(const Floats& pattern, const Floats& response, const Floats& features) {
  GoRolloutWeights weights;
  weights.pattern = vector_of(pattern);
  weights.response = vector_of(response);
  const std::size_t expected = weights.features.size();
  if (static_cast<std::size_t>(features.size()) != expected) {
    throw ModelError("rollout policy: features must have " + std::to_string(expected) +
                     " weights, got " + std::to_string(features.size()));
  }
  std::copy_n(features.data(), expected, weights.features.begin());
  return std::make_shared<GoRolloutPolicy>(weights);
}

/// The moves of the policy in a sequence of positions.
struct Examples {
  std::vector<std::int32_t> counts;  ///< number of moves per position
  std::vector<std::int32_t> chosen;  ///< index of the move played; -1 if the policy never plays it
  std::vector<std::uint16_t> points;
  std::vector<std::uint16_t> patterns;
  std::vector<std::uint16_t> features;

  void add(const GoRolloutMoves& moves, Action played) {
    counts.push_back(static_cast<std::int32_t>(moves.moves.size()));
    chosen.push_back(-1);
    for (std::size_t i = 0; i < moves.moves.size(); ++i) {
      const GoRolloutMove& move = moves.moves[i];
      if (move.point == played) chosen.back() = static_cast<std::int32_t>(i);
      points.push_back(static_cast<std::uint16_t>(move.point));
      patterns.push_back(move.pattern);
      features.push_back(move.features);
    }
  }
};

/// The policy's inputs in each position of a game. Throws IllegalActionError.
py::tuple rollout_examples(const GoRolloutPolicy& policy, const py::object& game,
                           const std::vector<Action>& actions) {
  const auto own = game_from(game);
  Examples examples;
  {
    const WithoutGil released;
    const auto playouts = policy.open(*own);
    State state(own);
    GoRolloutMoves moves;
    for (const Action action : actions) {
      playouts->begin(state.position());
      playouts->moves(moves);
      examples.add(moves, action);
      state.apply_action(action);
    }
  }
  return py::make_tuple(array_of(examples.counts), array_of(examples.chosen),
                        array_of(examples.points), array_of(examples.patterns),
                        array_of(examples.features));
}

/// float32[N, A] for states of one game; zeros if the game is over.
py::array_t<float> probabilities(const GoRolloutPolicy& policy, const py::object& game,
                                 const py::sequence& states) {
  const auto own = game_from(game);
  std::vector<std::unique_ptr<AnyPosition>> positions;
  for (const py::handle& state : states) {
    positions.push_back(position_from(own, py::reinterpret_borrow<py::object>(state)));
  }
  const auto actions = static_cast<std::size_t>(own->shape().num_actions);
  py::array_t<float> answer(
      {static_cast<py::ssize_t>(positions.size()), static_cast<py::ssize_t>(actions)});
  float* const numbers = answer.mutable_data();
  const WithoutGil released;
  std::fill_n(numbers, positions.size() * actions, 0.0F);
  const auto playouts = policy.bind(*own);
  ActionList legal;
  std::vector<float> probabilities;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i]->outcome()) continue;
    positions[i]->legal_actions(legal);
    probabilities.resize(static_cast<std::size_t>(legal.size()));
    playouts->begin(*positions[i]);
    playouts->probabilities({legal.data(), probabilities.size()}, probabilities);
    for (std::size_t k = 0; k < probabilities.size(); ++k) {
      numbers[i * actions + legal[static_cast<int>(k)]] = probabilities[k];
    }
  }
  return answer;
}

std::vector<std::string> feature_names() {
  return {kGoRolloutNames.begin(), kGoRolloutNames.end()};
}

}  // namespace

void bind_rollout(py::module_& m) {
  py::class_<GoRolloutPolicy, PolicyPointer>(
      m, "RolloutPolicy", "Weights of a rollout policy; see pyengine.eval.RolloutPolicy.")
      .def(py::init(&policy_of), py::arg("pattern"), py::arg("response"), py::arg("features"))
      .def("examples", &rollout_examples, py::arg("game"), py::arg("actions"),
           "Return the inputs before each move of a game: arrays (counts int32[P], chosen "
           "int32[P],\n"
           "points uint16[M], patterns uint16[M], features uint16[M]); `chosen` is the index of "
           "the\n"
           "move played among those of the position, or -1 if the policy never plays it.")
      .def("probabilities", &probabilities, py::arg("game"), py::arg("states"), "float32[N,A]");
  m.def("rollout_features", &feature_names, "Return the names of the features, bit 0 first.");
  m.def(
      "policy_rollout_evaluator",
      [](int rollouts, const PolicyPointer& policy) {
        return std::shared_ptr<Evaluator>(
            std::make_shared<PolicyRolloutEvaluator>(rollouts, policy));
      },
      py::arg("rollouts"), py::arg("policy"));
  m.def(
      "policy_priors_evaluator",
      [](const PolicyPointer& policy) {
        return std::shared_ptr<Evaluator>(std::make_shared<PolicyPriorsEvaluator>(policy));
      },
      py::arg("policy"));
}

}  // namespace pyengine::bindings
