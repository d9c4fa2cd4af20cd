#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <tuple>
#include <type_traits>
#include <vector>

#include "exact/astar/bucket_queue.h"
#include "exact/astar/open_list.h"
#include "path_problems.h"

namespace pyengine::astar::testing {
namespace {

/// The entry that an open list must return next: the first by the rules.
template <class Entry>
Entry first_of(const std::vector<Entry>& waiting) {
  return *std::ranges::min_element(waiting, [](const Entry& a, const Entry& b) {
    return std::tuple(a.f, !a.goal, -a.g) < std::tuple(b.f, !b.goal, -b.g);
  });
}

/// Random pushes and pops; `next_f` computes an f from that of the last popped entry.
template <class Queue, class NextF>
void check_order(NextF next_f) {
  using Entry = typename Queue::Entry;
  using Key = decltype(Entry::f);
  std::mt19937 random(7);
  Limits limits = no_limits();
  Queue queue(limits);
  std::vector<Entry> waiting;
  Key last{};
  NodeId node = 0;
  while (node < 2000 || !waiting.empty()) {
    CHECK(queue.empty() == waiting.empty());
    if (node < 2000 && (waiting.empty() || random() % 5 < 3)) {
      const Key f = next_f(random, last);
      const auto g = static_cast<Key>(random() % 8);
      const bool is_cost = std::is_same_v<Queue, RadixQueue<CostItem<Key>>>;
      waiting.push_back({f, is_cost ? f : g, node++, random() % 4 == 0});
      queue.push(waiting.back());
    } else {
      const Entry expected = first_of(waiting);
      const Entry entry = queue.pop();
      REQUIRE(entry.f == expected.f);
      REQUIRE(entry.goal == expected.goal);
      REQUIRE(entry.g == expected.g);
      const auto at = std::ranges::find(waiting, entry.node, &Entry::node);
      REQUIRE(at != waiting.end());
      waiting.erase(at);
      last = entry.f;
    }
  }
}

TEST_CASE(
    "a radix queue returns the least f, then goals, then the larger g, for rising or falling f") {
  const auto rising = [](std::mt19937& random, double last) {
    return last + static_cast<double>(random() % 1000) / 7.0;
  };
  const auto equal = [](std::mt19937& random, double /*last*/) {
    return static_cast<double>(random() % 3);
  };
  const auto falling = [](std::mt19937& random, double last) {
    const double step = std::ldexp(1.0, static_cast<int>(random() % 2000) - 1000);
    return random() % 2 == 0 ? last + step : last * static_cast<double>(random() % 100) / 100.0;
  };
  check_order<RadixQueue<Item<double, double>>>(rising);
  check_order<RadixQueue<Item<double, double>>>(equal);
  check_order<RadixQueue<Item<double, double>>>(falling);
  check_order<RadixQueue<CostItem<double>>>(rising);
  check_order<RadixQueue<CostItem<double>>>(falling);
  check_order<RadixQueue<Item<std::int64_t, std::int64_t>>>(
      [](std::mt19937& random, std::int64_t last) {
        return last + (random() % 4) * 1'000'000'007;
      });
}

TEST_CASE("a radix queue accounts for the memory of its entries and stops at the limit") {
  Limits limits(1 << 20, std::nullopt, {});
  RadixQueue<CostItem<double>> queue(limits);
  const auto fill = [&] {
    for (NodeId node = 0;; ++node) {
      const auto g = static_cast<double>(node % 1000);
      queue.push({g, g, node, false});
    }
  };
  CHECK_THROWS_AS(fill(), Stopped);
  CHECK(limits.bytes() <= 1 << 20);
  CHECK(limits.bytes() > (1 << 20) - 2048);
}

TEST_CASE("buckets return the same as a radix queue if f rises by 0, 1 or 2 with g") {
  std::mt19937 random(11);
  Limits limits = no_limits();
  BucketQueue buckets(limits);
  RadixQueue<Item<std::int32_t, std::int32_t>> heap(limits);
  buckets.push({10, 0, 0, false});
  heap.push({10, 0, 0, false});
  NodeId node = 1;
  while (!heap.empty()) {
    const auto one = buckets.pop();
    const auto other = heap.pop();
    REQUIRE(one.f == other.f);
    REQUIRE(one.g == other.g);
    REQUIRE(one.goal == other.goal);
    for (std::uint32_t k = random() % 4; k > 0 && node < 5000; --k) {
      const auto f = one.f + static_cast<std::int32_t>(random() % 3);
      buckets.push({f, one.g + 1, node, false});
      heap.push({f, one.g + 1, node++, false});
    }
  }
  CHECK(buckets.empty());
}

}  // namespace
}  // namespace pyengine::astar::testing
