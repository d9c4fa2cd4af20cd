#include "eval/ort/graphs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "eval/network/half.h"
#include "eval/ort/session.h"

namespace pyengine::ort {
namespace {

constexpr const char* kDoing = "a place on the device for a batch";

struct FreeOnDevice {
  const Api* api;
  OrtAllocator* allocator;
  void operator()(std::byte* memory) const noexcept {
    OrtStatus* status = api->AllocatorFree(allocator, memory);
    if (status != nullptr) api->ReleaseStatus(status);
  }
};
using OnDevice = std::unique_ptr<std::byte, FreeOnDevice>;

OnDevice allocate(const Api& api, OrtAllocator* allocator, std::size_t bytes) {
  void* memory = nullptr;
  check<EvaluationError>(api, api.AllocatorAlloc(allocator, bytes, &memory), kDoing);
  return OnDevice(static_cast<std::byte*>(memory), FreeOnDevice{&api, allocator});
}

/// Options of a call that neither captures nor replays.
Handle<OrtRunOptions> without_graph(const Api& api) {
  const std::string doing = "options of a call without a CUDA graph";
  auto result = make<EvaluationError, OrtRunOptions>(
      api, api.ReleaseRunOptions, doing,
      [&](auto** options) { return api.CreateRunOptions(options); });
  check<EvaluationError>(api, api.AddRunConfigEntry(result.get(), "gpu_graph_id", "-1"), doing);
  return result;
}

/// Writes zeros, or ones to every third element.
void fill(const HostTensor& tensor, bool ones) {
  std::memset(tensor.data, 0, tensor.bytes());
  if (!ones) return;
  constexpr float kOne = 1.0F;
  constexpr std::uint16_t kHalfOne = 0x3C00;
  constexpr std::int8_t kByteOne = 1;
  const std::size_t size = size_of(tensor.type);
  for (std::size_t at = 0; at < tensor.bytes(); at += 3 * size) {
    if (tensor.type == ElementType::float32) std::memcpy(tensor.data + at, &kOne, size);
    if (tensor.type == ElementType::float16) std::memcpy(tensor.data + at, &kHalfOne, size);
    if (tensor.type == ElementType::int8) std::memcpy(tensor.data + at, &kByteOne, size);
  }
}

float number_at(const std::byte* data, ElementType type) {
  if (type == ElementType::float16) {
    std::uint16_t half = 0;
    std::memcpy(&half, data, sizeof half);
    return from_half(half);
  }
  float number = 0.0F;
  std::memcpy(&number, data, sizeof number);
  return number;
}

/// Whether an output equals that of a plain call, up to rounding.
bool agrees(const HostTensor& tensor, const std::vector<std::byte>& plain) {
  constexpr float kTolerance = 1e-3F;
  for (std::size_t at = 0; at < plain.size(); at += size_of(tensor.type)) {
    const float actual = number_at(tensor.data + at, tensor.type);
    const float expected = number_at(plain.data() + at, tensor.type);
    if (std::isnan(actual) && std::isnan(expected)) continue;
    if (actual == expected) continue;  // including infinities
    if (std::abs(actual - expected) <= kTolerance * std::max(1.0F, std::abs(expected))) continue;
    return false;
  }
  return true;
}

}  // namespace

std::size_t HostTensor::bytes() const noexcept {
  const std::int64_t elements =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  return static_cast<std::size_t>(elements) * size_of(type);
}

/// The device memory of a session's graph. Used by one thread.
class Graphs::Place {
 public:
  Place(const Api& api, DeviceCopies& copies, OrtSession* session, const HostCall& call)
      : api_(api),
        copies_(copies),
        session_(session),
        memory_(copies.memory(api)),
        allocator_(make<EvaluationError, OrtAllocator>(
            api, api.ReleaseAllocator, kDoing,
            [&](auto** result) { return api.CreateAllocator(session, memory_.get(), result); })),
        parts_{part(call.input), part(call.outputs[0]), part(call.outputs[1])},
        binding_(make<EvaluationError, OrtIoBinding>(
            api, api.ReleaseIoBinding, kDoing,
            [&](auto** result) { return api.CreateIoBinding(session, result); })) {
    const auto checked = [&](OrtStatus* status) { check<EvaluationError>(api, status, kDoing); };
    checked(api.BindInput(binding_.get(), input().name.c_str(), input().value.get()));
    for (const Part& output : outputs()) {
      checked(api.BindOutput(binding_.get(), output.name.c_str(), output.value.get()));
    }
  }

  [[nodiscard]] bool fits(const HostCall& call) const {
    const auto same = [](const Part& part, const HostTensor& tensor) {
      return part.name == tensor.name && part.bytes == tensor.bytes();
    };
    return same(input(), call.input) && std::ranges::equal(outputs(), call.outputs, same);
  }

  void run(const HostCall& call) {
    copies_.in(input().data.get(), call.input.data, input().bytes);
    if (captured_) {
      launch();
    } else {
      capture();
    }
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      const Part& output = outputs()[i];
      copies_.out(call.outputs[i].data, output.data.get(), output.bytes);
    }
  }

 private:
  struct Part {
    std::string name;
    std::size_t bytes;
    OnDevice data;
    Handle<OrtValue> value;
  };

  [[nodiscard]] const Part& input() const { return parts_[0]; }
  [[nodiscard]] std::span<const Part> outputs() const { return std::span(parts_).subspan(1); }

  /// Runs the session: its first run captures the graph, later ones replay it.
  void launch() {
    check<EvaluationError>(api_, api_.RunWithBinding(session_, nullptr, binding_.get()),
                           "the network's CUDA graph failed");
  }

  void capture() {
    try {
      copies_.before_capture();
      launch();
    } catch (const EngineError& error) {
      throw CaptureError(error.what(), true);
    }
    captured_ = true;
  }

  [[nodiscard]] Part part(const HostTensor& tensor) const {
    OnDevice data = allocate(api_, allocator_.get(), tensor.bytes());
    auto value = make_tensor(api_, memory_.get(), data.get(), tensor.shape, tensor.type);
    return {tensor.name, tensor.bytes(), std::move(data), std::move(value)};
  }

  const Api& api_;
  DeviceCopies& copies_;
  OrtSession* const session_;
  const Handle<OrtMemoryInfo> memory_;
  const Handle<OrtAllocator> allocator_;
  const std::array<Part, 3> parts_;  ///< input, outputs
  const Handle<OrtIoBinding> binding_;
  bool captured_ = false;
};

Graphs::Graphs(const Api& api, std::unique_ptr<DeviceCopies> copies)
    : api_(api), copies_(std::move(copies)), without_graph_(without_graph(api)) {}

Graphs::~Graphs() {
  thread_.run([&] { places_.clear(); });
}

void Graphs::add(OrtSession* session) {
  const std::lock_guard lock(mutex_);
  places_.try_emplace(session);
}

bool Graphs::has(OrtSession* session) const {
  const std::lock_guard lock(mutex_);
  return places_.contains(session);
}

void Graphs::remove(OrtSession* session) {
  Places::node_type removed;
  {
    const std::lock_guard lock(mutex_);
    removed = places_.extract(session);
  }
  thread_.run([&] { removed = {}; });
}

int Graphs::num_captured() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::count_if(places_.begin(), places_.end(),
                                        [](const auto& one) { return one.second != nullptr; }));
}

Graphs::Place* Graphs::place_for(OrtSession* session, const HostCall& call) const {
  const std::lock_guard lock(mutex_);
  const auto entry = places_.find(session);
  if (entry == places_.end() || entry->second == nullptr) return nullptr;
  return entry->second->fits(call) ? entry->second.get() : nullptr;
}

void Graphs::capture(OrtSession* session, const HostCall& call, const PlainCall& plain) {
  {
    const std::lock_guard lock(mutex_);
    const auto entry = places_.find(session);
    if (entry == places_.end() || entry->second != nullptr) return;
  }
  std::unique_ptr<Place> place;
  thread_.run([&] {
    for (const bool ones : {false, true}) {  // the first is captured, the second replayed
      fill(call.input, ones);
      plain(without_graph_.get());
      std::vector<std::vector<std::byte>> expected;
      for (const HostTensor& output : call.outputs) {
        expected.emplace_back(output.data, output.data + output.bytes());
        std::memset(output.data, 0xFF, output.bytes());  // NaN
      }
      try {
        if (place == nullptr) place = std::make_unique<Place>(api_, *copies_, session, call);
        place->run(call);
      } catch (const CaptureError&) {
        throw;
      } catch (const EngineError& error) {
        throw CaptureError(error.what(), false);
      }
      if (std::ranges::equal(call.outputs, expected, agrees)) continue;
      throw CaptureError("a replayed graph gives other answers than the network", false);
    }
    fill(call.input, false);
  });
  const std::lock_guard lock(mutex_);
  places_[session] = std::move(place);
}

void Graphs::run(OrtSession* session, const HostCall& call, const PlainCall& plain) {
  Place* place = place_for(session, call);
  if (place == nullptr) return run_plainly(plain);
  thread_.run([&] { place->run(call); });
}

void Graphs::run_plainly(const PlainCall& plain) {
  thread_.run([&] { plain(without_graph_.get()); });
}

}  // namespace pyengine::ort
