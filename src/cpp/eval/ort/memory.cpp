#include "eval/ort/memory.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "base/error.h"
#include "eval/network/half.h"

namespace pyengine::ort {
namespace {

constexpr std::align_val_t kCacheLine{64};

/// A CPU session borrowed for one call. Engines that share a model then need only as many sessions
/// as there are concurrent calls.
class Borrowed {
 public:
  explicit Borrowed(LoadedModel& model) : model_(model), session_(model.acquire()) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() { model_.release(session_); }
  [[nodiscard]] OrtSession* get() const noexcept { return session_; }

 private:
  LoadedModel& model_;
  OrtSession* const session_;
};

}  // namespace

Buffer::Buffer(std::size_t bytes)
    : memory_(static_cast<std::byte*>(::operator new(bytes, kCacheLine))) {
  std::fill_n(memory_.get(), bytes, std::byte{0});
}

void Buffer::Delete::operator()(std::byte* memory) const noexcept {
  ::operator delete(memory, kCacheLine);
}

Output::Output(const OutputPlan& plan, std::size_t rows)
    : plan_(plan), raw_(rows * plan.row * size_of(plan.type)) {
  if (plan.type == ElementType::float16) floats_.resize(rows * plan.row);
}

std::byte* Output::row(int i) const noexcept {
  return raw_.data() + static_cast<std::size_t>(i) * plan_.row * size_of(plan_.type);
}

const float* Output::floats() const noexcept {
  return floats_.empty() ? reinterpret_cast<const float*>(raw_.data()) : floats_.data();
}

void Output::convert(int rows) {
  if (floats_.empty()) return;
  const auto* halves = reinterpret_cast<const std::uint16_t*>(raw_.data());
  std::transform(halves, halves + static_cast<std::size_t>(rows) * plan_.row, floats_.begin(),
                 from_half);
}

OrtMemory::OrtMemory(std::shared_ptr<LoadedModel> model, std::shared_ptr<const Plan> plan,
                     CallPlan calls, int capacity)
    : calls_(std::move(calls)),
      model_(std::move(model)),
      api_(model_->library.api()),
      plan_(std::move(plan)),
      cpu_(cpu_memory(api_)),
      input_(rows_of(capacity) * plan_->input_row * size_of(plan_->input_type)),
      policy_(plan_->policy, rows_of(capacity)),
      value_(plan_->value, rows_of(capacity)) {
  planes = input_.data();
  RawMemory::policy = policy_.floats();
  RawMemory::value = value_.floats();
  prepare(*model_);
}

OrtMemory::~OrtMemory() {
  if (!model_->forked()) return;
  for (auto& [part, call] :
       made_) {  // owned by the parent process: a release could wait for its threads
    static_cast<void>(call.input.release());
    static_cast<void>(call.policy.release());
    static_cast<void>(call.value.release());
  }
}

void OrtMemory::prepare(LoadedModel& model) {
  if (!model.on_device()) return;
  CallPlan plan = calls_;
  if (const auto sizes = plan.sizes(); sizes.size() > 1 && model.session_a_size()) {
    plan.kept = worthwhile(sizes, [&](int rows, double most) {
      std::optional<Call> timed;  // if unknown
      return model.seconds_of(device_call(rows), most, [&](OrtSession* session) {
        if (!timed) timed = tensors(0, rows);
        first_run(model, session, *timed);
      });
    });
  }
  plans_.insert_or_assign(&model, plan);
  for (const int size : plan.sizes()) call(model, 0, size);
}

int OrtMemory::run(LoadedModel& model, int rows) {
  const CallPlan& plan = calls_of(model);
  const bool one_size = repeatable && model.session_a_size();
  int computed = 0;
  for (int start = 0; start < rows; start += plan.limit) {
    const int padded = plan.padded(one_size ? plan.limit : std::min(plan.limit, rows - start));
    Call& entry = call(model, start, padded);
    if (model.on_device()) {
      const std::shared_lock shared(device_lock());
      run(model, entry.session, entry);
    } else {
      const Borrowed session(model);
      run_plainly(session.get(), nullptr, entry);
    }
    computed += padded;
  }
  policy_.convert(rows);
  value_.convert(rows);
  return computed;
}

std::size_t OrtMemory::rows_of(int capacity) const noexcept {
  const int calls = (capacity + calls_.limit - 1) / calls_.limit;
  return static_cast<std::size_t>(calls * calls_.limit);
}

const CallPlan& OrtMemory::calls_of(const LoadedModel& model) const {
  const auto plan = plans_.find(&model);
  return plan == plans_.end() ? calls_ : plan->second;
}

DeviceCall OrtMemory::device_call(int rows) const {
  return {plan_->input, plan_->input_shape, rows, calls_.limit};
}

OrtMemory::Call& OrtMemory::call(LoadedModel& model, int start, int rows) {
  Call& entry = made_[{&model, start, rows}];
  if (entry.input == nullptr) entry = tensors(start, rows);
  if (model.on_device() && entry.session == nullptr) {
    entry.session = model.session_for(device_call(rows),
                                      [&](OrtSession* opened) { first_run(model, opened, entry); });
  }
  return entry;
}

OrtMemory::Call OrtMemory::tensors(int start, int rows) const {
  const std::size_t row_bytes = plan_->input_row * size_of(plan_->input_type);
  HostCall host{{plan_->input, plan_->input_type, with_rows(plan_->input_shape, rows),
                 input_.data() + static_cast<std::size_t>(start) * row_bytes},
                {{{plan_->policy.name, plan_->policy.type, with_rows(plan_->policy.shape, rows),
                   policy_.row(start)},
                  {plan_->value.name, plan_->value.type, with_rows(plan_->value.shape, rows),
                   value_.row(start)}}}};
  const auto tensor = [&](const HostTensor& part) {
    return make_tensor(api_, cpu_.get(), part.data, part.shape, part.type);
  };
  Call entry;
  entry.input = tensor(host.input);
  entry.policy = tensor(host.outputs[0]);
  entry.value = tensor(host.outputs[1]);
  entry.host = std::move(host);
  return entry;
}

void OrtMemory::first_run(const LoadedModel& model, OrtSession* session, Call& call) const {
  if (model.graphs != nullptr) {
    model.graphs->capture(session, call.host,
                          [&](const OrtRunOptions* with) { run_plainly(session, with, call); });
  }
  run(model, session, call);
}

void OrtMemory::run(const LoadedModel& model, OrtSession* session, Call& call) const {
  if (model.graphs == nullptr || !model.graphs->has(session)) {
    return run_plainly(session, nullptr, call);
  }
  model.graphs->run(session, call.host,
                    [&](const OrtRunOptions* with) { run_plainly(session, with, call); });
}

void OrtMemory::run_plainly(OrtSession* session, const OrtRunOptions* with, Call& call) const {
  // A binding would synchronize the whole device; on the CPU it is tied to one session.
  const char* inputs[] = {plan_->input.c_str()};
  const OrtValue* values[] = {call.input.get()};
  const char* outputs[] = {plan_->policy.name.c_str(), plan_->value.name.c_str()};
  OrtValue* filled[] = {call.policy.get(), call.value.get()};
  OrtStatus* status = api_.Run(session, with, inputs, values, 1, outputs, 2, filled);
  if (status == nullptr) return;
  check<EvaluationError>(api_, status, "the network " + model_->path.string() + " failed");
}

}  // namespace pyengine::ort
