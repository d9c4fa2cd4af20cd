#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "eval/modelled_device.h"
#include "eval/network/several.h"
#include "search_fixtures.h"

using namespace pyengine;
using namespace pyengine::search_test;

namespace {

NetworkShape go9_shape() { return {{3, 9, 9, false}, 82, 1}; }

std::shared_ptr<ModelledDevice> device(double latency = 0.0) {
  DeviceModel model;
  model.latency = latency;
  model.per_row = 0.0;
  return std::make_shared<ModelledDevice>(model);
}

}  // namespace

TEST_CASE(
    "several devices: a batch created for one can be evaluated by another with the same answers") {
  const auto first = device();
  const auto alone = first->fit({}, go9_shape());
  const auto alone_memory = alone->make_memory(2);
  const auto network = SeveralDevices({first, device()}).fit({}, go9_shape());
  CHECK(network->runs_on().device_batches == 4);
  const auto memory = network->make_memory(2);
  for (RawMemory* each : {alone_memory.get(), memory.get()}) {
    reinterpret_cast<float*>(each->planes)[80] = 1.0F;
  }
  alone->run(*alone_memory, 2);
  network->run(*memory, 2);
  CHECK(memory->policy[5] == alone_memory->policy[5]);
  CHECK(memory->value[0] == alone_memory->value[0]);
}

TEST_CASE("several devices: the list is not empty and contains devices only") {
  CHECK_THROWS_WITH_AS(SeveralDevices({}), doctest::Contains("got none"), ConfigError);
  DeviceModel processor;
  processor.streams = 0;
  CHECK_THROWS_WITH_AS(SeveralDevices({device(), std::make_shared<ModelledDevice>(processor)}),
                       doctest::Contains("got one on the CPU"), ModelError);
}

TEST_SUITE("concurrent") {
  TEST_CASE("several devices: concurrent batches are distributed evenly") {
    const std::vector devices = {device(0.2), device(0.2)};
    const auto network = SeveralDevices({devices[0], devices[1]}).fit({}, go9_shape());
    std::vector<std::unique_ptr<RawMemory>> memories;
    for (int i = 0; i < 4; ++i) memories.push_back(network->make_memory(4));
    std::vector<std::thread> feeders;
    for (auto& memory : memories) feeders.emplace_back([&] { network->run(*memory, 4); });
    for (std::thread& feeder : feeders) feeder.join();
    for (const auto& each : devices) CHECK(each->counters().batches == 2);
  }

  TEST_CASE("several devices: one tree is searched on both") {
    const std::vector devices = {device(0.001), device(0.001)};
    const std::vector<std::shared_ptr<NetworkSource>> both(devices.begin(), devices.end());
    const auto evaluator =
        std::make_shared<NetworkEvaluator>(std::make_shared<SeveralDevices>(both), ModelSpec{});
    SearchConfig config;
    config.threads = 2;
    config.in_flight = 64;
    config.simulations = 400;
    const auto game = load_game("connect_four");
    Patient host;
    Searcher searcher(game, evaluator, config);
    const SearchResult result = searcher.search(State(game), config, host);
    CHECK(result.simulations == 400);
    const std::uint64_t first = devices[0]->counters().rows;
    const std::uint64_t second = devices[1]->counters().rows;
    CHECK(first + second == result.evaluations);
    CHECK(first > 0);
    CHECK(second > 0);
  }
}
