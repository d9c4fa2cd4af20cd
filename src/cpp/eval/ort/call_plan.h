/// How a batch is cut into calls of a network, and which batch sizes a device gets to see.
#pragma once

#include <functional>
#include <vector>

namespace pyengine {

/// Fewer rows are hardly faster on any device.
inline constexpr int kLeastRows = 8;

struct CallPlan {
  int limit = 0;         ///< most rows of a call
  bool exactly = false;  ///< every call has `limit` rows: the model's batch is fixed
  bool few = false;      ///< few sizes, since each one is prepared for: a device
  // NOLINTNEXTLINE(readability-redundant-member-init): aggregates leave it out
  std::vector<int> kept = {};  ///< of a device's sizes, the largest first; empty = all
  /// Rows that a call for `rows` rows computes.
  [[nodiscard]] int padded(int rows) const;
  /// Sizes that a device is prepared for, the largest first: those kept, of the limit and the
  /// powers of two below it down to `kLeastRows`, which the batches of all limits have in common.
  [[nodiscard]] std::vector<int> sizes() const;
};

/// A size is worth preparing for where its call takes at most this share of the next larger kept
/// one's. Half the rows take half the time where a device is busy, and all of it where it waits for
/// its kernels to start. A size beyond the share would save less than a seventh of a call, for one
/// more copy of the network's weights.
inline constexpr double kWorthwhileShare = 0.85;

/// Seconds of a call of so many rows. Above `most` the size is not worth preparing for.
using CallSeconds = std::function<double(int rows, double most)>;

/// Those of the sizes, the largest first, that are worth preparing for. Asks for the seconds of
/// each in turn, up to two in a row that are not: one alone may have nearly as many rows as the
/// next larger (64 of 72), or lie on a step of the device's times.
std::vector<int> worthwhile(const std::vector<int>& sizes, const CallSeconds& seconds);

}  // namespace pyengine
