#include "eval/ort/network.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "base/text.h"
#include "eval/network/evidence.h"
#include "eval/ort/memory.h"
#include "eval/ort/tensors.h"

namespace pyengine::ort {
namespace {

/// The output named in the spec; nullptr if it names none.
const TensorInfo* named_output(const LoadedModel& model, const char* field,
                               const std::string& name) {
  return name.empty() ? nullptr : &tensor_named(model, model.outputs, field, name);
}

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Whether a row may have `size` numbers according to the declared shape.
bool may_hold(const TensorInfo& tensor, std::int64_t size) {
  if (tensor.shape.empty()) return false;
  std::int64_t known = 1;
  bool free = false;
  for (std::size_t i = 1; i < tensor.shape.size(); ++i) {
    free = free || tensor.shape[i] < 0;
    if (tensor.shape[i] >= 0) known *= tensor.shape[i];
  }
  return free ? known != 0 && size % known == 0 : known == size;
}

const TensorInfo& pick_output(const LoadedModel& model, const char* usual, std::int64_t size,
                              const TensorInfo* other) {
  const TensorInfo* named = find_tensor(model.outputs, usual);
  if (named != nullptr && named != other) return *named;
  const TensorInfo* match = nullptr;
  int count = 0;
  for (const TensorInfo& tensor : model.outputs) {
    if (&tensor == other || !may_hold(tensor, size)) continue;
    match = &tensor;
    ++count;
  }
  if (count == 1) return *match;
  throw ModelError("the model " + model.path.string() + " must have one output '" + usual +
                   "' of " + std::to_string(size) + " numbers per row, got " +
                   to_string(model.outputs) + "; the spec's " + usual + "_output can name it");
}

void plan_input(const LoadedModel& model, const ModelSpec& spec, const NetworkShape& shape,
                Plan& plan) {
  const PlaneShape& planes = shape.planes;
  const TensorInfo& input = input_of(model, spec.input.value_or(""));
  plan.input = input.name;
  plan.input_type = input_type(model, input, shape.fits_int8);
  plan.input_row = planes.elements();
  const auto dims = planes.dims();
  std::vector<std::int64_t> expected_shape = {-1, dims[0], dims[1], dims[2]};
  if (input.shape.size() == 2) expected_shape = {-1, static_cast<std::int64_t>(planes.elements())};
  bool fits = input.shape.size() == expected_shape.size();
  for (std::size_t i = 1; fits && i < expected_shape.size(); ++i) {
    fits = input.shape[i] < 0 || input.shape[i] == expected_shape[i];
  }
  if (!fits || input.shape[0] == 0) {
    throw ModelError("the model " + model.path.string() +
                     " does not fit the game: expected input " +
                     to_string(TensorInfo{input.name, input.type, expected_shape}) + " (" +
                     std::to_string(planes.channels) + " planes of " + std::to_string(planes.rows) +
                     " rows and " + std::to_string(planes.columns) + " columns, layout " +
                     spec.layout + "), got " + to_string(input));
  }
  plan.fixed_batch = input.shape[0] > 0 ? static_cast<int>(input.shape[0]) : 0;
  plan.input_shape = expected_shape;
}

/// How batches of `capacity` rows are split into calls.
CallPlan calls_for(LoadedModel& model, const Plan& plan, int capacity) {
  if (plan.fixed_batch > 0) return {plan.fixed_batch, true, false};
  if (model.on_device()) {
    // An engine whose shapes cannot be specified in advance is built for the first shape it sees.
    const bool exactly = model.one_session() && !profile_can_name(plan.input);
    return {model.rows_of_largest_call(capacity), exactly, true};
  }
  const int most = model.options.max_batch;
  return {most > 0 ? std::min(capacity, most) : capacity, false, false};
}

void check_output(const LoadedModel& model, const OutputPlan& output, int rows) {
  const auto expected = static_cast<std::int64_t>(output.row) * rows;
  if (!output.shape.empty() && output.shape[0] == rows && product(output.shape) == expected) return;
  throw ModelError("the model " + model.path.string() + " does not fit the game: expected " +
                   std::to_string(output.row) + " numbers per row of output '" + output.name +
                   "', got for a batch of " + std::to_string(rows) + " " +
                   to_string(TensorInfo{output.name, kTypeFloat32, output.shape}));
}

/// Calls `run` with a session that takes `rows` rows.
void run_probe(LoadedModel& model, const Plan& plan, int rows, int limit,
               const LoadedModel::FirstRun& run) {
  if (!model.on_device()) return run(model.session.get());
  model.probe({plan.input, plan.input_shape, rows, limit}, run);
}

/// Random planes of 0s and 1s, the same on every call.
std::vector<float> trial_planes(std::size_t count) {
  std::vector<float> planes(count);
  Rng rng;
  for (float& number : planes) number = static_cast<float>(rng.next() & 1U);
  return planes;
}

std::string described(const LoadedModel& model, const OutputPlan& output) {
  return "output " + in_quotes(output.name, '\'') + " of the model " + model.path.string();
}

/// Runs trial planes through the network, so that the true shapes of its outputs are known before a
/// search. Returns the policy's answers.
std::vector<float> probe(LoadedModel& model, Plan& plan, int rows, int limit) {
  const Api& api = model.library.api();
  const std::vector<float> planes = trial_planes(static_cast<std::size_t>(rows) * plan.input_row);
  std::vector<std::byte> bytes(planes.size() * size_of(plan.input_type));
  write_planes(planes, plan.input_type, bytes.data());
  const auto memory = cpu_memory(api);
  const auto input = make_tensor(api, memory.get(), bytes.data(), with_rows(plan.input_shape, rows),
                                 plan.input_type);
  const char* inputs[] = {plan.input.c_str()};
  const OrtValue* values[] = {input.get()};
  const char* outputs[] = {plan.policy.name.c_str(), plan.value.name.c_str()};
  OrtValue* results[] = {nullptr, nullptr};
  run_probe(model, plan, rows, limit, [&](OrtSession* session) {
    model.run_plainly(session, [&](const OrtRunOptions* with) {
      check<ModelError>(api, api.Run(session, with, inputs, values, 1, outputs, 2, results),
                        "the model " + model.path.string() + " does not fit the game: a batch of " +
                            std::to_string(rows) + " fails");
    });
  });
  const Handle<OrtValue> owned[] = {{results[0], {api.ReleaseValue}},
                                    {results[1], {api.ReleaseValue}}};
  plan.policy.shape = shape_of(api, owned[0].get());
  plan.value.shape = shape_of(api, owned[1].get());
  check_output(model, plan.policy, rows);
  check_output(model, plan.value, rows);
  std::vector<float> answers;
  add_numbers(api, owned[0].get(), plan.policy.type,
              static_cast<std::size_t>(rows) * plan.policy.row, answers);
  return answers;
}

/// Probes now if that opens no extra session. If one session serves all sizes, its engine is built
/// for the largest batch, which is unknown here: make_memory() probes later, and there are no
/// answers yet.
std::vector<float> probe_now(LoadedModel& model, Plan& plan) {
  if (model.on_device() && model.one_session()) return {};
  const int rows = model.on_device() ? model.least_prepared(plan.input_shape, kLeastRows) : 2;
  const CallPlan calls = calls_for(model, plan, rows);
  return probe(model, plan, calls.limit, calls.limit);
}

void require_answers(const LoadedModel& model, const ModelSpec& spec, const Plan& plan,
                     const std::vector<float>& answers) {
  require_policy_answers(spec, answers, plan.policy.row, described(model, plan.policy));
}

/// The operator that computes an output; empty if unknown.
std::string last_operator(const LoadedModel& model, const std::string& output) {
  const auto known = model.options.last_operators.find(output);
  return known == model.options.last_operators.end() ? std::string() : known->second;
}

void require_operators(const LoadedModel& model, const ModelSpec& spec, const Plan& plan) {
  require_policy_operator(spec, last_operator(model, plan.policy.name),
                          described(model, plan.policy));
  require_value_operator(spec, last_operator(model, plan.value.name), described(model, plan.value));
}

/// Throws ModelError if the tensors do not fit.
Plan plan_for(const LoadedModel& model, const ModelSpec& spec, const NetworkShape& shape) {
  Plan plan;
  plan_input(model, spec, shape, plan);
  const TensorInfo* policy = named_output(model, "policy_output", spec.policy_output.value_or(""));
  const TensorInfo* value = named_output(model, "value_output", spec.value_output.value_or(""));
  // By name first: if one output is known, the other is the remaining one.
  if (value == nullptr) value = find_tensor(model.outputs, "value");
  if (policy == nullptr) policy = &pick_output(model, "policy", shape.policy, value);
  if (value == nullptr) value = &pick_output(model, "value", shape.value, policy);
  plan.policy = {
      policy->name, output_type(model, *policy), {}, static_cast<std::size_t>(shape.policy)};
  plan.value = {value->name, output_type(model, *value), {}, static_cast<std::size_t>(shape.value)};
  return plan;
}

/// The `policy` that a trial run proves; empty if it proves nothing or shapes are free.
std::string_view tried_policy(LoadedModel& model, const ModelSpec& spec, const TensorInfo& policy) {
  const std::vector<std::int64_t>& input = model.inputs.front().shape;
  const std::int64_t row = row_size(policy);
  if (row < 0 || std::any_of(input.begin() + 1, input.end(), [](auto size) { return size < 0; })) {
    return {};
  }
  const auto size = [&](std::size_t axis) { return static_cast<int>(input[axis]); };
  NetworkShape shape{{size(1), size(2), size(3)}, static_cast<int>(row), 1, true};
  if (spec.layout == "NHWC") shape.planes = {size(3), size(1), size(2), true};
  Plan plan = plan_for(model, spec, shape);
  return policy_of(probe_now(model, plan), plan.policy.row);
}

class OrtNetwork final : public RawNetwork {
 public:
  OrtNetwork(std::shared_ptr<LoadedModel> model, ModelSpec spec, std::shared_ptr<const Plan> plan)
      : model_(std::move(model)),
        spec_(std::move(spec)),
        input_type_(plan->input_type),
        plan_(std::move(plan)) {}

  [[nodiscard]] ElementType input_type() const noexcept override { return input_type_; }
  [[nodiscard]] RunsOn runs_on() const noexcept override {
    return on_device(model_->device_batches());
  }
  [[nodiscard]] std::unique_ptr<RawMemory> make_memory(int capacity) override {
    check_usable();
    const std::lock_guard lock(mutex_);
    const CallPlan calls = calls_for(*model_, *plan_, capacity);
    if (!plan_->probed()) {
      auto probed = std::make_shared<Plan>(*plan_);
      const auto answers = probe(*model_, *probed, calls.padded(1), calls.limit);
      require_answers(*model_, spec_, *probed, answers);
      plan_ = std::move(probed);
    }
    return std::make_unique<OrtMemory>(model_, plan_, calls, capacity);
  }
  void adopt(RawMemory& memory) override { static_cast<OrtMemory&>(memory).prepare(*model_); }
  int run(RawMemory& memory, int rows) override {
    return static_cast<OrtMemory&>(memory).run(*model_, rows);
  }
  void check_usable() const override {
    if (!model_->forked()) return;
    throw EvaluationError("the process was forked after the network " + model_->path.string() +
                          " was loaded; create the evaluator in the new process (or start it with "
                          "multiprocessing's 'spawn')");
  }

 private:
  std::shared_ptr<LoadedModel> model_;
  const ModelSpec spec_;
  const ElementType input_type_;
  std::mutex mutex_;                  ///< locked by make_memory() only
  std::shared_ptr<const Plan> plan_;  ///< guarded by mutex_; replaced once, when it is probed
};

}  // namespace

std::shared_ptr<RawNetwork> fit_network(std::shared_ptr<LoadedModel> model, const ModelSpec& spec,
                                        const NetworkShape& shape) {
  if (model->forked()) {
    throw ModelError("the process was forked after the model " + model->path.string() +
                     " was loaded; create the evaluator in the new process");
  }
  Plan plan = plan_for(*model, spec, shape);
  require_operators(*model, spec, plan);
  require_answers(*model, spec, plan, probe_now(*model, plan));
  return std::make_shared<OrtNetwork>(std::move(model), spec,
                                      std::make_shared<const Plan>(std::move(plan)));
}

ModelSpec infer_spec(const std::shared_ptr<LoadedModel>& model) {
  ModelSpec spec = pyengine::infer_spec(model->inputs, model->outputs);
  const auto output = [&](const std::optional<std::string>& name, const char* usual) {
    return find_tensor(model->outputs, name.value_or(usual));
  };
  if (const TensorInfo* value = output(spec.value_output, "value")) {
    const std::string_view kind = value_kind_after(last_operator(*model, value->name), true);
    if (!kind.empty() && kind != ModelSpec{}.kind_of_value()) spec.value_kind = kind;
  }
  if (const TensorInfo* policy = output(spec.policy_output, "policy")) {
    std::string_view proven = policy_after(last_operator(*model, policy->name));
    if (proven.empty()) proven = tried_policy(*model, spec, *policy);
    if (!proven.empty()) spec.policy = proven;
  }
  return spec;
}

}  // namespace pyengine::ort
