/// Path search; pyengine.astar has the public classes and validates arguments.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "exact/astar/graph.h"
#include "exact/astar/grid.h"
#include "exact/astar/puzzle.h"
#include "interpreter.h"
#include "path_call.h"
#include "python_problem.h"

namespace pyengine::bindings {
namespace {

using astar::Answer;
using astar::NodeId;
using Doubles = py::array_t<double, py::array::c_style>;
using Nodes = py::array_t<std::int64_t, py::array::c_style>;

template <class T>
std::span<const T> span_of(const py::array& array) {
  return {static_cast<const T*>(array.data()), static_cast<std::size_t>(array.size())};
}

std::span<const double> span_of(const std::optional<Doubles>& array) {
  return array ? span_of<double>(*array) : std::span<const double>{};
}

/// Memory limit for data that is created before a search.
astar::Limits unlimited() { return {std::numeric_limits<std::uint64_t>::max(), std::nullopt, {}}; }

/// The caller's arrays; keeps them alive.
class PathGraph {
 public:
  /// Throws ConfigError if a dtype is unsupported; see GraphView::check().
  PathGraph(py::array indptr, py::array indices, py::array weights)
      : view_(view_of(indptr, indices, weights)),
        arrays_{std::move(indptr), std::move(indices), std::move(weights)} {
    const WithoutGil release;
    std::visit([](const auto& view) { view.check(); }, view_);
  }

  py::dict search(PathCall& call, NodeId start, const Nodes& goals,
                  const std::optional<Doubles>& h) const {
    const std::span<const double> estimates = span_of(h);
    astar::Limits limits = call.limits_without_gil();
    const std::span<const std::int64_t> listed = span_of<std::int64_t>(goals);
    const Answer answer = [&] {
      const WithoutGil release;
      astar::check_estimates(estimates);
      return astar::within_limits([&] {
        const astar::GoalSet set(nodes(), {listed.begin(), listed.end()}, limits);
        return astar::search_graph(view_, estimates, start, set, call.query(), limits);
      });
    }();
    py::dict fields = fields_of(answer);
    fields["path"] = array_of(answer.path);
    fields["status"] = array_of(answer.states);
    return fields;
  }

  [[nodiscard]] std::uint64_t nodes() const {
    return std::visit([](const auto& view) { return view.nodes(); }, view_);
  }

 private:
  template <class Index>
  static astar::AnyGraph weighted(const py::array& indptr, const py::array& indices,
                                  const py::array& weights) {
    const auto rows = span_of<Index>(indptr);
    const auto columns = span_of<Index>(indices);
    if (py::isinstance<py::array_t<float>>(weights)) {
      return astar::GraphView<Index, float>{rows, columns, span_of<float>(weights)};
    }
    return astar::GraphView<Index, double>{rows, columns, span_of<double>(weights)};
  }
  static astar::AnyGraph view_of(const py::array& indptr, const py::array& indices,
                                 const py::array& weights) {
    const bool narrow = py::isinstance<py::array_t<std::int32_t>>(indptr);
    return narrow ? weighted<std::int32_t>(indptr, indices, weights)
                  : weighted<std::int64_t>(indptr, indices, weights);
  }

  astar::AnyGraph view_;
  std::array<py::array, 3> arrays_;
};

/// A copy of the caller's grid. Nodes are numbered row by row.
class PathGrid {
 public:
  PathGrid(const py::array_t<bool, py::array::c_style>& free, int connectivity, bool corner_cutting)
      : connectivity_(connectivity),
        corners_(corner_cutting ? astar::Corners::cut : astar::Corners::keep),
        map_(map_of(free)) {}

  py::dict search(PathCall& call, std::int64_t start, const Nodes& goals,
                  const std::string& heuristic, const std::optional<Doubles>& h) const {
    const astar::GridQuery query{.query = call.query(),
                                 .connectivity = connectivity_,
                                 .corners = corners_,
                                 .heuristic = heuristic_of(heuristic),
                                 .h = span_of(h)};
    astar::Limits limits = call.limits_without_gil();
    const std::span<const std::int64_t> listed = span_of<std::int64_t>(goals);
    const Answer answer = [&] {
      const WithoutGil release;
      astar::check_estimates(query.h);
      return astar::within_limits([&] {
        std::vector<NodeId> nodes;
        for (const std::int64_t goal : listed) nodes.push_back(node(goal));
        const astar::GoalSet set(map_.nodes(), nodes, limits);
        return astar::search_grid(map_, query, node(start), set, limits);
      });
    }();
    std::vector<std::int64_t> path;
    for (const NodeId id : answer.path) path.push_back(static_cast<std::int64_t>(cell_index(id)));
    py::dict fields = fields_of(answer);
    fields["path"] = array_of(path);
    fields["status"] = array_of(answer.states);
    return fields;
  }

 private:
  static astar::GridMap map_of(const py::array_t<bool>& free) {
    astar::Limits limits = unlimited();
    return {span_of<bool>(free), static_cast<std::int32_t>(free.shape(0)),
            static_cast<std::int32_t>(free.shape(1)), limits};
  }
  static astar::GridHeuristic heuristic_of(const std::string& name) {
    using enum astar::GridHeuristic;
    if (name == "manhattan") return manhattan;
    if (name == "octile") return octile;
    if (name == "euclidean") return euclidean;
    return name == "array" ? array : none;
  }
  [[nodiscard]] NodeId node(std::int64_t index) const {
    const std::int64_t columns = map_.columns();
    return map_.node(
        {static_cast<std::int32_t>(index / columns), static_cast<std::int32_t>(index % columns)});
  }
  [[nodiscard]] std::size_t cell_index(NodeId node) const { return map_.index(map_.cell(node)); }

  int connectivity_;
  astar::Corners corners_;
  astar::GridMap map_;
};

class PathPuzzle {
 public:
  using Tiles = std::vector<int>;

  PathPuzzle(int rows, int columns) : shape_(rows, columns) {}

  py::dict search(PathCall& call, const Tiles& start, const std::vector<Tiles>& goals,
                  const std::string& heuristic) const {
    const astar::Board from = shape_.board(start, "start");
    std::vector<astar::Board> boards;
    for (const Tiles& goal : goals) boards.push_back(shape_.board(goal, "goals"));
    astar::Limits limits = call.limits_without_gil();
    const astar::PuzzleAnswer solution = [&] {
      const WithoutGil release;
      return astar::search_puzzle(shape_, from, boards, heuristic_of(heuristic), call.query(),
                                  limits);
    }();
    py::list path;
    for (const astar::Board board : solution.path) path.append(tiles_of(board));
    py::dict fields = fields_of(solution.answer);
    fields["path"] = path;
    return fields;
  }

 private:
  static astar::PuzzleHeuristic heuristic_of(const std::string& name) {
    using enum astar::PuzzleHeuristic;
    if (name == "misplaced") return misplaced;
    if (name == "manhattan") return manhattan;
    return name == "linear_conflict" ? linear_conflict : none;
  }
  [[nodiscard]] py::tuple tiles_of(astar::Board board) const {
    py::tuple tiles(shape_.cells());
    for (int cell = 0; cell < shape_.cells(); ++cell) {
      tiles[static_cast<std::size_t>(cell)] = astar::tile_at(board, cell);
    }
    return tiles;
  }

  astar::PuzzleShape shape_;
};

int traverse_call(const PathCall& call, const Visit& visit) { return call.traverse(visit); }

}  // namespace

void bind_astar(py::module_& m) {
  py::class_<PathCall>(m, "PathCall", collected<PathCall, &traverse_call>())
      .def(py::init<const std::string&, double, double, std::optional<double>, std::uint64_t, bool,
                    py::object>(),
           py::arg("method"), py::arg("weight_g"), py::arg("weight_h"), py::arg("seconds"),
           py::arg("memory_limit"), py::arg("keep_status"), py::arg("on_progress"));
  py::class_<PathGraph>(m, "PathGraph")
      .def(py::init<py::array, py::array, py::array>(), py::arg("indptr"), py::arg("indices"),
           py::arg("weights"))
      .def("search", &PathGraph::search, py::arg("call"), py::arg("start"), py::arg("goals"),
           py::arg("h"));
  py::class_<PathGrid>(m, "PathGrid")
      .def(py::init<const py::array_t<bool, py::array::c_style>&, int, bool>(), py::arg("free"),
           py::arg("connectivity"), py::arg("corner_cutting"))
      .def("search", &PathGrid::search, py::arg("call"), py::arg("start"), py::arg("goals"),
           py::arg("heuristic"), py::arg("h"));
  py::class_<PathPuzzle>(m, "PathPuzzle")
      .def(py::init<int, int>(), py::arg("rows"), py::arg("columns"))
      .def("search", &PathPuzzle::search, py::arg("call"), py::arg("start"), py::arg("goals"),
           py::arg("heuristic"));
  m.def("search_problem", &search_problem, py::arg("call"), py::arg("start"), py::arg("successors"),
        py::arg("heuristic"), py::arg("is_goal"));
}

}  // namespace pyengine::bindings
