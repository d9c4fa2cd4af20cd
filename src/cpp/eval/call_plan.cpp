#include "eval/call_plan.h"

namespace pyengine {
namespace {

constexpr int kSmallest = 8;  // fewer rows are hardly faster on a device

int half(int size) noexcept { return (size + 1) / 2; }

}  // namespace

int CallPlan::padded(int rows) const noexcept {
  if (exactly) return limit;
  if (!few) return rows;
  int size = limit;
  while (size > kSmallest && rows <= half(size)) size = half(size);
  return size;
}

std::vector<int> CallPlan::sizes() const {
  std::vector<int> all = {limit};
  while (!exactly && all.back() > kSmallest) all.push_back(half(all.back()));
  return all;
}

}  // namespace pyengine
