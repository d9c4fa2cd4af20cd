/// How a batch is split into calls of a network, and which batch sizes a device sees.
#pragma once

#include <functional>
#include <vector>

namespace pyengine {

/// Smaller calls are hardly faster on any device.
inline constexpr int kLeastRows = 8;

struct CallPlan {
  int limit = 0;         ///< maximum rows of a call
  bool exactly = false;  ///< every call has `limit` rows: the model's batch is fixed
  bool few = false;      ///< use few sizes, as each needs preparation: a device
  // NOLINTNEXTLINE(readability-redundant-member-init): aggregates leave it out
  std::vector<int> kept = {};  ///< the device's sizes, largest first; empty = all
  /// Number of rows computed by a call for `rows` rows.
  [[nodiscard]] int padded(int rows) const;
  /// The sizes that a device prepares for, largest first: the limit and the powers of two below it
  /// down to `kLeastRows`, which all limits have in common. Only those in `kept`, unless it is
  /// empty.
  [[nodiscard]] std::vector<int> sizes() const;
};

/// A size is worth preparing if its call takes at most this share of the next larger size's time.
/// Half the rows take half the time on a busy device, but all of it if kernel launches dominate. A
/// size above this share would save less than a seventh of a call and cost one more copy of the
/// network's weights.
inline constexpr double kWorthwhileShare = 0.85;

/// Seconds of a call with `rows` rows. Above `most` the size is not worth preparing.
using CallSeconds = std::function<double(int rows, double most)>;

/// The sizes worth preparing, largest first. Measures each size in turn until two in a row are not
/// worthwhile: a single one may have nearly as many rows as the next larger (64 of 72), or lie on a
/// step of the device's times.
std::vector<int> worthwhile(const std::vector<int>& sizes, const CallSeconds& seconds);

}  // namespace pyengine
