/// Move ordering from experience: killer moves of a ply, and a counter per move.
///
/// Sources: Akl and Newborn, "The principal continuation and the killer heuristic", 1977;
/// Schaeffer, "The history heuristic", 1983.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/types.h"

namespace pyengine::alphabeta {

class History {
 public:
  /// Records that `action` caused a cutoff at `ply`, `depth` plies above the leaves.
  void add(Action action, int ply, int depth) {
    std::array<Action, 2>& killers = grown(killers_, ply);
    if (killers[0] != action) killers = {action, killers[0]};
    int& count = grown(counts_, action);
    const int weight = std::min(depth, kMostDepth);
    count += weight * weight;
    if (count > kMostCount) {
      for (int& each : counts_) each /= 2;
    }
  }

  /// A bonus to the order of a move.
  [[nodiscard]] int order(Action action, int ply) const noexcept {
    const auto place = static_cast<std::size_t>(action);
    int order = place < counts_.size() ? counts_[place] : 0;
    if (static_cast<std::size_t>(ply) < killers_.size()) {
      const auto& killers = killers_[static_cast<std::size_t>(ply)];
      if (killers[0] == action) order += 2 * kMostCount;
      if (killers[1] == action) order += kMostCount;
    }
    return order;
  }

  /// More than any bonus from the history.
  static constexpr int kMostOrder = 1 << 20;

 private:
  static constexpr int kMostDepth = 32;
  static constexpr int kMostCount = 1 << 16;

  template <class T>
  static T& grown(std::vector<T>& list, int place) {
    const auto at = static_cast<std::size_t>(place);
    if (list.size() <= at) list.resize(at + 1, initial(T{}));
    return list[at];
  }
  static int initial(int) noexcept { return 0; }
  static std::array<Action, 2> initial(const std::array<Action, 2>&) noexcept {
    return {kNoAction, kNoAction};
  }

  std::vector<std::array<Action, 2>> killers_;  ///< indexed by ply
  std::vector<int> counts_;                     ///< indexed by action
};

}  // namespace pyengine::alphabeta
