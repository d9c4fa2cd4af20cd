/// How a batch is cut into calls of a network, and which batch sizes a device gets to see.
#pragma once

#include <vector>

namespace pyengine {

struct CallPlan {
  int limit = 0;         ///< most rows of a call
  bool exactly = false;  ///< every call has `limit` rows: the model's batch is fixed
  bool few = false;      ///< few sizes, since each one is prepared for: a device
  /// Rows that a call for `rows` rows computes.
  [[nodiscard]] int padded(int rows) const noexcept;
  /// Sizes that a device is prepared for, the largest first: the limit, and the powers of two below
  /// it down to 8, which the batches of all limits have in common.
  [[nodiscard]] std::vector<int> sizes() const;
};

}  // namespace pyengine
