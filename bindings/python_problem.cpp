#include "python_problem.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "exact/astar/best_first.h"
#include "exact/astar/guarantee.h"
#include "exact/astar/ida.h"
#include "exact/astar/open_list.h"
#include "python_error.h"
#include "signals.h"
#include "text.h"

namespace pyengine::bindings {
namespace {

using astar::Answer;
using astar::Limits;
using astar::NodeId;

/// Estimated bytes per node: the Python object, its dict entry and our entry.
constexpr std::uint64_t kNodeBytes = 256;

[[noreturn]] void refuse(const std::string& what, const py::handle& node, const py::handle& value) {
  throw ConfigError(what + " for node " + repr_of(node) + ", got " + repr_of(value));
}

/// NaN if the object is not a number.
double number_of(const py::handle& object) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    clear_refusal();
    return std::numeric_limits<double>::quiet_NaN();
  }
  return value;
}

/// A user's graph.
class UserGraph {
 public:
  UserGraph(py::object successors, py::object heuristic, py::object is_goal, const Limits& limits)
      : successors_(std::move(successors)),
        heuristic_(std::move(heuristic)),
        is_goal_(std::move(is_goal)),
        limits_(limits) {}

  [[nodiscard]] bool is_goal(const py::object& node) const {
    return py::bool_(call_object(is_goal_, node));
  }
  [[nodiscard]] double h(const py::object& node) const {
    if (heuristic_.is_none()) return 0.0;
    const py::object answer = call_object(heuristic_, node);
    const double h = number_of(answer);
    if (!(h >= 0)) refuse("heuristic: expected a number of at least 0", node, answer);
    return h;
  }
  /// Calls visit(node, cost) for each successor.
  template <class Visit>
  void expand(const py::object& node, Visit&& visit) const {
    const py::object successors = call_object(successors_, node);
    PyObject* iterator = PyObject_GetIter(successors.ptr());
    if (iterator == nullptr) {
      clear_refusal();
      refuse("successors: expected pairs of node and cost", node, successors);
    }
    const auto pairs = py::reinterpret_steal<py::object>(iterator);
    while (PyObject* next = PyIter_Next(pairs.ptr())) {
      raise_signals();
      limits_.check_time();
      const auto pair = py::reinterpret_steal<py::object>(next);
      if (!py::isinstance<py::tuple>(pair) && !py::isinstance<py::list>(pair)) {
        refuse("successors: expected pairs of node and cost", node, pair);
      }
      const auto items = py::reinterpret_borrow<py::sequence>(pair);
      if (items.size() != 2) refuse("successors: expected pairs of node and cost", node, pair);
      const py::object child = items[0];
      const py::object value = items[1];
      const double cost = number_of(value);
      if (!(cost >= 0) || std::isinf(cost)) {
        refuse("successors: expected a finite cost of at least 0", node, value);
      }
      visit(child, cost);
    }
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  }

 private:
  py::object successors_;
  py::object heuristic_;
  py::object is_goal_;
  const Limits& limits_;
};

[[noreturn]] void refuse_unhashable(const py::handle& node) {
  PyErr_Clear();
  throw ConfigError("node: expected a hashable object, such as a tuple, got " + repr_of(node));
}

/// Numbers nodes in order of discovery. The user's functions are called once per node.
class NumberedGraph {
 public:
  using Cost = double;

  NumberedGraph(const UserGraph& graph, Limits& limits) : graph_(graph), limits_(limits) {}

  [[nodiscard]] NodeId number(const py::object& node) {
    PyObject* known = PyDict_GetItemWithError(numbers_.ptr(), node.ptr());
    if (known != nullptr) return static_cast<NodeId>(PyLong_AsUnsignedLong(known));
    if (PyErr_Occurred() != nullptr) {
      if (PyErr_ExceptionMatches(PyExc_TypeError) != 0) refuse_unhashable(node);
      throw py::error_already_set();
    }
    if (nodes_.size() == astar::kMaxNodes) throw astar::Stopped(astar::StopReason::memory);
    limits_.charge(kNodeBytes);
    const double h = graph_.h(node);
    const bool goal = graph_.is_goal(node);
    nodes_.push_back({node, h, goal});
    const auto number = static_cast<NodeId>(nodes_.size() - 1);
    numbers_[node] = py::int_(number);
    return number;
  }
  [[nodiscard]] const py::object& object(NodeId node) const { return nodes_[node].object; }
  [[nodiscard]] bool is_goal(NodeId node) const { return nodes_[node].goal; }
  [[nodiscard]] double real_h(NodeId node) const { return nodes_[node].h; }

  template <class Visit>
  void expand(NodeId node, Visit&& visit) {
    const py::object object = nodes_[node].object;  // a copy, because nodes_ grows below
    graph_.expand(object,
                  [&](const py::object& child, double cost) { visit(number(child), cost); });
  }

 private:
  struct Node {
    py::object object;
    double h;
    bool goal;
  };
  const UserGraph& graph_;
  Limits& limits_;
  std::vector<Node> nodes_;
  py::dict numbers_;
};

/// Traverses a user's graph and stores only the nodes of the current path.
class UserWalk {
 public:
  using Cost = double;
  struct Move {
    py::object node;
    double cost;
  };

  UserWalk(const UserGraph& graph, const py::object& start, Limits& limits)
      : graph_(graph), limits_(limits) {
    step(start, 0.0);
  }

  [[nodiscard]] static NodeId node() noexcept { return 0; }
  [[nodiscard]] static std::vector<NodeId> path() { return {}; }
  [[nodiscard]] bool at_goal() const { return graph_.is_goal(path_.back().node); }
  [[nodiscard]] double h() const noexcept { return path_.back().h; }

  void append_moves(std::vector<Move>& moves) {
    graph_.expand(path_.back().node, [&](const py::object& child, double cost) {
      const int on_path = PySet_Contains(on_path_.ptr(), child.ptr());
      if (on_path < 0) fail(child);
      if (on_path == 0) astar::push_charged(moves, {child, cost}, limits_);
    });
  }
  double enter(const Move& move) {
    step(move.node, path_.back().g + move.cost);
    return move.cost;
  }
  void leave() {
    PySet_Discard(on_path_.ptr(), path_.back().node.ptr());
    path_.pop_back();
  }

  struct Step {
    py::object node;
    double h;
    double g;
  };
  [[nodiscard]] const std::vector<Step>& steps() const noexcept { return path_; }

 private:
  void step(const py::object& node, double g) {
    limits_.check_time();  // at most one call of a slow heuristic exceeds the deadline
    if (PySet_Add(on_path_.ptr(), node.ptr()) != 0) fail(node);
    astar::push_charged(path_, {node, graph_.h(node), g}, limits_);
  }
  [[noreturn]] static void fail(const py::object& node) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) != 0) refuse_unhashable(node);
    throw py::error_already_set();
  }

  const UserGraph& graph_;
  Limits& limits_;
  std::vector<Step> path_;
  py::set on_path_;
};

/// A path, and whether it proves that the heuristic is inadmissible.
struct UserPath {
  py::list nodes;
  bool contradicts = false;
  double slack = 0.0;  ///< rounding tolerance for a difference of sums

  UserPath() = default;
  UserPath(double cost, std::size_t length) : slack(cost * astar::rounding_of_sums(length)) {}
  void add(const py::object& node, double h, double to_go) {
    nodes.append(node);
    contradicts = contradicts || h * (1 - astar::kRounding) > to_go + slack;
  }
};

py::dict answer_to(Answer& answer, const astar::Query& query, const UserPath& path) {
  astar::guarantee(answer, query);
  if (path.contradicts && answer.optimal) {
    answer.optimal = false;
    answer.bound = std::numeric_limits<double>::infinity();
  }
  py::dict fields = fields_of(answer);
  fields["path"] = path.nodes;
  return fields;
}

template <class Found>
Answer answer_of(const Found& found, const astar::Counts& counts, const Limits& limits) {
  Answer answer;
  answer.stop = found.stop;
  answer.counts = counts;
  answer.bytes = limits.bytes();
  if (found.stop == astar::StopReason::found) answer.cost = found.cost;
  return answer;
}

py::dict search_by_depth(const UserGraph& graph, const py::object& start, const astar::Query& query,
                         Limits& limits) {
  using Priority = astar::WeightedWalkPriority<UserWalk>;
  UserWalk walk(graph, start, limits);
  astar::IterativeDeepening<UserWalk, Priority> search(
      walk, Priority{walk, query.weight_g, query.weight_h}, limits);
  const auto found = search.run();
  Answer answer = answer_of(found, search.counts(), limits);
  UserPath path(found.cost, walk.steps().size());
  if (found.stop == astar::StopReason::found) {
    for (const auto& step : walk.steps()) path.add(step.node, step.h, found.cost - step.g);
  }
  return answer_to(answer, query, path);
}

py::dict search_by_best(const UserGraph& graph, const py::object& start, const astar::Query& query,
                        Limits& limits) {
  using Priority = astar::WeightedPriority<NumberedGraph>;
  using Nodes = astar::GrowingNodes<double>;
  NumberedGraph problem(graph, limits);
  Nodes nodes(limits);
  astar::BestFirst<NumberedGraph, astar::RadixQueue<astar::Item<double, double>>, Priority, Nodes>
      search(problem, Priority{problem, query.weight_g, query.weight_h}, nodes, limits,
             query.reopen());
  const auto found = search.run(problem.number(start));
  Answer answer = answer_of(found, search.counts(), limits);
  UserPath path(found.cost, found.path.size());
  for (const NodeId node : found.path) {
    path.add(problem.object(node), problem.real_h(node), found.cost - nodes[node].g);
  }
  return answer_to(answer, query, path);
}

}  // namespace

py::dict search_problem(PathCall& call, const py::object& start, const py::object& successors,
                        const py::object& heuristic, const py::object& is_goal) {
  Limits limits = call.limits_with_gil();
  const UserGraph graph(successors, heuristic, is_goal, limits);
  try {
    const bool ida = call.query().method == astar::Method::ida;
    return (ida ? search_by_depth : search_by_best)(graph, start, call.query(), limits);
  } catch (const astar::Stopped& stopped) {
    Answer answer;
    answer.stop = stopped.reason();
    return answer_to(answer, call.query(), UserPath());
  }
}

}  // namespace pyengine::bindings
