#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.h"
#include "eval/modelled_device.h"
#include "search_fixtures.h"

using namespace pyengine;
using namespace pyengine::search_test;

namespace {

NetworkShape shape_of_go9() { return {{3, 9, 9, false}, 82, 1}; }

/// A device whose batches take no time.
std::shared_ptr<ModelledDevice> instant(bool uniform = false) {
  DeviceModel model;
  model.latency = 0.0;
  model.per_row = 0.0;
  model.uniform = uniform;
  return std::make_shared<ModelledDevice>(model);
}

float* plane_row(RawMemory& memory, std::size_t row) {
  return reinterpret_cast<float*>(memory.planes) + row * shape_of_go9().planes.elements();
}

double seconds_of(const auto& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

TEST_CASE("modelled device: answers depend on the planes and not on the row") {
  const auto device = instant();
  const auto network = device->fit({}, shape_of_go9());
  const auto memory = network->make_memory(4);
  for (const std::size_t row : {0U, 2U}) plane_row(*memory, row)[80] = 1.0F;
  plane_row(*memory, 1)[79] = 1.0F;
  CHECK(network->run(*memory, 3) == 4);
  const auto policy = [&](std::size_t row) {
    return std::vector<float>(memory->policy + row * 82, memory->policy + (row + 1) * 82);
  };
  CHECK(policy(0) == policy(2));
  CHECK(policy(0) != policy(1));
  CHECK(memory->value[0] == memory->value[2]);
  CHECK(memory->value[0] != memory->value[1]);
  for (int row = 0; row < 3; ++row) CHECK(std::abs(memory->value[row]) < 1.0F);
}

TEST_CASE("modelled device: uniform answers are zeros") {
  const auto network = instant(true)->fit({}, shape_of_go9());
  const auto memory = network->make_memory(2);
  plane_row(*memory, 0)[5] = 1.0F;
  network->run(*memory, 2);
  CHECK(std::accumulate(memory->policy, memory->policy + 2 * 82, 0.0F) == 0.0F);
  CHECK(memory->value[0] == 0.0F);
}

TEST_CASE("modelled device: a batch takes its latency plus the time of its padded rows") {
  DeviceModel model;
  model.latency = 0.02;
  model.per_row = 0.001;
  ModelledDevice device(model);
  const auto network = device.fit({}, shape_of_go9());
  const auto memory = network->make_memory(32);
  const double seconds = seconds_of([&] { CHECK(network->run(*memory, 5) == 8); });
  CHECK(seconds >= 0.028);
  const DeviceCounters counters = device.counters();
  CHECK(counters.batches == 1);
  CHECK(counters.rows == 5);
  CHECK(counters.padding == 3);
  CHECK(counters.busy == doctest::Approx(0.028));
  CHECK(counters.late >= 0.0);
  CHECK(counters.late <= seconds - 0.0279);
}

TEST_CASE("modelled device: without buckets there is no padding") {
  DeviceModel model;
  model.latency = model.per_row = 0.0;
  model.buckets = false;
  ModelledDevice device(model);
  const auto network = device.fit({}, shape_of_go9());
  const auto memory = network->make_memory(8);
  CHECK(network->run(*memory, 5) == 5);
  CHECK(device.counters().padding == 0);
}

TEST_CASE("modelled device: errors name fields that are out of range") {
  DeviceModel model;
  model.latency = -1.0;
  CHECK_THROWS_WITH_AS(ModelledDevice{model}, doctest::Contains("latency"), ConfigError);
  model = {};
  model.per_row = std::nan("");
  CHECK_THROWS_WITH_AS(ModelledDevice{model}, doctest::Contains("per_row"), ConfigError);
  model = {};
  model.streams = -1;
  CHECK_THROWS_WITH_AS(ModelledDevice{model}, doctest::Contains("got -1"), ConfigError);
  model.streams = 65;
  CHECK_THROWS_WITH_AS(ModelledDevice{model}, doctest::Contains("got 65"), ConfigError);
}

TEST_CASE("modelled device: without streams a worker evaluates, in the modelled time") {
  DeviceModel model;
  model.latency = 0.005;
  model.streams = 0;
  ModelledDevice device(model);
  const auto network = device.fit({}, shape_of_go9());
  CHECK(network->runs_on().device_batches == 0);
  const auto memory = network->make_memory(8);
  CHECK(seconds_of([&] { network->run(*memory, 8); }) >= 0.005);
  CHECK(device.counters().rows == 8);
}

TEST_SUITE("concurrent") {
  TEST_CASE("modelled device: two streams serve two batches at a time, and a third one waits") {
    DeviceModel model;
    model.latency = 0.03;
    model.per_row = 0.0;
    ModelledDevice device(model);
    const auto network = device.fit({}, shape_of_go9());
    const auto run_at_once = [&](int batches) {
      std::vector<std::unique_ptr<RawMemory>> memories;
      for (int i = 0; i < batches; ++i) memories.push_back(network->make_memory(4));
      return seconds_of([&] {
        std::vector<std::thread> feeders;
        for (auto& memory : memories) feeders.emplace_back([&] { network->run(*memory, 4); });
        for (std::thread& feeder : feeders) feeder.join();
      });
    };
    CHECK(run_at_once(2) >= 0.03);
    CHECK(run_at_once(3) >= 0.06);
    CHECK(device.counters().busy == doctest::Approx(0.15));
  }

  TEST_CASE("modelled device: dedicated threads feed it, and every row of a search is counted") {
    const auto device = std::make_shared<ModelledDevice>(DeviceModel{.latency = 1e-3});
    const auto evaluator = std::make_shared<NetworkEvaluator>(device, ModelSpec{});
    const auto game = load_game("connect_four");
    SearchConfig config;
    config.simulations = 300;
    config.threads = 2;
    config.cache_entries = 0;
    Searcher searcher(game, evaluator, config);
    Patient host;
    const SearchResult result = searcher.search(State(game), config, host);
    CHECK(total(result.visits) == 300);
    const DeviceCounters counters = device->counters();
    CHECK(counters.rows == result.evaluations);
    CHECK(counters.batches == searcher.stats().batches);
    CHECK(counters.padding == searcher.stats().padding);
    CHECK(searcher.stats().provider == "modelled device");
  }
}
