#include "exact/astar/graph.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "base/prefetch.h"
#include "exact/astar/dense_search.h"
#include "exact/astar/guarantee.h"

namespace pyengine::astar {
namespace {

[[noreturn]] void throw_changed() {
  throw ConfigError("Graph: the arrays have changed since they were checked");
}

template <class Index, class Weight>
class GraphProblem {
 public:
  using Cost = double;

  GraphProblem(const GraphView<Index, Weight>& graph, Estimates h, const GoalSet& goals)
      : graph_(graph), h_(h), goals_(goals) {}

  [[nodiscard]] std::uint64_t nodes() const noexcept { return graph_.nodes(); }
  [[nodiscard]] bool exists(NodeId /*node*/) const noexcept { return true; }
  [[nodiscard]] bool is_goal(NodeId node) const noexcept { return goals_.contains(node); }
  [[nodiscard]] double real_h(NodeId node) const noexcept { return h_.empty() ? 0.0 : h_[node]; }
  [[nodiscard]] double path_cost(const std::vector<NodeId>& /*path*/, double g) const { return g; }

  template <class Visit>
  void expand(NodeId node, Visit&& visit) const {
    each_edge(node,
              [&](NodeId to, std::size_t k) { visit(to, static_cast<double>(graph_.weights[k])); });
  }
  template <class Visit>
  void each_successor(NodeId node, Visit&& visit) const {
    each_edge(node, [&](NodeId to, std::size_t /*k*/) { visit(to); });
  }
  void prefetch(NodeId node) const noexcept { pyengine::prefetch(graph_.indptr.data() + node); }
  void prefetch_edges(NodeId node) const noexcept {
    const auto first = static_cast<std::size_t>(graph_.indptr[node]);
    pyengine::prefetch(graph_.indices.data() + first);
    pyengine::prefetch(graph_.weights.data() + first);
  }

 private:
  template <class Visit>
  void each_edge(NodeId node, Visit&& visit) const {
    const auto end = static_cast<std::size_t>(graph_.indptr[node + 1]);
    if (end > graph_.indices.size()) throw_changed();
    for (auto k = static_cast<std::size_t>(graph_.indptr[node]); k < end; ++k) {
      const auto to = static_cast<std::uint64_t>(graph_.indices[k]);
      if (to >= graph_.nodes()) throw_changed();
      visit(static_cast<NodeId>(to), k);
    }
  }

  GraphView<Index, Weight> graph_;
  Estimates h_;
  const GoalSet& goals_;
};

template <class Found>
[[noreturn]] void refuse(const std::string& where, std::size_t at, const std::string& expected,
                         Found found) {
  throw ConfigError(where + "[" + std::to_string(at) + "]: expected " + expected + ", got " +
                    std::to_string(found));
}

}  // namespace

template <class Index, class Weight>
void GraphView<Index, Weight>::check() const {
  if (indptr.empty()) throw ConfigError("indptr: expected one entry more than nodes, got none");
  if (nodes() > kMaxNodes) {
    throw ConfigError("indptr: expected at most " + std::to_string(kMaxNodes) + " nodes, got " +
                      std::to_string(nodes()));
  }
  if (indptr.front() != 0) refuse("indptr", 0, "0", indptr.front());
  for (std::size_t u = 1; u < indptr.size(); ++u) {
    if (indptr[u] < indptr[u - 1]) {
      refuse("indptr", u, "at least the entry before, " + std::to_string(indptr[u - 1]), indptr[u]);
    }
  }
  if (indices.size() != weights.size()) {
    throw ConfigError("weights: expected as many as indices, " + std::to_string(indices.size()) +
                      ", got " + std::to_string(weights.size()));
  }
  if (static_cast<std::uint64_t>(indptr.back()) > indices.size()) {
    refuse("indptr", indptr.size() - 1,
           "at most the number of indices, " + std::to_string(indices.size()), indptr.back());
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(indptr.back()); ++k) {
    if (indices[k] < 0 || static_cast<std::uint64_t>(indices[k]) >= nodes()) {
      refuse("indices", k, "a node below " + std::to_string(nodes()), indices[k]);
    }
    if (!(weights[k] >= 0) || std::isinf(weights[k])) {
      refuse("weights", k, "a finite cost of at least 0", weights[k]);
    }
  }
}

template struct GraphView<std::int32_t, float>;
template struct GraphView<std::int32_t, double>;
template struct GraphView<std::int64_t, float>;
template struct GraphView<std::int64_t, double>;

void check_estimates(Estimates h) {
  for (std::size_t node = 0; node < h.size(); ++node) {
    if (!(h[node] >= 0)) refuse("h", node, "an estimate of at least 0", h[node]);
  }
}

Answer search_graph(const AnyGraph& graph, Estimates h, NodeId start, const GoalSet& goals,
                    const Query& query, Limits& limits) {
  return std::visit(
      [&]<class Index, class Weight>(const GraphView<Index, Weight>& view) {
        GraphProblem<Index, Weight> problem(view, h, goals);
        Query order = query;
        if (h.empty() && query.weight_g > 0.0) order.weight_h = 0.0;  // the same order
        Answer answer = search_weighted(problem, start, order, limits);
        if (h.empty()) {
          guarantee(answer, query, 0.0);
        } else {
          verify(answer, problem, start, goals, query, limits);
        }
        return answer;
      },
      graph);
}

}  // namespace pyengine::astar
