#include "eval/call_plan.h"

namespace pyengine {
namespace {

constexpr int kSmallest = 8;  // fewer rows are hardly faster on a device

}  // namespace

int CallPlan::padded(int rows) const noexcept {
  if (exactly) return limit;
  if (!few) return rows;
  int size = limit;
  for (int next = (size + 1) / 2; size > kSmallest && rows <= next; next = (size + 1) / 2) {
    size = next;
  }
  return size;
}

std::vector<int> CallPlan::sizes() const {
  std::vector<int> all = {limit};
  while (!exactly && all.back() > kSmallest) all.push_back((all.back() + 1) / 2);
  return all;
}

}  // namespace pyengine
