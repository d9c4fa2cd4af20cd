/// A search of a problem with consecutively numbered nodes, by either method.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "exact/astar/answer.h"
#include "exact/astar/best_first.h"
#include "exact/astar/guarantee.h"
#include "exact/astar/ida.h"
#include "exact/astar/open_list.h"

namespace pyengine::astar {

namespace detail {

template <class Cost>
std::vector<std::uint8_t> states_of(const DenseNodes<Cost>& nodes) {
  std::vector<std::uint8_t> states(nodes.all().size());
  std::ranges::transform(nodes.all(), states.begin(), [](const Record<Cost>& record) {
    return static_cast<std::uint8_t>(record.status);
  });
  return states;
}

template <class P>
void take(Answer& answer, Found<typename P::Cost> found, const Counts& counts, const P& problem,
          const Limits& limits) {
  answer.stop = found.stop;
  answer.counts = counts;
  answer.bytes = limits.bytes();
  answer.path = std::move(found.path);
  if (!answer.path.empty()) answer.cost = problem.path_cost(answer.path, found.cost);
}

}  // namespace detail

/// P must also have nodes(), h() in its own units or real_h() as a double, and path_cost().
template <class Queue, class P, class Priority>
Answer best_first(P& problem, Priority priority, NodeId start, const Query& query, Limits& limits) {
  using Cost = typename P::Cost;
  Answer answer;
  try {
    if (query.keep_states)
      limits.charge(2 * problem.nodes());  // includes the copy of a grid's interior
    DenseNodes<Cost> nodes(problem.nodes(), limits);
    BestFirst<P, Queue, Priority, DenseNodes<Cost>> search(problem, priority, nodes, limits,
                                                           query.reopen());
    detail::take(answer, search.run(start), search.counts(), problem, limits);
    if (query.keep_states) answer.states = detail::states_of(nodes);
  } catch (const Stopped& stopped) {
    answer.stop = stopped.reason();
  }
  return answer;
}

/// Ordered by weighted sums, which work for every problem.
template <class P>
Answer search_weighted(P& problem, NodeId start, const Query& query, Limits& limits) {
  const WeightedPriority<P> priority{problem, query.weight_g, query.weight_h};
  if (query.method == Method::ida) {
    Answer answer;
    DenseWalk<P> walk(problem, start, limits);
    IterativeDeepening<DenseWalk<P>, WeightedPriority<P>> search(walk, priority, limits);
    detail::take(answer, search.run(), search.counts(), problem, limits);
    return answer;
  }
  using Cost = typename P::Cost;
  if constexpr (std::is_floating_point_v<Cost>) {
    if (query.weight_h == 0.0) {
      return best_first<RadixQueue<CostItem<Cost>>>(problem, CostPriority<P>{}, start, query,
                                                    limits);
    }
  }
  return best_first<RadixQueue<Item<double, Cost>>>(problem, priority, start, query, limits);
}

namespace detail {

/// Whether no path is cheaper, determined by a search without estimates.
template <class P>
bool is_least(P& problem, NodeId start, const Answer& answer, Limits& limits) {
  const Answer least = search_weighted(problem, start, Query{.weight_h = 0.0}, limits);
  const double rounding = rounding_of_sums(std::max(least.path.size(), answer.path.size()));
  return least.stop == StopReason::found && least.cost >= answer.cost * (1 - rounding);
}

template <class P>
bool is_consistent(const P& problem, const GoalSet& goals, Limits& limits) {
  try {
    return consistent_everywhere(problem, goals, limits);
  } catch (const Stopped&) {
    return false;
  }
}

}  // namespace detail

/// Sets the guarantees for estimates given by the user, which may not be admissible.
template <class P>
void verify(Answer& answer, P& problem, NodeId start, const GoalSet& goals, const Query& query,
            const Limits& limits) {
  guarantee(answer, query);
  if (!answer.optimal || query.weight_h == 0.0) return;
  Limits rest = limits.emptied();
  if (detail::is_consistent(problem, goals, rest)) return;
  if (detail::is_least(problem, start, answer, rest)) return;
  answer.optimal = false;
  answer.bound = std::numeric_limits<double>::infinity();
}

}  // namespace pyengine::astar
