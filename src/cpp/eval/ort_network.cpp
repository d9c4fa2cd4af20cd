#include "eval/ort_network.h"

#include <algorithm>
#include <map>
#include <new>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "eval/half.h"

namespace pyengine::ort {
namespace {

/// Zeroed memory at a cache line.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes)
      : memory_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64}))) {
    std::fill_n(memory_.get(), bytes, std::byte{0});
  }
  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }

 private:
  struct Delete {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete(memory, std::align_val_t{64});
    }
  };
  std::unique_ptr<std::byte, Delete> memory_;
};

/// What fit_network() found out.
struct Plan {
  std::string input;
  ElementType input_type = ElementType::float32;
  std::vector<std::int64_t> input_shape;  ///< [0] is the number of rows of a call
  std::size_t input_row = 0;              ///< numbers of a row
  OutputPlan policy;
  OutputPlan value;
  int fixed_batch = 0;  ///< 0 = free
};

std::vector<std::int64_t> with_rows(std::vector<std::int64_t> shape, int rows) {
  shape[0] = rows;
  return shape;
}

/// An output's memory, converted to floats where it holds halves.
class Output {
 public:
  Output(const OutputPlan& plan, std::size_t rows)
      : plan_(plan), raw_(rows * plan.row * size_of(plan.type)) {
    if (plan.type == ElementType::float16) floats_.resize(rows * plan.row);
  }
  [[nodiscard]] std::byte* row(int i) const noexcept {
    return raw_.data() + static_cast<std::size_t>(i) * plan_.row * size_of(plan_.type);
  }
  [[nodiscard]] const float* floats() const noexcept {
    return floats_.empty() ? reinterpret_cast<const float*>(raw_.data()) : floats_.data();
  }
  void convert(int rows) {
    if (floats_.empty()) return;
    const auto* halves = reinterpret_cast<const std::uint16_t*>(raw_.data());
    std::transform(halves, halves + static_cast<std::size_t>(rows) * plan_.row, floats_.begin(),
                   from_half);
  }

 private:
  const OutputPlan& plan_;
  Buffer raw_;
  std::vector<float> floats_;
};

/// Buffers of a batch and their bindings to a session, one for each part of the batch that was run.
class OrtMemory final : public RawMemory {
 public:
  OrtMemory(std::shared_ptr<LoadedModel> model, std::shared_ptr<const Plan> plan, CallPlan calls,
            int capacity)
      : calls_(calls),
        model_(std::move(model)),
        api_(model_->library.api()),
        plan_(std::move(plan)),
        session_(model_->acquire()),
        cpu_(cpu_memory(api_)),
        input_(rows(capacity) * plan_->input_row * size_of(plan_->input_type)),
        policy_(plan_->policy, rows(capacity)),
        value_(plan_->value, rows(capacity)) {
    planes = input_.data();
    RawMemory::policy = policy_.floats();
    RawMemory::value = value_.floats();
  }
  OrtMemory(const OrtMemory&) = delete;
  OrtMemory& operator=(const OrtMemory&) = delete;
  ~OrtMemory() override {
    if (model_->forked()) {  // objects of the parent: a release could wait for its threads
      for (auto& [part, bound] : bindings_) bound.leak();
    }
    bindings_.clear();
    model_->release(session_);
  }

  /// Runs `count` rows from row `start` on; returns the rows computed.
  int run(int start, int count) {
    const int computed = calls_.padded(count);
    Binding& bound = binding(start, computed);
    const auto checked = [&](OrtStatus* status) {
      check<EvaluationError>(api_, status, "the network " + model_->path.string() + " failed");
    };
    if (model_->on_gpu()) {  // binding copies to the device
      checked(api_.BindInput(bound.binding.get(), plan_->input.c_str(), bound.input.get()));
      checked(api_.SynchronizeBoundInputs(bound.binding.get()));
    }
    checked(api_.RunWithBinding(session_, nullptr, bound.binding.get()));
    if (model_->on_gpu()) checked(api_.SynchronizeBoundOutputs(bound.binding.get()));
    return computed;
  }
  void convert(int rows) {
    policy_.convert(rows);
    value_.convert(rows);
  }

  const CallPlan calls_;

 private:
  struct Binding {
    Handle<OrtIoBinding> binding;
    Handle<OrtValue> input;
    Handle<OrtValue> policy;
    Handle<OrtValue> value;
    void leak() noexcept {
      static_cast<void>(binding.release());
      static_cast<void>(input.release());
      static_cast<void>(policy.release());
      static_cast<void>(value.release());
    }
  };

  [[nodiscard]] std::size_t rows(int capacity) const noexcept {
    const int calls = (capacity + calls_.limit - 1) / calls_.limit;
    return static_cast<std::size_t>(calls * calls_.limit);
  }
  Handle<OrtValue> tensor(std::byte* data, const std::vector<std::int64_t>& shape, int rows,
                          ElementType type) {
    return make_tensor(api_, cpu_.get(), data, with_rows(shape, rows), type);
  }
  Binding& binding(int start, int rows) {
    const auto [at, added] = bindings_.try_emplace({start, rows});
    Binding& bound = at->second;
    if (!added) return bound;
    const std::string doing = "binding a batch to the network " + model_->path.string();
    const std::size_t row_bytes = plan_->input_row * size_of(plan_->input_type);
    bound.input = tensor(input_.data() + static_cast<std::size_t>(start) * row_bytes,
                         plan_->input_shape, rows, plan_->input_type);
    bound.policy = tensor(policy_.row(start), plan_->policy.shape, rows, plan_->policy.type);
    bound.value = tensor(value_.row(start), plan_->value.shape, rows, plan_->value.type);
    bound.binding = make<EvaluationError, OrtIoBinding>(
        api_, api_.ReleaseIoBinding, doing,
        [&](auto** made) { return api_.CreateIoBinding(session_, made); });
    OrtIoBinding* io = bound.binding.get();
    const auto checked = [&](OrtStatus* status) { check<EvaluationError>(api_, status, doing); };
    checked(api_.BindInput(io, plan_->input.c_str(), bound.input.get()));
    checked(api_.BindOutput(io, plan_->policy.name.c_str(), bound.policy.get()));
    checked(api_.BindOutput(io, plan_->value.name.c_str(), bound.value.get()));
    return bound;
  }

  std::shared_ptr<LoadedModel> model_;
  const Api& api_;
  std::shared_ptr<const Plan> plan_;
  OrtSession* session_;
  Handle<OrtMemoryInfo> cpu_;
  Buffer input_;
  Output policy_;
  Output value_;
  std::map<std::pair<int, int>, Binding> bindings_;  ///< by first row and rows
};

class OrtNetwork final : public RawNetwork {
 public:
  OrtNetwork(std::shared_ptr<LoadedModel> model, std::shared_ptr<const Plan> plan)
      : model_(std::move(model)), plan_(std::move(plan)) {}

  [[nodiscard]] ElementType input_type() const noexcept override { return plan_->input_type; }
  [[nodiscard]] EvaluatorTraits traits() const noexcept override {
    EvaluatorTraits traits;
    traits.device_batches = model_->on_gpu() ? 2 : 0;
    return traits;
  }
  [[nodiscard]] std::string provider() const override { return model_->provider; }
  [[nodiscard]] std::unique_ptr<RawMemory> make_memory(int capacity) override {
    check_usable();
    CallPlan calls{capacity, false, model_->on_gpu()};
    if (model_->options.max_batch > 0) calls.limit = std::min(capacity, model_->options.max_batch);
    if (plan_->fixed_batch > 0) calls = {plan_->fixed_batch, true, false};
    return std::make_unique<OrtMemory>(model_, plan_, calls, capacity);
  }
  int run(RawMemory& memory, int rows) override {
    auto& batch = static_cast<OrtMemory&>(memory);
    int computed = 0;
    for (int start = 0; start < rows; start += batch.calls_.limit) {
      computed += batch.run(start, std::min(batch.calls_.limit, rows - start));
    }
    batch.convert(rows);
    return computed;
  }
  void check_usable() const override {
    if (!model_->forked()) return;
    throw EvaluationError("the process was forked after the network " + model_->path.string() +
                          " was loaded; make the evaluator in the new process (or start it with "
                          "multiprocessing's 'spawn')");
  }

 private:
  std::shared_ptr<LoadedModel> model_;
  std::shared_ptr<const Plan> plan_;
};

ElementType element_type(const LoadedModel& model, const TensorInfo& tensor) {
  if (tensor.type == kTypeFloat32) return ElementType::float32;
  if (tensor.type == kTypeFloat16) return ElementType::float16;
  throw ModelError("the model " + model.path.string() + " does not fit: '" + tensor.name +
                   "' must be float32 or float16, found " + to_string(tensor));
}

const TensorInfo* find(const std::vector<TensorInfo>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const TensorInfo& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

/// The tensor that the spec names; null when it names none.
const TensorInfo* named(const LoadedModel& model, const std::vector<TensorInfo>& tensors,
                        const char* field, const std::string& name) {
  if (name.empty()) return nullptr;
  if (const TensorInfo* tensor = find(tensors, name)) return tensor;
  throw ModelError("the model " + model.path.string() + " has no tensor '" + name +
                   "', which the spec names as " + field + "; found " + to_string(tensors));
}

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Whether a declared row has `size` numbers, as far as its shape is declared.
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
                              const TensorInfo* taken) {
  if (const TensorInfo* tensor = find(model.outputs, usual); tensor != nullptr && tensor != taken) {
    return *tensor;
  }
  const TensorInfo* found = nullptr;
  int count = 0;
  for (const TensorInfo& tensor : model.outputs) {
    if (&tensor == taken || !may_hold(tensor, size)) continue;
    found = &tensor;
    ++count;
  }
  if (count == 1) return *found;
  throw ModelError("the model " + model.path.string() + " must have one output '" + usual +
                   "' of " + std::to_string(size) + " numbers a row, found " +
                   to_string(model.outputs) + "; the spec's " + usual + "_output can name it");
}

void plan_input(const LoadedModel& model, const ModelSpec& spec, const PlaneShape& planes,
                Plan& plan) {
  const TensorInfo* input = named(model, model.inputs, "input", spec.input);
  if (input == nullptr) {
    if (model.inputs.size() != 1) {
      throw ModelError("the model " + model.path.string() + " must have one input, found " +
                       to_string(model.inputs) + "; the spec's input can name it");
    }
    input = &model.inputs[0];
  }
  plan.input = input->name;
  plan.input_type = element_type(model, *input);
  plan.input_row = planes.elements();
  const auto dims = planes.dims();
  std::vector<std::int64_t> wanted = {-1, dims[0], dims[1], dims[2]};
  if (input->shape.size() == 2) wanted = {-1, static_cast<std::int64_t>(planes.elements())};
  bool fits = input->shape.size() == wanted.size();
  for (std::size_t i = 1; fits && i < wanted.size(); ++i) {
    fits = input->shape[i] < 0 || input->shape[i] == wanted[i];
  }
  if (!fits || input->shape[0] == 0) {
    throw ModelError("the model " + model.path.string() +
                     " does not fit the game: expected input " +
                     to_string(TensorInfo{input->name, input->type, wanted}) + " (" +
                     std::to_string(planes.channels) + " planes of " + std::to_string(planes.rows) +
                     " rows and " + std::to_string(planes.columns) + " columns, layout " +
                     spec.layout + "), found " + to_string(*input));
  }
  plan.fixed_batch = input->shape[0] > 0 ? static_cast<int>(input->shape[0]) : 0;
  plan.input_shape = wanted;
}

/// Runs zeros through the network: its outputs' true shapes are seen before a search trusts them.
void probe(LoadedModel& model, Plan& plan) {
  const Api& api = model.library.api();
  int rows = model.options.max_batch == 1 ? 1 : 2;
  if (plan.fixed_batch > 0) rows = plan.fixed_batch;
  const Buffer zeros(static_cast<std::size_t>(rows) * plan.input_row * size_of(plan.input_type));
  const auto memory = cpu_memory(api);
  const auto input = make_tensor(api, memory.get(), zeros.data(), with_rows(plan.input_shape, rows),
                                 plan.input_type);
  const char* inputs[] = {plan.input.c_str()};
  const OrtValue* values[] = {input.get()};
  const char* outputs[] = {plan.policy.name.c_str(), plan.value.name.c_str()};
  OrtValue* made[] = {nullptr, nullptr};
  check<ModelError>(api, api.Run(model.session.get(), nullptr, inputs, values, 1, outputs, 2, made),
                    "the model " + model.path.string() + " does not fit the game: a batch of " +
                        std::to_string(rows) + " fails");
  const Handle<OrtValue> owned[] = {{made[0], {api.ReleaseValue}}, {made[1], {api.ReleaseValue}}};
  OutputPlan* plans[] = {&plan.policy, &plan.value};
  for (std::size_t i = 0; i < 2; ++i) {
    plans[i]->shape = shape_of(api, owned[i].get());
    const auto& shape = plans[i]->shape;
    const auto expected = static_cast<std::int64_t>(plans[i]->row) * rows;
    if (shape.empty() || shape[0] != rows || product(shape) != expected) {
      throw ModelError("the model " + model.path.string() + " does not fit the game: expected " +
                       std::to_string(plans[i]->row) + " numbers a row of output '" +
                       plans[i]->name + "', found for a batch of " + std::to_string(rows) + " " +
                       to_string(TensorInfo{plans[i]->name, kTypeFloat32, shape}));
    }
  }
}

}  // namespace

int CallPlan::padded(int rows) const noexcept {
  if (exactly) return limit;
  if (!buckets) return rows;
  int bucket = 1;  // 1 2 4 8 16 24 32 48 64 96 ...
  while (bucket < rows) {
    const int between = bucket + bucket / 2;
    if (bucket >= 16 && between >= rows) return std::min(between, limit);
    bucket *= 2;
  }
  return std::min(bucket, limit);
}

LoadedModel::LoadedModel(const Library& used, std::filesystem::path file, OrtOptions wanted)
    : library(used), path(std::move(file)), options(std::move(wanted)) {
  if (options.providers.empty()) {
    open_on_best();
  } else {
    open(options.providers);
    reason = "named";
  }
  inputs = session_inputs(library.api(), session.get());
  outputs = session_outputs(library.api(), session.get());
  // A second session of a tiny model costs little memory and no thread then waits for another.
  constexpr std::uintmax_t kTiny = 2U << 20U;
  private_sessions_ = !on_gpu() && options.threads <= 1 && std::filesystem::file_size(path) < kTiny;
  idle_.push_back(session.get());
}

LoadedModel::~LoadedModel() {
  if (!forked()) return;
  static_cast<void>(session.release());  // its threads are the parent's
  for (auto& other : more_) static_cast<void>(other.release());
  static_cast<void>(session_options.release());
}

void LoadedModel::open(const std::vector<OrtProvider>& providers) {
  session_options = make_options(library, providers, options);
  session = make_session(library, path, session_options.get());
  provider = full_name(library, providers.front().name);
}

void LoadedModel::open_on_best() {
  try {
    open({{kCuda, {}}});
    reason = "the GPU works";
    return;
  } catch (const ModelError& error) {
    reason = error.what();
  }
  open({{kCpu, {}}});
}

OrtSession* LoadedModel::acquire() {
  if (!private_sessions_) return session.get();
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      OrtSession* taken = idle_.back();
      idle_.pop_back();
      return taken;
    }
  }
  Handle<OrtSession> made = make_session(library, path, session_options.get());
  OrtSession* taken = made.get();
  const std::lock_guard lock(mutex_);
  more_.push_back(std::move(made));
  return taken;
}

void LoadedModel::release(OrtSession* given) {
  if (!private_sessions_ || forked()) return;
  const std::lock_guard lock(mutex_);
  idle_.push_back(given);
}

std::shared_ptr<RawNetwork> fit_network(std::shared_ptr<LoadedModel> model, const ModelSpec& spec,
                                        const NetworkShape& shape) {
  if (model->forked()) {
    throw ModelError("the process was forked after the model " + model->path.string() +
                     " was loaded; make the evaluator in the new process");
  }
  Plan plan;
  plan_input(*model, spec, shape.planes, plan);
  const TensorInfo* policy = named(*model, model->outputs, "policy_output", spec.policy_output);
  const TensorInfo* value = named(*model, model->outputs, "value_output", spec.value_output);
  // By name first: what one output is called tells the other apart.
  if (value == nullptr) value = find(model->outputs, "value");
  if (policy == nullptr) policy = &pick_output(*model, "policy", shape.policy, value);
  if (value == nullptr) value = &pick_output(*model, "value", shape.value, policy);
  plan.policy = {
      policy->name, element_type(*model, *policy), {}, static_cast<std::size_t>(shape.policy)};
  plan.value = {
      value->name, element_type(*model, *value), {}, static_cast<std::size_t>(shape.value)};
  probe(*model, plan);
  return std::make_shared<OrtNetwork>(std::move(model),
                                      std::make_shared<const Plan>(std::move(plan)));
}

}  // namespace pyengine::ort
