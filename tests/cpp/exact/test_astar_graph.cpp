#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "path_problems.h"

namespace pyengine::astar::testing {
namespace {

constexpr NodeId kNodes = 60;

Answer search(const RandomGraph& graph, const std::vector<double>& h, const Query& query,
              const std::vector<NodeId>& goals) {
  Limits limits = no_limits();
  return search_graph(graph.view(), h, 0, GoalSet(graph.nodes(), goals, limits), query, limits);
}

/// Estimates between `least` and 1 times the cost to go, with a different factor per node.
std::vector<double> scaled(const std::vector<double>& truth, std::uint32_t seed, double least) {
  std::mt19937 random(seed);
  std::vector<double> h(truth);
  for (double& value : h) {
    value *= least + (1 - least) * static_cast<double>(random() % 1000) / 1000.0;
    value = std::isnan(value) ? 0 : value;
  }
  return h;
}

void check_path(const RandomGraph& graph, const Answer& answer, const std::vector<NodeId>& goals) {
  REQUIRE(!answer.path.empty());
  CHECK(answer.path.front() == 0);
  CHECK(std::ranges::count(goals, answer.path.back()) == 1);
  CHECK(answer.cost == graph.cost_of(answer.path));
}

TEST_CASE("every admissible estimate gives the least cost, consistent or not") {
  std::uint64_t reopened = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const RandomGraph graph(seed, kNodes, 1 + static_cast<int>(seed % 4));
    const std::vector<NodeId> goals = {kNodes - 1, kNodes / 2};
    const std::vector<double> truth = graph.costs_to(goals);
    std::vector<double> half(truth);
    for (double& h : half) h /= 2;
    const std::vector<double> uneven = scaled(truth, seed, 0.0);
    for (const auto& h : {std::vector<double>{}, half, truth, uneven}) {
      for (const Method method : {Method::astar, Method::ida}) {
        if (method == Method::ida && (graph.edges.size() > kNodes || h.empty())) continue;
        const Answer answer = search(graph, h, {.method = method}, goals);
        CHECK(answer.cost == truth[0]);
        if (std::isinf(truth[0])) {
          CHECK(answer.stop == StopReason::exhausted);
          CHECK(!answer.optimal);
          continue;
        }
        CHECK(answer.optimal);
        CHECK(answer.bound == 1.0);
        check_path(graph, answer, goals);
        if (h != uneven) CHECK(answer.counts.reopened == 0);
        reopened += answer.counts.reopened;
      }
    }
  }
  CHECK(reopened > 0);
}

TEST_CASE("a weight bounds the cost, and greedy search finds a path") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const RandomGraph graph(seed, kNodes, 3);
    const std::vector<NodeId> goals = {kNodes - 1};
    const std::vector<double> truth = graph.costs_to(goals);
    if (std::isinf(truth[0])) continue;
    const std::vector<double> h = scaled(truth, seed, 0.0);
    const Answer weighted = search(graph, h, {.weight_h = 3.0}, goals);
    check_path(graph, weighted, goals);
    CHECK(weighted.bound == 3.0);
    CHECK(weighted.cost <= 3.0 * truth[0]);
    const Answer greedy = search(graph, h, {.weight_g = 0.0}, goals);
    check_path(graph, greedy, goals);
    CHECK(std::isinf(greedy.bound));
    CHECK(greedy.counts.reopened == 0);
    CHECK(!greedy.optimal);
  }
}

TEST_CASE("estimates that exceed the cost to go are detected if they mislead the search") {
  int misled = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const RandomGraph graph(seed, kNodes, 3);
    const std::vector<NodeId> goals = {kNodes - 1};
    const std::vector<double> truth = graph.costs_to(goals);
    std::vector<double> h = scaled(truth, seed, 0.0);
    for (double& value : h) value *= 5;
    const Answer answer = search(graph, h, {}, goals);
    if (answer.path.empty()) continue;
    check_path(graph, answer, goals);
    CHECK(answer.optimal == (answer.cost == truth[0]));
    misled += answer.optimal ? 0 : 1;
  }
  CHECK(misled > 0);
}

TEST_CASE("a node with an infinite estimate is skipped") {
  const RandomGraph graph(1, kNodes, 3);
  const std::vector<double> h(kNodes, kNever);
  const Answer answer = search(graph, h, {}, {kNodes - 1});
  CHECK(answer.stop == StopReason::exhausted);
  CHECK(answer.counts.expanded == 0);
}

TEST_CASE("the start may be a goal") {
  const RandomGraph graph(1, kNodes, 3);
  for (const Method method : {Method::astar, Method::ida}) {
    const Answer answer = search(graph, {}, {.method = method}, {0});
    CHECK(answer.cost == 0.0);
    CHECK(answer.path == std::vector<NodeId>{0});
    CHECK(answer.optimal);
  }
}

TEST_CASE("a search ends at its memory limit, at its time limit, or by a poll") {
  const RandomGraph graph(1, 20'000, 3);
  const std::vector<NodeId> nowhere = {19'999};
  const auto ended = [&](Limits limits) {
    const Query dijkstra{.weight_h = 0.0};
    Limits goal_limits = no_limits();
    const GoalSet goals(graph.nodes(), nowhere, goal_limits);
    return search_graph(graph.view(), {}, 0, goals, dijkstra, limits).stop;
  };
  CHECK(ended({1000, std::nullopt, {}}) == StopReason::memory);
  CHECK(ended({330'000, std::nullopt, {}}) == StopReason::memory);
  CHECK(ended({std::uint64_t{1} << 30U, 1e-9, {}}) == StopReason::seconds);
  Limits stopped(std::uint64_t{1} << 30U, std::nullopt, [](const Counts&) { return false; });
  const auto begun = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(25)) {
  }
  CHECK(ended(stopped) == StopReason::stopped);
}

template <class View>
std::string refusal(const View& view) {
  try {
    view.check();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("invalid arrays are rejected with name and index") {
  using View = GraphView<std::int32_t, double>;
  const auto found =
      [](const std::vector<std::int32_t>& indptr, const std::vector<std::int32_t>& indices,
         const std::vector<double>& weights) { return refusal(View{indptr, indices, weights}); };
  CHECK(found({0, 1, 1}, {1}, {2.0}).empty());
  CHECK(found({1, 1}, {0}, {1.0}) == "indptr[0]: expected 0, got 1");
  CHECK(found({0, 2, 1}, {0, 1}, {1.0, 1.0}) ==
        "indptr[2]: expected at least the entry before, 2, got 1");
  CHECK(found({0, 1}, {1}, {1.0}) == "indices[0]: expected a node below 1, got 1");
  CHECK(found({0, 1}, {-1}, {1.0}) == "indices[0]: expected a node below 1, got -1");
  CHECK(found({0, 3}, {0}, {1.0}) == "indptr[1]: expected at most the number of indices, 1, got 3");
  CHECK(found({0, 1}, {0}, {}) == "weights: expected as many as indices, 1, got 0");
  CHECK(found({0, 1}, {0}, {-1.0}) ==
        "weights[0]: expected a finite cost of at least 0, got -1.000000");
  CHECK(found({0, 1}, {0}, {kNever}) ==
        "weights[0]: expected a finite cost of at least 0, got inf");
  CHECK(found({0, 1}, {0}, {std::nan("")}).find("got nan") != std::string::npos);
}

TEST_CASE("arrays that change after they were checked are an error") {
  RandomGraph graph(1, kNodes, 3);
  for (std::int32_t& to : graph.indices) to = 1'000'000;
  CHECK_THROWS_AS(search(graph, {}, {}, {kNodes - 1}), ConfigError);
}

}  // namespace
}  // namespace pyengine::astar::testing
