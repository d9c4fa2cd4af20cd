#include "eval/ort/call_plan.h"

#include <algorithm>
#include <bit>

namespace pyengine {
namespace {

constexpr unsigned kSmallest = 8;  // fewer rows are hardly faster on a device

}  // namespace

int CallPlan::padded(int rows) const noexcept {
  if (exactly) return limit;
  if (!few) return rows;
  const unsigned size = std::bit_ceil(std::max(kSmallest, static_cast<unsigned>(rows)));
  return std::min(limit, static_cast<int>(size));
}

std::vector<int> CallPlan::sizes() const {
  std::vector<int> all = {limit};
  if (exactly || limit <= static_cast<int>(kSmallest)) return all;
  for (unsigned size = std::bit_floor(static_cast<unsigned>(limit - 1)); size >= kSmallest;
       size /= 2) {
    all.push_back(static_cast<int>(size));
  }
  return all;
}

}  // namespace pyengine
