#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "bindings.h"
#include "casts.h"
#include "collected.h"
#include "exact/alphabeta/solver.h"
#include "interpreter.h"
#include "signals.h"

namespace pyengine::bindings {
namespace {

/// A solver whose call another thread can end.
class StoppableSolver : public Solver {
 public:
  StoppableSolver(const std::shared_ptr<AnyGame>& game, std::uint64_t table_bytes)
      : Solver(game, table_bytes), game_(py::cast(game)) {}
  [[nodiscard]] int traverse(const Visit& visit) const { return visit(game_); }
  /// Ends the call that is running, if one is.
  void stop() noexcept { stops_.fetch_add(1, std::memory_order_relaxed); }
  /// How often it was stopped: a call ends when this is no longer what it was when it began, so
  /// that no call forgets a stop that was meant for another one.
  [[nodiscard]] std::uint64_t stops() const noexcept {
    return stops_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> stops_{0};
  const py::object game_;  ///< what Python knows as the game
};

int traverse_solver(const StoppableSolver& solver, const Visit& visit) {
  return solver.traverse(visit);
}

py::dict solve(StoppableSolver& self, const py::object& state, std::optional<int> depth,
               std::optional<double> seconds, int threads, bool score) {
  const State root = state_from(self.game(), state);
  const SolveLimits limits{.depth = depth, .seconds = seconds, .threads = threads, .score = score};
  const std::uint64_t stops = self.stops();
  const SignalWatch signals;
  OthersTurns others;
  const SolveResult result = [&] {
    const WithoutGil release;
    return self.solve(root, limits, [&] {
      signals.look();
      others.give();
      return self.stops() == stops;
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
  py::class_<StoppableSolver>(m, "Solver", "Exact values by alpha-beta; see pyengine.Solver.",
                              collected<StoppableSolver, &traverse_solver>())
      .def(py::init([](const std::shared_ptr<AnyGame>& game, std::uint64_t table_bytes) {
             return std::make_unique<StoppableSolver>(game, table_bytes);
           }),
           py::arg("game"), py::arg("table_bytes"))
      .def("solve", &solve, py::arg("state"), py::arg("depth"), py::arg("seconds"),
           py::arg("threads"), py::arg("score"))
      .def("clear",
           [](StoppableSolver& self) {
             const WithoutGil release;
             self.clear();
           })
      .def("stop", &StoppableSolver::stop)
      .def_property_readonly("table_bytes", &StoppableSolver::table_bytes);
}

}  // namespace pyengine::bindings
