/// Which batch sizes a network is called with.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "eval/ort/call_plan.h"

namespace pyengine {
namespace {

/// What a device tells of the sizes of a batch, and which of them it was asked for.
struct Device {
  std::map<int, double> milliseconds;
  std::vector<int> asked;

  int least(const CallPlan& plan) {
    return least_worthwhile(plan.sizes(), [&](int rows, double) {
      asked.push_back(rows);
      return 1e-3 * milliseconds.at(rows);
    });
  }
};

TEST_CASE("call plan: a device's batch is padded to the least of its sizes that holds it") {
  for (int limit = 1; limit <= 300; ++limit) {
    for (const int kept : CallPlan{limit, false, true}.sizes()) {
      const CallPlan plan{limit, false, true, kept};
      const std::vector<int> sizes = plan.sizes();
      CHECK(std::is_sorted(sizes.rbegin(), sizes.rend()));
      CHECK(sizes.front() == limit);
      CHECK(sizes.back() == kept);
      for (int rows = 1; rows <= limit; ++rows) {
        const auto least =
            std::find_if(sizes.rbegin(), sizes.rend(), [&](int size) { return size >= rows; });
        REQUIRE(plan.padded(rows) == *least);
      }
    }
  }
}

TEST_CASE("call plan: sizes that cost as much as the next larger one are not worth preparing for") {
  Device device{{{64, 9.0}, {32, 5.0}, {16, 3.0}, {8, 2.9}}, {}};
  CHECK(device.least({64, false, true}) == 16);
  CHECK(device.asked == std::vector<int>{64, 32, 16, 8});
}

TEST_CASE("call plan: no size is asked for below the first that is not worth it") {
  Device device{{{768, 9.0}, {512, 8.0}, {256, 1.0}}, {}};  // 0.89 of the time
  const int least = device.least({768, false, true});
  CHECK(least == 768);
  CHECK(CallPlan{768, false, true, least}.sizes() == std::vector<int>{768});
  CHECK(CallPlan{768, false, true, least}.padded(1) == 768);
  CHECK(device.asked == std::vector<int>{768, 512});
}

TEST_CASE("call plan: all sizes are worth it where the rows take the time") {
  Device device{{{64, 8.0}, {32, 4.0}, {16, 2.0}, {8, 1.0}}, {}};
  CHECK(device.least({64, false, true}) == 8);
}

TEST_CASE("call plan: the share that is worth it counts, not a little more") {
  Device at{{{16, 1.0}, {8, 1.0 * kWorthwhileShare}}, {}};
  CHECK(at.least({16, false, true}) == 8);
  Device above{{{16, 1.0}, {8, 1.001 * kWorthwhileShare}}, {}};
  CHECK(above.least({16, false, true}) == 16);
}

TEST_CASE("call plan: who is asked for seconds is told above which of them nothing is kept") {
  std::vector<double> bounds;
  least_worthwhile({32, 16, 8}, [&](int rows, double most) {
    bounds.push_back(most);
    return static_cast<double>(rows);
  });
  CHECK(bounds.at(0) > 1e300);
  CHECK(bounds.at(1) == kWorthwhileShare * 32);
  CHECK(bounds.at(2) == kWorthwhileShare * 16);
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
