/// Query and answer of a path search.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "exact/astar/limits.h"
#include "exact/astar/nodes.h"

namespace pyengine::astar {

enum class Method : std::uint8_t { astar, ida };

/// f = weight_g g + weight_h h; both weights are finite and at least 0, not both 0.
struct Query {
  Method method = Method::astar;
  double weight_g = 1.0;
  double weight_h = 1.0;
  bool keep_states = false;  ///< fill Answer::states

  /// Whether nodes are ordered by g + h.
  [[nodiscard]] bool plain() const noexcept { return weight_g == weight_h; }
  /// Whether cheaper paths to closed nodes matter.
  [[nodiscard]] bool reopen() const noexcept { return weight_g > 0.0; }
};

/// `path`: nodes in the problem's own numbering; empty if no path was found.
struct Answer {
  StopReason stop = StopReason::exhausted;
  double cost = std::numeric_limits<double>::infinity();
  bool optimal = false;  ///< no path is cheaper
  /// The cost is at most this multiple of the least one, if the estimate is admissible.
  double bound = std::numeric_limits<double>::infinity();
  std::vector<NodeId> path;
  Counts counts;
  std::vector<std::uint8_t> states;  ///< one Status per node
  std::uint64_t bytes = 0;           ///< memory held by the search
};

/// Calls search(), or returns the answer of a search that reached its limits before it started.
template <class Search>
Answer within_limits(Search&& search) {
  try {
    return std::forward<Search>(search)();
  } catch (const Stopped& stopped) {
    Answer answer;
    answer.stop = stopped.reason();
    return answer;
  }
}

}  // namespace pyengine::astar
