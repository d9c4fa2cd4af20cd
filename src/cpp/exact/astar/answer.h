/// What is asked of a path search, and what it answers.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "exact/astar/limits.h"
#include "exact/astar/nodes.h"

namespace pyengine::astar {

enum class Method : std::uint8_t { astar, ida };

/// f = weight_g g + weight_h h; both finite and at least 0, not both 0.
struct Query {
  Method method = Method::astar;
  double weight_g = 1.0;
  double weight_h = 1.0;
  bool keep_states = false;  ///< fill Answer::states

  /// Whether the order is that of g + h.
  [[nodiscard]] bool plain() const noexcept { return weight_g == weight_h; }
  /// Whether cheaper paths to closed nodes matter.
  [[nodiscard]] bool reopen() const noexcept { return weight_g > 0.0; }
};

/// `path`: nodes in the problem's own numbering. Empty where none was found.
struct Answer {
  StopReason stop = StopReason::exhausted;
  double cost = std::numeric_limits<double>::infinity();
  bool optimal = false;  ///< no path is cheaper
  /// The cost is at most so many times the least one, if the estimate never exceeds the cost to go.
  double bound = std::numeric_limits<double>::infinity();
  std::vector<NodeId> path;
  Counts counts;
  std::vector<std::uint8_t> states;  ///< a Status a node
  std::uint64_t bytes = 0;           ///< memory that the search held
};

/// search(), or the answer of one that reached its limits before it began.
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
