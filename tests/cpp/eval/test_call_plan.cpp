/// The batch sizes that a network is called with.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "eval/ort/call_plan.h"

namespace pyengine {
namespace {

/// A model of a device's call times that records the sizes measured.
struct Device {
  std::function<double(int)> milliseconds;
  std::vector<int> asked;

  std::vector<int> kept(int limit) {
    return worthwhile(CallPlan{limit, false, true}.sizes(), [&](int rows, double) {
      asked.push_back(rows);
      return 1e-3 * milliseconds(rows);
    });
  }
};

Device device_of(std::map<int, double> milliseconds) {
  return {[known = std::move(milliseconds)](int rows) { return known.at(rows); }, {}};
}

TEST_CASE("call plan: a device's batch is padded to the smallest size that fits") {
  for (int limit = 1; limit <= 300; ++limit) {
    const std::vector<int> all = CallPlan{limit, false, true}.sizes();
    const std::vector<std::vector<int>> choices = {{}, {limit}, {limit, all.back()}};
    for (const std::vector<int>& kept : choices) {
      const CallPlan plan{limit, false, true, kept};
      const std::vector<int> sizes = plan.sizes();
      CHECK(std::is_sorted(sizes.rbegin(), sizes.rend()));
      CHECK(sizes == (kept.empty() ? all : kept));
      for (int rows = 1; rows <= limit; ++rows) {
        const auto least =
            std::find_if(sizes.rbegin(), sizes.rend(), [&](int size) { return size >= rows; });
        REQUIRE(plan.padded(rows) == *least);
      }
    }
  }
}

TEST_CASE("call plan: a size that takes as long as the next larger one is not worth preparing") {
  Device device = device_of({{64, 9.0}, {32, 5.0}, {16, 3.0}, {8, 2.9}});
  CHECK(device.kept(64) == std::vector<int>{64, 32, 16});
  CHECK(device.asked == std::vector<int>{64, 32, 16, 8});
}

TEST_CASE("call plan: a size that is not worthwhile does not hide smaller ones") {
  Device limit = device_of({{768, 9.0}, {512, 8.0}, {256, 1.0}, {128, 1.0}, {64, 1.0}});
  CHECK(limit.kept(768) == std::vector<int>{768, 256});  // 0.89 of the time for 512 rows
  Device plateau = device_of({{256, 9.0}, {128, 8.0}, {64, 2.0}, {32, 2.0}, {16, 2.0}});
  CHECK(plateau.kept(256) == std::vector<int>{256, 64});
}

TEST_CASE("call plan: no size is measured below two in a row that are not worthwhile") {
  Device device = device_of({{256, 9.0}, {128, 8.0}, {64, 8.0}});
  const std::vector<int> kept = device.kept(256);
  CHECK(kept == std::vector<int>{256});
  CHECK(CallPlan{256, false, true, kept}.padded(1) == 256);
  CHECK(device.asked == std::vector<int>{256, 128, 64});
}

TEST_CASE("call plan: if time is proportional to rows, one row is padded to eight at every limit") {
  for (int limit = 10; limit <= 1024; ++limit) {
    Device device{[](int rows) { return static_cast<double>(rows); }, {}};
    REQUIRE(CallPlan{limit, false, true, device.kept(limit)}.padded(1) == 8);
  }
  Device device{[](int rows) { return static_cast<double>(rows); }, {}};
  CHECK(device.kept(9) == std::vector<int>{9});  // one more row is not worth a size
}

TEST_CASE("call plan: if all sizes take the same time, only the limit is kept") {
  for (int limit = 1; limit <= 1024; ++limit) {
    Device device{[](int) { return 1.0; }, {}};
    REQUIRE(device.kept(limit) == std::vector<int>{limit});
    REQUIRE(device.asked.size() <= 3);
  }
}

TEST_CASE("call plan: a size is kept up to the worthwhile share and not above") {
  Device at = device_of({{16, 1.0}, {8, 1.0 * kWorthwhileShare}});
  CHECK(at.kept(16) == std::vector<int>{16, 8});
  Device above = device_of({{16, 1.0}, {8, 1.001 * kWorthwhileShare}});
  CHECK(above.kept(16) == std::vector<int>{16});
}

TEST_CASE("call plan: each measurement gets the time above which the size is dropped") {
  std::vector<double> bounds;
  worthwhile({32, 16, 8}, [&](int rows, double most) {
    bounds.push_back(most);
    return static_cast<double>(rows);
  });
  CHECK(bounds.at(0) > 1e300);
  CHECK(bounds.at(1) == kWorthwhileShare * 32);
  CHECK(bounds.at(2) == kWorthwhileShare * 16);
}

TEST_CASE("call plan: the limit is a size, and the others are common to all limits") {
  CHECK(CallPlan{768, false, true}.sizes() == std::vector<int>{768, 512, 256, 128, 64, 32, 16, 8});
  CHECK(CallPlan{768, false, true}.padded(768) == 768);
  CHECK(CallPlan{768, false, true}.padded(513) == 768);
  CHECK(CallPlan{768, false, true}.padded(200) == 256);
  CHECK(CallPlan{64, false, true}.sizes() == std::vector<int>{64, 32, 16, 8});
  CHECK(CallPlan{5, false, true}.sizes() == std::vector<int>{5});
}

TEST_CASE("call plan: a processor gets no padding, and a fixed batch is always padded") {
  CHECK(CallPlan{64, false, false}.padded(5) == 5);
  CHECK(CallPlan{64, true, false}.padded(5) == 64);
  CHECK(CallPlan{64, true, false}.sizes() == std::vector<int>{64});
}

}  // namespace
}  // namespace pyengine
