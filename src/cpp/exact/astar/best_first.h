/// Best-first search over numbered nodes: A* and, with other priorities, Dijkstra's algorithm,
/// greedy search and weighted A*.
///
/// Source: Hart, Nilsson, Raphael 1968. A closed node that gets a cheaper path is reopened, so any
/// admissible heuristic gives optimal paths, consistent or not.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "exact/astar/limits.h"
#include "exact/astar/nodes.h"
#include "exact/astar/weights.h"

namespace pyengine::astar {

/// The graph interface of a search. Edge costs must be at least 0.
template <class P>
concept Problem = requires(P problem, NodeId node, void (*visit)(NodeId, typename P::Cost)) {
  /// Type of edge and path costs: int32, int64 in units of the problem, or double.
  typename P::Cost;
  { problem.is_goal(node) } -> std::same_as<bool>;
  /// Calls visit(successor, cost of the edge) for each successor.
  problem.expand(node, visit);
};

/// A problem in memory that benefits from prefetching.
template <class P, class Queue>
concept Foreseen = requires(P problem, const Queue open, NodeId node, void (*visit)(NodeId)) {
  open.ahead();
  /// Prefetches the location of a node's edges, then the edges.
  problem.prefetch(node);
  problem.prefetch_edges(node);
  /// Visits the successors without costs.
  problem.each_successor(node, visit);
};

/// f = g + h in the problem's own units, exact for integers.
template <class P>
struct PlainPriority {
  using Key = typename P::Cost;
  P& problem;
  Key operator()(typename P::Cost g, NodeId node) const { return g + problem.h(node); }
};

/// f = g: Dijkstra's algorithm. Throws ConfigError if a sum of finite costs overflows a double.
template <class P>
struct CostPriority {
  using Key = typename P::Cost;
  Key operator()(typename P::Cost g, NodeId /*node*/) const {
    return weighted_sum(1.0, static_cast<double>(g), 0.0, 0.0);
  }
};

/// f = weight_g g + weight_h h.
template <class P>
struct WeightedPriority {
  using Key = double;
  P& problem;
  double weight_g;
  double weight_h;
  double operator()(typename P::Cost g, NodeId node) const {
    const double h = weight_h == 0.0 ? 0.0 : problem.real_h(node);
    return weighted_sum(weight_g, static_cast<double>(g), weight_h, h);
  }
};

/// How a search ended. The path begins with the start; it is empty if none was found.
template <class Cost>
struct Found {
  StopReason stop = StopReason::exhausted;
  Cost cost{};
  std::vector<NodeId> path;
};

template <Problem P, class Queue, class Priority, class Nodes>
class BestFirst {
 public:
  using Cost = typename P::Cost;

  /// `reopen`: false if the cost of a path does not matter (greedy search).
  BestFirst(P& problem, Priority priority, Nodes& nodes, Limits& limits, bool reopen = true)
      : problem_(problem),
        priority_(priority),
        nodes_(nodes),
        limits_(limits),
        open_(limits),
        reopen_(reopen) {}

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

  /// Propagates exceptions of polls and problems.
  Found<Cost> run(NodeId start) {
    try {
      limits_.check(counts_);
      push(start, kNoNode, Cost{});
      while (!open_.empty()) {
        const auto entry = open_.pop();
        Record<Cost>& record = nodes_[entry.node];
        if (!record.is(Status::open) || record.g != entry.g)
          continue;  // outdated by a cheaper path
        if (entry.goal) return found(entry.node, entry.g);
        record.status = static_cast<unsigned>(Status::closed);
        bring_near(entry.node);
        expand(entry.node, entry.g);
      }
      return {};
    } catch (const Stopped& stopped) {
      return {stopped.reason(), {}, {}};
    }
  }

 private:
  /// Prefetches the data for expanding the node and the one after it.
  void bring_near(NodeId node) {
    if constexpr (Foreseen<P, Queue>) {
      const auto ahead = open_.ahead();
      for (const auto& item : ahead) {
        nodes_.prefetch(item.node);
        problem_.prefetch(item.node);
      }
      if (!ahead.empty()) problem_.prefetch_edges(ahead.front().node);
      problem_.each_successor(node, [&](NodeId child) { nodes_.prefetch(child); });
    }
  }

  void expand(NodeId node, Cost g) {
    ++counts_.expanded;
    limits_.tick(counts_);
    problem_.expand(node, [&](NodeId child, Cost step) {
      ++counts_.generated;
      reach(child, node, g + step);
    });
  }

  void reach(NodeId child, NodeId parent, Cost g) {
    const Record<Cost>& known = nodes_[child];
    if (!known.is(Status::unseen)) {
      if (!(g < known.g)) return;
      if (known.is(Status::closed)) {
        if (!reopen_) return;
        ++counts_.reopened;
      }
    }
    push(child, parent, g);
  }

  /// Skips a node from which no goal can be reached, indicated by an infinite estimate.
  void push(NodeId node, NodeId parent, Cost g) {
    const typename Priority::Key f = priority_(g, node);
    if constexpr (std::numeric_limits<typename Priority::Key>::has_infinity) {
      if (std::isinf(f)) return;
    }
    open_.push({f, g, node, problem_.is_goal(node)});
    nodes_[node].set(g, parent, Status::open);
  }

  Found<Cost> found(NodeId goal, Cost g) {
    const std::vector<NodeId> path = path_to(goal);
    const auto waits = [&](NodeId node) { return nodes_[node].is(Status::open); };
    // If a node on the path has been reopened and not expanded since, the nodes after it cost less
    // than their records say.
    if (std::any_of(path.begin(), path.end() - 1, waits)) g = cost_of(path);
    return {StopReason::found, g, path};
  }

  Cost cost_of(const std::vector<NodeId>& path) {
    Cost g{};
    for (std::size_t i = 1; i < path.size(); ++i) {
      Cost least = std::numeric_limits<Cost>::max();
      problem_.expand(path[i - 1], [&](NodeId child, Cost step) {
        if (child == path[i]) least = std::min(least, step);
      });
      g += least;
    }
    return g;
  }

  std::vector<NodeId> path_to(NodeId node) {
    std::vector<NodeId> path;
    for (; node != kNoNode; node = nodes_[node].parent) path.push_back(node);
    std::ranges::reverse(path);
    return path;
  }

  P& problem_;
  Priority priority_;
  Nodes& nodes_;
  Limits& limits_;
  Queue open_;
  bool reopen_;
  Counts counts_;
};

}  // namespace pyengine::astar
