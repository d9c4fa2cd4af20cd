#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "eval/modelled_device.h"
#include "eval/traced.h"
#include "search_fixtures.h"

using namespace pyengine;
using namespace pyengine::search_test;

namespace {

std::vector<TraceSpan> spans_of_search(double latency, int streams, int threads) {
  DeviceModel model;
  model.latency = latency;
  model.per_row = 0.0;
  model.streams = streams;
  const auto network =
      std::make_shared<NetworkEvaluator>(std::make_shared<ModelledDevice>(model), ModelSpec{});
  const auto trace = std::make_shared<Trace>();
  SearchConfig config;
  config.threads = threads;
  config.simulations = 200;
  config.cache_entries = 0;
  const auto game = load_game("connect_four");
  Patient host;
  Searcher searcher(game, std::make_shared<TracedEvaluator>(network, trace), config);
  CHECK(searcher.search(State(game), config, host).simulations == 200);
  std::vector<TraceSpan> spans = trace->take();
  CHECK(trace->take().empty());
  int rows = 0;
  for (const TraceSpan& span : spans) {
    CHECK(span.begin <= span.end);
    CHECK(span.thread >= 0);
    if (span.kind == TraceSpan::Kind::evaluate) rows += span.rows;
  }
  CHECK(static_cast<std::uint64_t>(rows) == searcher.stats().evaluations);
  return spans;
}

int threads_that(TraceSpan::Kind kind, const std::vector<TraceSpan>& spans) {
  std::vector<int> threads;
  for (const TraceSpan& span : spans) {
    if (span.kind == kind) threads.push_back(span.thread);
  }
  std::sort(threads.begin(), threads.end());
  return static_cast<int>(std::unique(threads.begin(), threads.end()) - threads.begin());
}

}  // namespace

TEST_CASE("trace: one thread gathers, evaluates and decodes, one after the other") {
  std::vector<TraceSpan> spans = spans_of_search(0.0, 0, 1);
  std::sort(spans.begin(), spans.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < spans.size(); ++i) CHECK(spans[i - 1].end <= spans[i].begin);
  CHECK(threads_that(TraceSpan::Kind::gather, spans) == 1);
}

TEST_CASE("trace: a thread has one number, whatever other traces it records") {
  Trace first;
  Trace second;
  const auto now = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {
    first.add(TraceSpan::Kind::decode, now, 1);
    second.add(TraceSpan::Kind::decode, now, 1);
  }
  for (const TraceSpan& span : first.take()) CHECK(span.thread == 0);
}

TEST_SUITE("concurrent") {
  TEST_CASE("trace: dedicated threads feed a device") {
    const std::vector<TraceSpan> spans = spans_of_search(0.001, 2, 1);
    const int feeders = threads_that(TraceSpan::Kind::evaluate, spans);
    CHECK(feeders >= 1);
    CHECK(feeders <= 3);
    CHECK(threads_that(TraceSpan::Kind::decode, spans) == 1);
  }
}
