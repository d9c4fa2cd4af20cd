/// Calls on fixed device memory, with a fake library and a fake device.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "eval/ort/call_thread.h"
#include "eval/ort/graphs.h"
#include "eval/ort/session.h"

using namespace pyengine;
using namespace pyengine::ort;

namespace {

constexpr std::size_t kRow = 4;

/// Policy: each number doubled. Value: the sum of a row.
void answer(const float* planes, float* policy, float* value, std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    value[row] = 0.0F;
    for (std::size_t i = row * kRow; i < (row + 1) * kRow; ++i) {
      policy[i] = 2.0F * planes[i];
      value[row] += planes[i];
    }
  }
}

/// A fake of ONNX Runtime's sessions with CUDA graphs.
struct Played {
  std::set<std::thread::id> threads;  ///< threads that called sessions
  std::vector<float*> bound;          ///< input, policy, value of the last binding
  std::vector<float*> captured;       ///< the memory of the first call
  std::size_t rows = 0;
  int bindings = 0;
  int runs = 0;
  std::atomic<int> allocated{0};  ///< live allocations of device memory
  bool fails = false;             ///< calls with a binding
  std::string graph_id;           ///< graph id of plain calls
};
Played* g_played = nullptr;

OrtStatus* const kFailed = reinterpret_cast<OrtStatus*>(&g_played);

template <class T>
OrtStatus* make_nothing(T** made) {
  *made = reinterpret_cast<T*>(g_played);
  return nullptr;
}

OrtStatus* bind(OrtIoBinding*, const char*, const OrtValue* value) {
  g_played->bound.push_back(reinterpret_cast<float*>(const_cast<OrtValue*>(value)));
  return nullptr;
}

OrtStatus* replay(OrtSession*, const OrtRunOptions*, const OrtIoBinding*) {
  g_played->threads.insert(std::this_thread::get_id());
  if (g_played->fails) return kFailed;
  if (g_played->captured.empty()) g_played->captured = g_played->bound;
  ++g_played->runs;
  const auto& memory = g_played->captured;
  answer(memory[0], memory[1], memory[2], g_played->rows);
  return nullptr;
}

Api played_api() {
  Api api;
  api.GetErrorMessage = [](const OrtStatus*) { return "played"; };
  api.ReleaseStatus = [](OrtStatus*) {};
  api.CreateRunOptions = make_nothing<OrtRunOptions>;
  api.ReleaseRunOptions = [](OrtRunOptions*) {};
  api.AddRunConfigEntry = [](OrtRunOptions*, const char*, const char* value) -> OrtStatus* {
    g_played->graph_id = value;
    return nullptr;
  };
  api.CreateCpuMemoryInfo = [](int, int, OrtMemoryInfo** made) { return make_nothing(made); };
  api.ReleaseMemoryInfo = [](OrtMemoryInfo*) {};
  api.CreateAllocator = [](const OrtSession*, const OrtMemoryInfo*, OrtAllocator** made) {
    return make_nothing(made);
  };
  api.ReleaseAllocator = [](OrtAllocator*) {};
  api.AllocatorAlloc = [](OrtAllocator*, std::size_t bytes, void** made) -> OrtStatus* {
    *made = ::operator new(bytes);
    ++g_played->allocated;
    return nullptr;
  };
  api.AllocatorFree = [](OrtAllocator*, void* memory) -> OrtStatus* {
    ::operator delete(memory);
    --g_played->allocated;
    return nullptr;
  };
  api.CreateTensorWithDataAsOrtValue = [](const OrtMemoryInfo*, void* data, std::size_t,
                                          const std::int64_t*, std::size_t, int,
                                          OrtValue** made) -> OrtStatus* {
    *made = static_cast<OrtValue*>(data);  // the address identifies the tensor
    return nullptr;
  };
  api.ReleaseValue = [](OrtValue*) {};
  api.CreateIoBinding = [](OrtSession*, OrtIoBinding** made) {
    ++g_played->bindings;
    g_played->bound.clear();
    return make_nothing(made);
  };
  api.ReleaseIoBinding = [](OrtIoBinding*) {};
  api.BindInput = bind;
  api.BindOutput = bind;
  api.RunWithBinding = replay;
  return api;
}

/// Counts the copies per address.
class CountedCopies final : public DeviceCopies {
 public:
  struct Counts {
    std::set<const std::byte*> device;
    int in = 0;
    int out = 0;
  };
  explicit CountedCopies(Counts& counts, bool stale = false)
      : counts_(counts), copies_(processor_copies(stale ? "stale" : "working")) {}
  [[nodiscard]] Handle<OrtMemoryInfo> memory(const Api& api) const override {
    return cpu_memory(api);
  }
  void in(std::byte* device, const std::byte* program, std::size_t bytes) override {
    counts_.device.insert(device);
    ++counts_.in;
    copies_->in(device, program, bytes);
  }
  void out(std::byte* program, const std::byte* device, std::size_t bytes) override {
    counts_.device.insert(device);
    ++counts_.out;
    copies_->out(program, device, bytes);
  }

 private:
  Counts& counts_;
  std::unique_ptr<DeviceCopies> copies_;
};

/// The memory of a batch.
struct Batch {
  explicit Batch(std::size_t rows)
      : planes(rows * kRow), policy(rows * kRow), value(rows), rows(rows) {
    const auto tensor = [&](const char* name, std::vector<float>& data, std::int64_t row) {
      return HostTensor{name,
                        ElementType::float32,
                        {static_cast<std::int64_t>(rows), row},
                        reinterpret_cast<std::byte*>(data.data())};
    };
    call = {tensor("planes", planes, kRow),
            {tensor("policy", policy, kRow), tensor("value", value, 1)}};
  }
  PlainCall plainly() {
    return [this](const OrtRunOptions* options) {
      CHECK(options != nullptr);  // they disable capture
      g_played->threads.insert(std::this_thread::get_id());
      ++plain_calls;
      answer(planes.data(), policy.data(), value.data(), rows);
    };
  }
  [[nodiscard]] bool holds_answers() const {
    std::vector<float> right_policy(policy.size());
    std::vector<float> right_value(value.size());
    answer(planes.data(), right_policy.data(), right_value.data(), rows);
    return policy == right_policy && value == right_value;
  }

  std::vector<float> planes;
  std::vector<float> policy;
  std::vector<float> value;
  std::size_t rows;
  int plain_calls = 0;
  HostCall call;
};

OrtSession* session() { return reinterpret_cast<OrtSession*>(g_played); }

struct Scene {
  explicit Scene(std::size_t rows) {
    played.rows = rows;
    g_played = &played;
  }
  Played played;
  CountedCopies::Counts counts;
  Api api = played_api();
};

}  // namespace

TEST_SUITE("concurrent") {
  TEST_CASE("a call thread makes all calls itself, one at a time") {
    CallThread thread;
    std::set<std::thread::id> makers;
    int inside = 0;
    int calls = 0;
    std::deque<std::thread> askers;
    for (int i = 0; i < 4; ++i) {
      askers.emplace_back([&] {
        for (int k = 0; k < 200; ++k) {
          thread.run([&] {
            CHECK(++inside == 1);
            makers.insert(std::this_thread::get_id());
            ++calls;
            --inside;
          });
        }
      });
    }
    for (std::thread& asker : askers) asker.join();
    CHECK(calls == 800);
    CHECK(makers.size() == 1);
    CHECK(!makers.contains(std::this_thread::get_id()));
  }

  TEST_CASE("an exception of a call reaches its caller, and the thread continues") {
    CallThread thread;
    CHECK_THROWS_AS(thread.run([] { throw std::runtime_error("of the call"); }),
                    std::runtime_error);
    int calls = 0;
    thread.run([&] { ++calls; });
    CHECK(calls == 1);
  }

  TEST_CASE("all callers of a captured session share one slot on the device") {
    Scene scene(8);
    {
      Graphs graphs(scene.api, std::make_unique<CountedCopies>(scene.counts));
      graphs.add(session());
      Batch first(8);
      graphs.capture(session(), first.call, first.plainly());
      graphs.capture(session(), first.call, first.plainly());  // already captured
      CHECK(graphs.num_captured() == 1);
      CHECK(first.plain_calls == 2);  // for comparison with the replays
      CHECK(scene.played.allocated == 3);
      std::deque<std::thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
          Batch batch(8);
          for (int k = 0; k < 50; ++k) {
            std::fill(batch.planes.begin(), batch.planes.end(), static_cast<float>(100 * i + k));
            graphs.run(session(), batch.call, batch.plainly());
            CHECK(batch.holds_answers());
          }
          CHECK(batch.plain_calls == 0);
        });
      }
      for (std::thread& thread : threads) thread.join();
      CHECK(scene.played.runs == 202);
      CHECK(scene.counts.in == 202);
      CHECK(scene.counts.out == 404);
    }
    CHECK(scene.played.bindings == 1);
    CHECK(scene.counts.device.size() == 3);
    CHECK(scene.played.threads.size() == 1);
    CHECK(scene.played.allocated == 0);
    CHECK(scene.played.graph_id == "-1");
  }

  TEST_CASE("a call of another size or before the capture is made without the graph") {
    Scene scene(8);
    Graphs graphs(scene.api, std::make_unique<CountedCopies>(scene.counts));
    graphs.add(session());
    Batch batch(8);
    graphs.run(session(), batch.call, batch.plainly());
    CHECK(batch.plain_calls == 1);
    graphs.capture(session(), batch.call, batch.plainly());
    Batch other(4);
    graphs.run(session(), other.call, other.plainly());
    CHECK(other.plain_calls == 1);
    CHECK(other.holds_answers());
    CHECK(scene.played.runs == 2);
  }

  TEST_CASE("a graph that fails or gives different answers is not used") {
    for (const bool fails : {true, false}) {
      Scene scene(8);
      scene.played.fails = fails;
      Graphs graphs(scene.api, std::make_unique<CountedCopies>(scene.counts, /*stale=*/!fails));
      graphs.add(session());
      Batch batch(8);
      try {
        graphs.capture(session(), batch.call, batch.plainly());
        FAIL("a graph was captured");
      } catch (const CaptureError& error) {
        CHECK(error.may_be_capturing() == fails);
      }
      CHECK(graphs.num_captured() == 0);
      CHECK(scene.played.allocated == 0);
      graphs.run(session(), batch.call, batch.plainly());
      CHECK(batch.holds_answers());
    }
  }

  TEST_CASE("a closed session leaves nothing on the device") {
    Scene scene(8);
    Graphs graphs(scene.api, std::make_unique<CountedCopies>(scene.counts));
    graphs.add(session());
    Batch batch(8);
    graphs.capture(session(), batch.call, batch.plainly());
    graphs.remove(session());
    CHECK(!graphs.has(session()));
    CHECK(scene.played.allocated == 0);
  }
}
