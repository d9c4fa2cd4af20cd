/// Scheduling overhead of a run's threads in counts, because times on two cores say nothing about
/// sixty-four.
#include <doctest/doctest.h>

#include <algorithm>

#include "search_fixtures.h"

using namespace pyengine;
using namespace pyengine::search_test;

namespace {

/// Counters per row in a run of many trees on a device.
struct Costs {
  double passes = 0.0;
  double wake_ups = 0.0;
  double queue_operations = 0.0;
};

Costs costs_of(int threads, const Mock& mock) {
  const auto game = load_game("gomoku", {{"board_size", 7LL}});
  const std::vector<State> states = random_states(game, 256, 4);
  SearchConfig config;
  config.threads = threads;
  config.batch_size = 64;
  config.simulations = 40;
  config.symmetry = SymmetryMode::none;
  config.cache_entries = 0;
  Searcher searcher(game, std::make_shared<MockEvaluator>(mock), config);
  Patient host;
  searcher.search_many(pointers_to(states), config, host);
  const SearchStats stats = searcher.stats();
  const auto rows = static_cast<double>(stats.evaluations);
  const SchedulerCounters& counted = stats.scheduler;
  return {static_cast<double>(counted.passes) / rows, static_cast<double>(counted.wake_ups) / rows,
          static_cast<double>(counted.queue_operations) / rows};
}

/// The minimum of three runs: other processes may delay the threads, and batches are then partial.
Costs least_costs_of(int threads, const Mock& device) {
  Costs least = costs_of(threads, device);
  for (int again = 0; again < 2; ++again) {
    const Costs costs = costs_of(threads, device);
    least.passes = std::min(least.passes, costs.passes);
    least.wake_ups = std::min(least.wake_ups, costs.wake_ups);
    least.queue_operations = std::min(least.queue_operations, costs.queue_operations);
  }
  return least;
}

TEST_SUITE("concurrent") {
  // Measured: 0.12 to 0.16 passes, 0.02 to 0.06 wake-ups, 2.2 queue operations with 2 to 32
  // threads; with a pass for each search and a wake-up for each event it was 1.8 to 3.3, 0.25 and
  // 2.4. One worker alone takes a pass for each search.
  TEST_CASE("passes and wake-ups per row do not depend on the number of threads") {
    const Mock device{.runs_on = on_device(2), .delay = std::chrono::microseconds(500)};
    for (const int threads : {2, 8, 32}) {
      CAPTURE(threads);
      const Costs costs = least_costs_of(threads, device);
      CHECK(costs.passes < 0.5);
      CHECK(costs.wake_ups < 0.2);
      CHECK(costs.queue_operations < 2.4);
    }
  }
}

}  // namespace
