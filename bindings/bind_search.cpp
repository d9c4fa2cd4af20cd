#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arguments.h"
#include "arrays.h"
#include "base/error.h"
#include "bindings.h"
#include "casts.h"
#include "collected.h"
#include "foreign_game.h"
#include "interpreter.h"
#include "kept_evaluator.h"
#include "python_error.h"
#include "search/config_fields.h"
#include "search/searcher.h"
#include "settings_class.h"
#include "signals.h"
#include "text.h"

namespace pyengine::bindings {
namespace {

constexpr const char* kConfigSummary = R"(The settings of a search.

Immutable and validated: :class:`~pyengine.ConfigError` names a field of the wrong type or out
of range. ``float`` fields also accept ints. Every field is also a keyword argument of a search,
for that call.)";
constexpr const char* kConfigExample = R"(Example:
    >>> import pyengine
    >>> config = pyengine.SearchConfig(simulations=1600, threads=2)
    >>> config.replace(seed=1).seed
    1
    >>> pyengine.SearchConfig(c_puct=0)
    Traceback (most recent call last):
        ...
    pyengine.ConfigError: c_puct: expected a number > 0, got 0)";

py::dict numbers_to(const NodeNumbers& numbers) {
  py::dict fields;
  fields["visits"] = numbers.visits;
  fields["sum"] = numbers.sum;
  fields["value"] = numbers.value;
  fields["stdev_factor"] = numbers.stdev_factor;
  fields["moves"] = array_of(numbers.moves);
  return fields;
}

py::dict result_to(const SearchResult& result) {
  py::dict fields;
  fields["action"] = result.action;
  fields["value"] = result.value;
  fields["network_value"] = result.network_value;
  fields["proven"] = py::cast(result.proven);
  fields["actions"] = array_of(result.actions);
  fields["visits"] = array_of(result.visits);
  fields["priors"] = array_of(result.priors);
  fields["q"] = array_of(result.q);
  fields["lcb"] = result.lcb.empty() ? py::none() : py::object(array_of(result.lcb));
  fields["policy"] = array_of(result.policy);
  fields["improved_policy"] = array_of(result.improved_policy);
  fields["pv"] = py::cast(result.pv);
  fields["reused"] = result.reused;
  fields["simulations"] = result.simulations;
  fields["evaluations"] = result.evaluations;
  fields["nodes"] = result.nodes;
  fields["seconds"] = result.seconds;
  fields["stop_reason"] = std::string(to_string(result.stop_reason));
  fields["tree_nodes"] = array_of(result.tree);
  fields["root_moves"] = array_of(result.root.moves);
  fields["stdev_factor"] = result.root.stdev_factor;
  return fields;
}

/// A Searcher with the references that the garbage collector must see.
class PySearcher {
 public:
  PySearcher(const std::shared_ptr<AnyGame>& game, const std::shared_ptr<Evaluator>& evaluator,
             const SearchConfig& config)
      : game_(py::cast(game)), evaluator_(keeper_of(evaluator)) {
    const auto core = core_of(evaluator);
    const WithoutGil release;
    searcher_ = std::make_unique<Searcher>(game, core, config);
  }

  [[nodiscard]] Searcher& operator*() const noexcept { return *searcher_; }
  [[nodiscard]] Searcher* operator->() const noexcept { return searcher_.get(); }

  /// Calls `verb` without the GIL. It may change the tree.
  template <class Verb>
  decltype(auto) change(Verb&& verb) {
    const CallUnderWay call(calls_);
    const WithoutGil release;
    return std::forward<Verb>(verb)(*searcher_);
  }

  [[nodiscard]] int traverse(const Visit& visit) const {
    if (const int stop = visit(game_)) return stop;
    if (const int stop = visit(evaluator_)) return stop;
    const State* root = calls_.load() == 0 ? searcher_->root() : nullptr;
    return root == nullptr ? 0 : traverse_state(*root, visit);
  }

 private:
  const py::object game_;       ///< the Python object of the game
  const py::object evaluator_;  ///< the Python object of the evaluator
  std::atomic<int> calls_{0};   ///< running calls, which may change the root
  std::unique_ptr<Searcher> searcher_;
};

int traverse_searcher(const PySearcher& searcher, const Visit& visit) {
  return searcher.traverse(visit);
}

/// Handles signals and calls on_progress, on the calling thread.
class PythonHost final : public Host {
 public:
  /// `every`: seconds between calls of `on_progress`, which may be None.
  PythonHost(const Searcher& searcher, py::object on_progress, double every)
      : searcher_(searcher),
        on_progress_(std::move(on_progress)),
        every_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(every))) {}

  bool poll() override {
    throw_if_ending();
    const auto now = Clock::now();
    const bool report = !on_progress_.is_none() && now - last_report_ >= every_;
    if (!report && !on_main_thread_) return true;
    const WithGil gil;
    return calling_python([&] {
      raise_signals();
      if (!report) return true;
      const SearchResult result = searcher_.progress();
      if (result.actions.empty()) return true;  // the root is not evaluated yet
      last_report_ = now;
      return goes_on(call_object(on_progress_, result_to(result)));
    });
  }

 private:
  const Searcher& searcher_;
  const py::object on_progress_;
  const Clock::duration every_;
  const bool on_main_thread_ = is_main_thread();
  Clock::time_point last_report_ = Clock::now();
};

/// Numbers that are no actions stay illegal.
std::vector<Action> actions_of(const std::vector<long long>& numbers) {
  constexpr long long kMost = std::numeric_limits<Action>::max();
  std::vector<Action> actions;
  for (const long long number : numbers) {
    actions.push_back(static_cast<Action>(std::clamp(number, -kMost, kMost)));
  }
  return actions;
}

/// `changes`: settings for this call that differ from those of the searcher.
py::dict search(PySearcher& self, const py::object& state, const py::dict& changes,
                const py::object& on_progress, double progress_every,
                const std::optional<IntsArgument<"allow">>& allow,
                const std::optional<IntsArgument<"avoid">>& avoid) {
  const SearchConfig settings = changed(self->config(), changes);
  const State root = state_from(self->game(), state);
  RootMoves moves;
  if (allow) moves.allow = actions_of(allow->values);
  if (avoid) moves.avoid = actions_of(avoid->values);
  PythonHost host(*self, on_progress, progress_every);
  const SearchResult result =
      self.change([&](Searcher& searcher) { return searcher.search(root, settings, host, moves); });
  return result_to(result);
}

std::vector<py::dict> search_many(PySearcher& self, const std::vector<py::object>& states,
                                  const py::dict& changes) {
  const SearchConfig settings = changed(self->config(), changes);
  std::vector<State> roots;
  roots.reserve(states.size());
  for (const py::object& state : states) roots.push_back(state_from(self->game(), state));
  std::vector<const State*> pointers;
  for (const State& root : roots) pointers.push_back(&root);
  PythonHost host(*self, py::none(), 0.0);
  const std::vector<SearchResult> results = self.change(
      [&](Searcher& searcher) { return searcher.search_many(pointers, settings, host); });
  std::vector<py::dict> dicts;
  for (const SearchResult& result : results) dicts.push_back(result_to(result));
  return dicts;
}

/// `changes`: as for search(), with the settings of the search to explain.
py::dict numbers(PySearcher& self, const IntsArgument<"path">& path, const py::dict& changes) {
  const SearchConfig settings = changed(self->config(), changes);
  const std::vector<Action> actions = actions_of(path.values);
  return numbers_to(
      self.change([&](Searcher& searcher) { return searcher.numbers(actions, settings); }));
}

py::dict stats_to(const SearchStats& stats) {
  py::dict fields;
  fields["simulations"] = stats.simulations;
  fields["evaluations"] = stats.evaluations;
  fields["batches"] = stats.batches;
  fields["padding"] = stats.padding;
  fields["cache_hits"] = stats.cache_hits;
  fields["collisions"] = stats.collisions;
  fields["nodes"] = stats.nodes;
  fields["bytes"] = stats.bytes;
  fields["memory_refusals"] = stats.refusals;
  fields["waiting_seconds"] = stats.waiting_seconds;
  fields["scheduler_passes"] = stats.scheduler.passes;
  fields["wake_ups"] = stats.scheduler.wake_ups;
  fields["queue_operations"] = stats.scheduler.queue_operations;
  fields["provider"] = text_of(stats.provider);
  return fields;
}

}  // namespace

void bind_search(py::module_& m) {
  auto config = bind_settings<SearchConfig>(m, kConfigSummary, kConfigExample);
  bind_toml(config);
  PYBIND11_NUMPY_DTYPE(TreeNode, sum, parent, same, visits, prior, next_prior, action, place,
                       next_action, unvisited, to_move, proven);
  PYBIND11_NUMPY_DTYPE(MoveNumbers, sum, action, visits, prior, proven);
  m.attr("NOT_PROVEN") = static_cast<int>(TreeNode::kNotProven);
  m.attr("NO_NEXT") = static_cast<int>(TreeNode::kNoNext);
  m.def(
      "at_temperature",
      [](const std::vector<double>& weights, double temperature) {
        return array_of(at_temperature(weights, temperature));
      },
      py::arg("weights"), py::arg("temperature"),
      "Return weights ** (1 / temperature), normalised.");

  py::class_<PySearcher>(m, "Searcher", "A search that keeps its tree; see pyengine.Engine.",
                         collected<PySearcher, &traverse_searcher>())
      .def(py::init<const std::shared_ptr<AnyGame>&, const std::shared_ptr<Evaluator>&,
                    const SearchConfig&>(),
           py::arg("game"), py::arg("evaluator"), py::arg("config"))
      .def("search", &search, py::arg("state"), py::arg("changes"),
           py::arg("on_progress") = py::none(), py::arg("progress_every") = 0.1,
           py::arg("allow") = py::none(), py::arg("avoid") = py::none())
      .def("numbers", &numbers, py::arg("path"), py::arg("changes"))
      .def(
          "nodes",
          [](PySearcher& self, std::size_t most, const py::dict& changes) -> py::object {
            const SearchConfig settings = changed(self->config(), changes);
            return array_of(
                self.change([&](Searcher& searcher) { return searcher.nodes(most, settings); }));
          },
          py::arg("most"), py::arg("changes"))
      .def("search_many", &search_many, py::arg("states"), py::arg("changes"))
      .def(
          "advance",
          [](PySearcher& self, ActionArgument argument) {
            const Action action = actions_of({argument.value}).front();
            self.change([&](Searcher& searcher) { searcher.advance(action); });
          },
          py::arg("action"))
      .def("clear",
           [](PySearcher& self) { self.change([](Searcher& searcher) { searcher.clear(); }); })
      // Both wait for a lock whose holder may need the GIL: see Searcher::mutex_.
      .def(
          "stop", [](PySearcher& self) { self->stop(); }, py::call_guard<WithoutGil>())
      .def("stats", [](const PySearcher& self) {
        const SearchStats stats = [&] {
          const WithoutGil release;
          return self->stats();
        }();
        return stats_to(stats);
      });
}

}  // namespace pyengine::bindings
