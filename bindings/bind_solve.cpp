#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "bindings.h"
#include "casts.h"
#include "collected.h"
#include "exact/alphabeta/solver.h"
#include "foreign_game.h"
#include "interpreter.h"
#include "signals.h"

namespace pyengine::bindings {
namespace {

/// A solver that another thread can stop.
class StoppableSolver : public Solver {
 public:
  StoppableSolver(const std::shared_ptr<AnyGame>& game, std::uint64_t bytes,
                  std::uint64_t state_bytes)
      : Solver(game, bytes, state_bytes), game_(py::cast(game)) {}
  [[nodiscard]] int traverse(const Visit& visit) const {
    int stop = visit(game_);
    if (calls_.load() != 0) return stop;
    for_each_state([&](const ForeignState& state) {
      if (stop == 0) stop = traverse_state(state, visit);
    });
    return stop;
  }
  /// Calls `verb` without the GIL. It may change the stored states.
  template <class Verb>
  decltype(auto) change(Verb&& verb) {
    const CallUnderWay call(calls_);
    const WithoutGil release;
    return std::forward<Verb>(verb)();
  }
  /// Stops the current call, if any.
  void stop() noexcept { stops_.fetch_add(1, std::memory_order_relaxed); }
  /// Number of stops. A call ends when this differs from its value at the start of the call, so
  /// that no call clears a stop meant for another one.
  [[nodiscard]] std::uint64_t stops() const noexcept {
    return stops_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> stops_{0};
  std::atomic<int> calls_{0};  ///< running calls, which may change the stored states
  const py::object game_;      ///< the Python object of the game
};

int traverse_solver(const StoppableSolver& solver, const Visit& visit) {
  return solver.traverse(visit);
}

py::dict solve(StoppableSolver& self, const py::object& state, std::optional<int> depth,
               std::optional<double> seconds, int threads, bool score) {
  const SolveLimits limits{.depth = depth,
                           .seconds = seconds,
                           .threads = threads,
                           .score = score,
                           .begun = std::chrono::steady_clock::now()};
  const std::uint64_t stops = self.stops();
  const State root = state_from(self.game(), state);
  const SignalWatch signals;
  OthersTurns others;
  const SolveResult result = self.change([&] {
    return self.solve(root, limits, [&] {
      signals.look();
      others.give();
      return self.stops() == stops;
    });
  });
  py::dict fields;
  fields["value"] = result.value;
  fields["action"] = result.pv.empty() ? py::object(py::none()) : py::int_(result.pv.front());
  fields["pv"] = py::cast(result.pv);
  fields["exact"] = result.exact;
  fields["depth"] = result.depth;
  fields["nodes"] = result.nodes;
  fields["seconds"] = result.seconds;
  return fields;
}

}  // namespace

void bind_solve(py::module_& m) {
  py::class_<StoppableSolver>(m, "Solver", "Exact values by alpha-beta; see pyengine.exact.Solver.",
                              collected<StoppableSolver, &traverse_solver>())
      .def(py::init([](const std::shared_ptr<AnyGame>& game, std::uint64_t bytes,
                       std::uint64_t state_bytes) {
             return std::make_unique<StoppableSolver>(game, bytes, state_bytes);
           }),
           py::arg("game"), py::arg("bytes"), py::arg("state_bytes"))
      .def("solve", &solve, py::arg("state"), py::arg("depth"), py::arg("seconds"),
           py::arg("threads"), py::arg("score"))
      .def("clear", [](StoppableSolver& self) { self.change([&] { self.clear(); }); })
      .def("stop", &StoppableSolver::stop)
      .def_property_readonly("table_bytes", &StoppableSolver::table_bytes);
}

}  // namespace pyengine::bindings
