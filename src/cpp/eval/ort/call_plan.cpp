#include "eval/ort/call_plan.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace pyengine {

int CallPlan::padded(int rows) const noexcept {
  if (exactly) return limit;
  if (!few) return rows;
  const unsigned size = std::bit_ceil(static_cast<unsigned>(std::max(least, rows)));
  return std::min(limit, static_cast<int>(size));
}

std::vector<int> CallPlan::sizes() const {
  std::vector<int> all = {limit};
  if (exactly || limit <= least) return all;
  for (int size = static_cast<int>(std::bit_floor(static_cast<unsigned>(limit - 1))); size >= least;
       size /= 2) {
    all.push_back(size);
  }
  return all;
}

int least_worthwhile(const std::vector<int>& sizes, const CallSeconds& seconds) {
  int least = sizes.front();
  double most = std::numeric_limits<double>::infinity();
  for (const int size : sizes) {
    const double found = seconds(size, most);
    if (found > most) break;
    least = size;
    most = kWorthwhileShare * found;
  }
  return least;
}

}  // namespace pyengine
