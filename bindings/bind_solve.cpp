#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>

#include "bindings.h"
#include "casts.h"
#include "exact/alphabeta/solver.h"
#include "interpreter.h"
#include "signals.h"

namespace pyengine::bindings {
namespace {

py::dict solve(Solver& self, const py::object& state, std::optional<int> depth,
               std::optional<double> seconds, int threads, bool score) {
  const State root = state_from(self.game(), state);
  const SolveLimits limits{.depth = depth, .seconds = seconds, .threads = threads, .score = score};
  const SignalWatch signals;
  OthersTurns others;
  const SolveResult result = [&] {
    const WithoutGil release;
    return self.solve(root, limits, [&] {
      signals.look();
      others.give();
      return true;
    });
  }();
  py::dict fields;
  fields["value"] = result.value;
  fields["action"] = result.action;
  fields["pv"] = py::cast(result.pv);
  fields["exact"] = result.exact;
  fields["depth"] = result.depth;
  fields["nodes"] = result.nodes;
  fields["seconds"] = result.seconds;
  return fields;
}

}  // namespace

void bind_solve(py::module_& m) {
  py::class_<Solver>(m, "Solver", "Exact values by alpha-beta; see pyengine.Solver.")
      .def(py::init([](const std::shared_ptr<AnyGame>& game, std::uint64_t table_bytes) {
             return std::make_unique<Solver>(game, table_bytes);
           }),
           py::arg("game"), py::arg("table_bytes"))
      .def("solve", &solve, py::arg("state"), py::arg("depth"), py::arg("seconds"),
           py::arg("threads"), py::arg("score"))
      .def("clear",
           [](Solver& self) {
             const WithoutGil release;
             self.clear();
           })
      .def_property_readonly("table_bytes", &Solver::table_bytes);
}

}  // namespace pyengine::bindings
