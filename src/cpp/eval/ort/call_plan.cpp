#include "eval/ort/call_plan.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace pyengine {

int CallPlan::padded(int rows) const {
  if (exactly) return limit;
  if (!few) return rows;
  const auto least_for_rows = [rows](const std::vector<int>& all) {
    return *std::find_if(all.rbegin(), all.rend(), [&](int size) { return size >= rows; });
  };
  return kept.empty() ? least_for_rows(sizes()) : least_for_rows(kept);
}

std::vector<int> CallPlan::sizes() const {
  if (!kept.empty()) return kept;
  std::vector<int> all = {limit};
  if (exactly || limit <= kLeastRows) return all;
  for (int size = static_cast<int>(std::bit_floor(static_cast<unsigned>(limit - 1)));
       size >= kLeastRows; size /= 2) {
    all.push_back(size);
  }
  return all;
}

std::vector<int> worthwhile(const std::vector<int>& sizes, const CallSeconds& seconds) {
  constexpr int kMostInVain = 2;
  std::vector<int> kept;
  double most = std::numeric_limits<double>::infinity();
  int in_vain = 0;
  for (const int size : sizes) {
    const double measured = seconds(size, most);
    if (measured > most) {
      if (++in_vain == kMostInVain) break;
      continue;
    }
    in_vain = 0;
    kept.push_back(size);
    most = kWorthwhileShare * measured;
  }
  return kept;
}

}  // namespace pyengine
