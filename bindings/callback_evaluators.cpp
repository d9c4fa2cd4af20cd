#include "callback_evaluators.h"

#include <pybind11/numpy.h>

#include <atomic>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "callback_function.h"
#include "eval/abilities.h"
#include "eval/network/decode.h"
#include "foreign_game.h"
#include "games/any/state.h"
#include "python_error.h"

namespace pyengine::bindings {
namespace {

class CallbackNetwork final : public RawNetwork {
 public:
  CallbackNetwork(CallbackFunction function, const NetworkShape& shape)
      : function_(std::move(function)), shape_(shape) {}

  [[nodiscard]] RunsOn runs_on() const noexcept override { return {EvalThread::calling}; }
  [[nodiscard]] std::unique_ptr<RawMemory> make_memory(int capacity) override {
    return std::make_unique<FloatMemory>(shape_, capacity);
  }
  int run(RawMemory& memory, int rows) override {
    auto& batch = static_cast<FloatMemory&>(memory);
    const auto dims = shape_.planes.dims();
    // A copy, because the function may keep its argument while our buffers are reused.
    const auto planes = [&] {
      return py::array_t<float>(std::vector<py::ssize_t>{rows, static_cast<py::ssize_t>(dims[0]),
                                                         static_cast<py::ssize_t>(dims[1]),
                                                         static_cast<py::ssize_t>(dims[2])},
                                batch.inputs.data());
    };
    function_.call(planes, {rows, shape_.policy, shape_.value}, batch.policies.data(),
                   batch.values.data());
    return rows;
  }

 private:
  CallbackFunction function_;
  NetworkShape shape_;
};

class CallbackSource final : public NetworkSource {
 public:
  explicit CallbackSource(CallbackFunction function) : function_(std::move(function)) {}
  [[nodiscard]] std::string provider_text() const override { return "python"; }
  [[nodiscard]] std::shared_ptr<RawNetwork> fit(const ModelSpec&,
                                                const NetworkShape& shape) override {
    return std::make_shared<CallbackNetwork>(function_, shape);
  }

 private:
  CallbackFunction function_;
};

/// The outputs of a StateEvaluator: priors, and a value for the player to move.
ModelSpec priors_spec() {
  ModelSpec spec;
  spec.policy = "probs";
  return spec;
}

[[noreturn]] void refuse_answer(const char* expected, float value, std::size_t row,
                                const std::string& where = {}) {
  throw EvaluationError(std::string("the evaluator's function must return ") + expected + ", got " +
                        std::to_string(value) + " in row " + std::to_string(row) + where);
}

/// A function of states has no spec that could be wrong, so the error shows the answer.
void check_answer(const float* priors, int num_actions, float value, std::size_t row) {
  if (!std::isfinite(value)) refuse_answer("finite values", value, row);
  if (std::abs(value) > 1.0F + kRounding) {
    refuse_answer("values in [-1, 1] for the player to move", value, row);
  }
  for (int action = 0; action < num_actions; ++action) {
    const float prior = priors[action];
    if (std::isfinite(prior) && prior >= -kRounding) continue;
    refuse_answer("finite priors of at least 0", prior, row, ", action " + std::to_string(action));
  }
}

class BoundStates final : public BoundEvaluator, public WorkCounter {
 public:
  BoundStates(CallbackFunction function, std::shared_ptr<const AnyGame> game)
      : function_(std::move(function)), game_(std::move(game)), decoder_(priors_spec(), *game_) {}

  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    return {.reads_positions = true, .runs_on = {EvalThread::calling}};
  }
  int request(EvalBatch&, const AnyPosition&) override { return 1; }
  void evaluate(EvalBatch& batch) override {
    const auto rows = static_cast<std::size_t>(batch.num_leaves);
    const auto num_actions = static_cast<std::size_t>(decoder_.policy_size());
    std::vector<float> policy(rows * num_actions);
    std::vector<float> value(rows);
    const auto states = [&] { return make_states(batch); };
    function_.call(states, {static_cast<int>(rows), decoder_.policy_size(), 1}, policy.data(),
                   value.data());
    for (std::size_t i = 0; i < rows; ++i) {
      const float* row = policy.data() + i * num_actions;
      check_answer(row, decoder_.policy_size(), value[i], i);
      decoder_.decode(row, value.data() + i, batch.leaves[i]);
    }
    rows_.fetch_add(rows, std::memory_order_relaxed);
    batches_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] EvaluatorStats stats() const noexcept override {
    return {.rows = rows_.load(std::memory_order_relaxed),
            .batches = batches_.load(std::memory_order_relaxed)};
  }

 private:
  /// The GIL must be held.
  [[nodiscard]] py::list make_states(const EvalBatch& batch) const {
    py::list states;
    for (int i = 0; i < batch.num_leaves; ++i) {
      states.append(make_state(batch.leaves[static_cast<std::size_t>(i)]));
    }
    return states;
  }
  [[nodiscard]] py::object make_state(const EvalLeaf& leaf) const {
    if (py::object own = unwrap_foreign_position(*leaf.position); !own.is_none()) return own;
    std::vector<ActionId> history;
    std::optional<BoardSetup> start;
    if (leaf.root != nullptr) {
      history = leaf.root->history();
      start = leaf.root->start();
    }
    history.insert(history.end(), leaf.moves.begin(), leaf.moves.end());
    return py::cast(State(game_, start, leaf.position->clone(), std::move(history)));
  }

  CallbackFunction function_;
  std::shared_ptr<const AnyGame> game_;
  Decoder decoder_;
  std::atomic<std::uint64_t> rows_{0};
  std::atomic<std::uint64_t> batches_{0};
};

class StateEvaluator final : public Evaluator {
 public:
  explicit StateEvaluator(CallbackFunction function) : function_(std::move(function)) {}
  [[nodiscard]] std::string provider() const override { return "python"; }
  std::unique_ptr<BoundEvaluator> bind(std::shared_ptr<const AnyGame> game,
                                       const BindOptions&) override {
    return std::make_unique<BoundStates>(function_, std::move(game));
  }

 private:
  CallbackFunction function_;
};

}  // namespace

std::shared_ptr<NetworkSource> callback_source(CallbackFunction fn) {
  return std::make_shared<CallbackSource>(std::move(fn));
}

std::shared_ptr<Evaluator> state_evaluator(CallbackFunction fn) {
  return std::make_shared<StateEvaluator>(std::move(fn));
}

}  // namespace pyengine::bindings
