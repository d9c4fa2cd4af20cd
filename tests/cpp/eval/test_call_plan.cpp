/// Which batch sizes a network is called with.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "eval/ort/call_plan.h"

namespace pyengine {
namespace {

TEST_CASE("call plan: a device's batch is padded to the least of its sizes that holds it") {
  for (int limit = 1; limit <= 300; ++limit) {
    const CallPlan plan{limit, false, true};
    const std::vector<int> sizes = plan.sizes();
    CHECK(std::is_sorted(sizes.rbegin(), sizes.rend()));
    CHECK(sizes.front() == limit);
    CHECK(sizes.back() <= 8);
    for (int rows = 1; rows <= limit; ++rows) {
      const auto least =
          std::find_if(sizes.rbegin(), sizes.rend(), [&](int size) { return size >= rows; });
      REQUIRE(plan.padded(rows) == *least);
    }
  }
}

TEST_CASE("call plan: the batch itself is a size, and the others are those of every batch") {
  CHECK(CallPlan{768, false, true}.sizes() == std::vector<int>{768, 512, 256, 128, 64, 32, 16, 8});
  CHECK(CallPlan{768, false, true}.padded(768) == 768);
  CHECK(CallPlan{768, false, true}.padded(513) == 768);
  CHECK(CallPlan{768, false, true}.padded(200) == 256);
  CHECK(CallPlan{64, false, true}.sizes() == std::vector<int>{64, 32, 16, 8});
  CHECK(CallPlan{5, false, true}.sizes() == std::vector<int>{5});
}

TEST_CASE("call plan: on a processor nothing is padded, and a fixed batch always is") {
  CHECK(CallPlan{64, false, false}.padded(5) == 5);
  CHECK(CallPlan{64, true, false}.padded(5) == 64);
  CHECK(CallPlan{64, true, false}.sizes() == std::vector<int>{64});
}

}  // namespace
}  // namespace pyengine
