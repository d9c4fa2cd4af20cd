/// The values of the visits of each root move in one search, for lower confidence bounds
/// (SearchConfig::choose). Nodes store no squares: only root moves need them.
///
/// s^2 of a move with m visits in this search is the variance of their values plus 1 / (1 + m^3).
/// The second part is KataGo's prior: a pseudo-sample of weight 1 / m^2 with the largest deviation
/// possible, so that few equal values do not look certain.
///
/// Source: KataGo, cpp/search/searchhelpers.cpp, getSelfUtilityLCBAndRadius().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/tree/backup.h"
#include "search/tree/node.h"

namespace pyengine {

class RootSamples {
 public:
  /// For a root with these edges.
  explicit RootSamples(std::span<const Edge> edges);

  /// Adds a visit that is backed up along `path`.
  template <Sharing S>
  void add(const Path& path, const VisitValue& visit) noexcept {
    if (path.size() < 2) return;  // the visit stayed at the root
    const float value = visit.drawn > 1 ? visit.draw : visit.value;
    Moments& move = moves_[path[1]->action];
    pyengine::add<S>(move.sum, to_fixed(value));
    pyengine::add<S>(move.squares, to_fixed(value * value));
    pyengine::add<S>(move.count, 1U);
  }

  /// s^2 of a root move. May be called while workers add visits.
  [[nodiscard]] double variance(ActionId action) const noexcept;

 private:
  /// Written by any worker, relaxed.
  struct Moments {
    std::atomic<std::int64_t> sum{0};      ///< in units of 2^-24
    std::atomic<std::int64_t> squares{0};  ///< in the same unit
    std::atomic<std::uint32_t> count{0};
  };
  std::vector<Moments> moves_;  ///< by action
};

/// The lower confidence bound of a move with at least one visit. `q`: its mean value.
[[nodiscard]] double lower_bound(double q, double visits, double variance, double stdevs) noexcept;

}  // namespace pyengine
