#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "exact/astar/open_list.h"
#include "path_problems.h"

namespace pyengine::astar::testing {
namespace {

TEST_CASE("a heap gives the least f, then goals, then the larger g") {
  using Heap = HeapQueue<double, double>;
  Limits limits = no_limits();
  Heap heap(limits);
  std::mt19937 random(7);
  for (NodeId node = 0; node < 5000; ++node) {
    const auto part = [&] { return static_cast<double>(random() % 8); };
    heap.push({part(), part(), node, random() % 2 == 0});
    if (node % 3 == 0) heap.pop();
  }
  Heap::Entry before = heap.pop();
  while (!heap.empty()) {
    const Heap::Entry entry = heap.pop();
    const bool ordered = before.f != entry.f ? before.f < entry.f
        : before.goal != entry.goal          ? before.goal
                                             : before.g >= entry.g;
    CHECK(ordered);
    before = entry;
  }
}

TEST_CASE("buckets give what a heap gives where f rises by 0, 1 or 2 with g") {
  std::mt19937 random(11);
  Limits limits = no_limits();
  BucketQueue buckets(limits);
  HeapQueue<std::int32_t, std::int32_t> heap(limits);
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
