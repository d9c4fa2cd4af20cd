/// Evaluators as opaque objects for engines; pyengine.eval has the public classes.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "bindings.h"
#include "callback_evaluators.h"
#include "casts.h"
#include "eval/evaluate_states.h"
#include "eval/mixed.h"
#include "eval/modelled_device.h"
#include "eval/network/several.h"
#include "eval/ort/runtime.h"
#include "eval/simple.h"
#include "eval/traced.h"
#include "games/any/state.h"
#include "interpreter.h"
#include "kept_evaluator.h"
#include "locked.h"
#include "signals.h"
#include "text.h"

namespace pyengine::bindings {
namespace {

/// Writes the planes of a position to `row`. `planes`: memory to reuse.
void encode(const Encoder& encoder, const AnyPosition& position, PlaneStack& planes, float* row) {
  ActionList legal;
  if (!position.outcome().has_value()) position.legal_actions(legal);
  encoder.open(position, legal, planes);
  position.rethrow_if_failed();
  encoder.write(planes, 0, ElementType::float32, reinterpret_cast<std::byte*>(row));
}

py::array_t<float> observation_tensor(const State& state, const py::object& spec) {
  const Encoder encoder(spec_from(spec), *state.game());
  const auto dims = encoder.shape().dims();
  py::array_t<float> tensor(std::vector<py::ssize_t>(dims.begin(), dims.end()));
  PlaneStack planes;
  encode(encoder, state.position(), planes, tensor.mutable_data());
  return tensor;
}

/// Converts a State, or a user's state object, of a game.
State state_of(const std::shared_ptr<const AnyGame>& game, const py::handle& state) {
  const auto object = py::reinterpret_borrow<py::object>(state);
  if (!py::isinstance<State>(object)) return {game, {}, position_from(game, object), {}};
  const State own = copy_of(object);
  return {game, own.start(), position_of(*game, own), own.history()};
}

py::array_t<float> planes_of(const py::sequence& states, const py::object& spec,
                             const py::object& game) {
  const auto played = game_from(game);
  const Encoder encoder(spec_from(spec), *played);
  const auto dims = encoder.shape().dims();
  std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(states.size())};
  shape.insert(shape.end(), dims.begin(), dims.end());
  py::array_t<float> rows(shape);
  float* row = rows.mutable_data();
  PlaneStack planes;
  for (const py::handle& object : states) {
    const State state = state_of(played, object);
    encode(encoder, state.position(), planes, row);
    row += encoder.shape().elements();
  }
  return rows;
}

/// Runs a model and returns the named outputs as arrays.
py::list run_model(OrtModel& model,
                   const py::array_t<float, py::array::c_style | py::array::forcecast>& planes,
                   const Text& input, const std::vector<Text>& outputs) {
  const std::vector<std::int64_t> shape(planes.shape(), planes.shape() + planes.ndim());
  const std::span<const float> numbers(planes.data(), static_cast<std::size_t>(planes.size()));
  std::vector<OrtOutput> results;
  {
    const WithoutGil released;
    results = model.run(numbers, shape, input, {outputs.begin(), outputs.end()});
  }
  py::list arrays;
  for (const OrtOutput& output : results) {
    py::array_t<float> array(std::vector<py::ssize_t>(output.shape.begin(), output.shape.end()));
    std::copy(output.numbers.begin(), output.numbers.end(), array.mutable_data());
    arrays.append(array);
  }
  return arrays;
}

bool fits_int8(const py::object& game, const py::object& spec) {
  return Encoder(spec_from(spec), *game_from(game)).fits_int8();
}

std::shared_ptr<Evaluator> with_references(std::shared_ptr<Evaluator> core,
                                           CallbackFunction function) {
  return std::make_shared<KeptEvaluator>(std::move(core), std::move(function));
}
std::shared_ptr<Evaluator> with_references(std::shared_ptr<Evaluator> core,
                                           std::vector<py::object> parts) {
  return std::make_shared<KeptEvaluator>(std::move(core), std::move(parts));
}

/// An evaluator bound to a game, for use outside of searches.
class GameEvaluator {
 public:
  GameEvaluator(const std::shared_ptr<Evaluator>& evaluator, const py::object& game)
      : game_(game_from(game)),
        core_(core_of(evaluator)),
        kept_{py::cast(game_holder(game_)), keeper_of(evaluator)} {
    const WithoutGil released;
    bound_ = core_->bind(game_, {});
  }
  [[nodiscard]] std::shared_ptr<AnyGame> game() const { return game_holder(game_); }
  [[nodiscard]] int traverse(const Visit& visit) const {
    if (const int stop = visit(kept_[0])) return stop;
    return visit(kept_[1]);
  }
  [[nodiscard]] Text provider() const { return core_->provider(); }

  py::tuple evaluate(const py::sequence& objects, bool average, int batch_rows) {
    std::vector<State> states;  // copies, since other threads may change the states
    for (const py::handle& state : objects) states.push_back(state_of(game_, state));
    std::vector<const State*> pointers;
    for (const State& state : states) pointers.push_back(&state);
    const auto count = static_cast<py::ssize_t>(states.size());
    py::array_t<float> policy({count, static_cast<py::ssize_t>(game_->shape().num_actions)});
    py::array_t<float> value(count);
    const std::span<float> policy_out(policy.mutable_data(),
                                      static_cast<std::size_t>(policy.size()));
    const std::span<float> value_out(value.mutable_data(), static_cast<std::size_t>(count));
    SignalWatch signals;
    {
      const WithoutGil released;
      evaluate_states(*bound_, pointers, policy_out, value_out, average, batch_rows,
                      [&] { signals.look_now_and_then(); });
    }
    return py::make_tuple(policy, value);
  }

 private:
  std::shared_ptr<const AnyGame> game_;
  std::shared_ptr<Evaluator> core_;
  std::array<py::object, 2> kept_;  ///< the Python objects of the game and the evaluator
  std::unique_ptr<BoundEvaluator> bound_;
};

int traverse_bound(const GameEvaluator& evaluator, const Visit& visit) {
  return evaluator.traverse(visit);
}

void bind_model(py::module_& m) {
  py::class_<OrtModel, std::shared_ptr<OrtModel>> model(m, "OnnxModel",
                                                        "A file opened by ONNX Runtime.");
  model.def_property_readonly(
      "provider", [](const OrtModel& self) { return Text(self.provider()); },
      "The provider that runs the model.");
  model.def_property_readonly(
      "provider_reason", [](const OrtModel& self) { return Text(self.provider_reason()); },
      "\"named\", or the reason why the GPU is used or not.");
  model.def_property_readonly(
      "inputs", [](const OrtModel& self) { return Text(to_string(self.inputs())); },
      "Description for messages: \"planes float32[N,3,9,9]\".");
  model.def_property_readonly(
      "outputs", [](const OrtModel& self) { return Text(to_string(self.outputs())); },
      "Description for messages, like `inputs`.");
  model.def_property_readonly(
      "provider_text", [](const OrtModel& self) { return Text(self.provider_text()); },
      "The provider, and whether requested CUDA graphs are used or why not.");
  model.def_property_readonly("sessions", &OrtModel::num_sessions, "Number of open sessions.");
  model.def("unchanged", &OrtModel::unchanged, py::call_guard<WithoutGil>(),
            "Whether the files have the times and contents that they had when opened.");
  model.def(
      "metadata",
      [](const OrtModel& self, const Text& key) -> std::optional<Text> {
        if (auto value = self.metadata(key)) return Text(std::move(*value));
        return std::nullopt;
      },
      py::arg("key"), "An entry of the file's metadata, or None.");
  model.def(
      "run", &run_model, py::arg("planes"), py::arg("input"), py::arg("outputs"),
      "Run the model, which must be on the CPU, on planes [N,...] and return the named outputs.\n"
      "`input`: name of the tensor; \"\" = the only one. Raises ModelError and EvaluationError.");
  model.def("infer_spec", &OrtModel::infer_spec, py::call_guard<WithoutGil>(),
            "Infer the ModelSpec from shapes, last operators and a trial run. Raises ModelError.");
  m.def(
      "open_onnx",
      [](const std::filesystem::path& path, const std::filesystem::path& library,
         const std::vector<std::pair<Text, std::map<Text, Text>>>& providers, int device_id,
         int max_batch, int threads, const std::optional<std::filesystem::path>& engine_cache,
         const std::vector<std::filesystem::path>& weights, bool as_device, bool one_session,
         const std::map<int, double>& call_seconds, const Text& graphs,
         const std::map<Text, Text>& last_operators) {
        const WithoutGil released;
        OrtOptions options{
            .library = library,
            .providers = {},
            .device_id = device_id,
            .max_batch = max_batch,
            .threads = threads,
            .as_device = as_device,
            .one_session = one_session,
            .call_seconds = call_seconds,
            .graphs = graphs,
            .engine_cache = engine_cache.value_or(""),
            .last_operators = {last_operators.begin(), last_operators.end()},
            .weights = weights,
        };
        for (const auto& [name, own] : providers) {
          options.providers.push_back({name, {own.begin(), own.end()}});
        }
        return open_onnx(path, options);
      },
      py::arg("path"), py::kw_only(), py::arg("library"), py::arg("providers"),
      py::arg("device_id"), py::arg("max_batch"), py::arg("threads"),
      py::arg("engine_cache") = py::none(),
      py::arg("weights") = std::vector<std::filesystem::path>(), py::arg("as_device") = false,
      py::arg("one_session") = false, py::arg("call_seconds") = std::map<int, double>(),
      py::arg("graphs") = "", py::arg("last_operators") = std::map<Text, Text>(),
      "Open a model; see pyengine.OnnxEvaluator. `providers`: pairs of a name and options; empty\n"
      "= the best available. Opening a model again shares its sessions. `engine_cache`: folder\n"
      "for TensorRT engines of this model. `weights`: external data files of the model.\n"
      "`last_operators`: by output name. For tests: `as_device` uses the CPU like a GPU,\n"
      "`one_session` like TensorRT; `call_seconds` by number of rows replace measured times;\n"
      "`graphs`: kind of imitated CUDA graphs, \"working\", \"refused\", \"stale\", \"uncopied\"\n"
      "or \"uncaptured\".");
}

/// A network on one device or on several.
template <typename Source>
std::shared_ptr<Evaluator> evaluator_on(const std::vector<std::shared_ptr<Source>>& devices,
                                        ModelSpec spec) {
  if (devices.size() == 1) {
    return std::make_shared<NetworkEvaluator>(devices.front(), std::move(spec));
  }
  auto all = std::make_shared<SeveralDevices>(
      std::vector<std::shared_ptr<NetworkSource>>(devices.begin(), devices.end()));
  return std::make_shared<NetworkEvaluator>(std::move(all), std::move(spec));
}

void bind_evaluators(py::module_& m) {
  using Pointer = std::shared_ptr<Evaluator>;
  py::class_<Evaluator, Pointer>(m, "Evaluator",
                                 "Evaluates positions for an engine; see pyengine.eval.Evaluator.",
                                 collected<Evaluator, &traverse_evaluator, &clear_evaluator>())
      .def(py::init([](const Pointer& made) -> Pointer {
             return std::make_shared<KeptEvaluator>(made);
           }),
           py::arg("made"), "For subclasses: wraps the result of one of the functions below.")
      .def_property_readonly(
          "device_batches", &Evaluator::device_batches,
          "Number of batches that the device serves concurrently; 0 = no device.");
  m.def("uniform_evaluator", [] { return Pointer(std::make_shared<UniformEvaluator>()); });
  m.def(
      "rollout_evaluator",
      [](int rollouts) { return Pointer(std::make_shared<RolloutEvaluator>(rollouts)); },
      py::arg("rollouts"));
  m.def(
      "mixed_evaluator",
      [](const Pointer& network, const Pointer& rollout, double mix) {
        return with_references(
            std::make_shared<MixedEvaluator>(core_of(network), core_of(rollout), mix),
            {keeper_of(network), keeper_of(rollout)});
      },
      py::arg("network"), py::arg("rollout"), py::arg("mix"));
  m.def(
      "onnx_evaluator",
      [](const std::vector<std::shared_ptr<OrtModel>>& models, const py::object& spec) {
        return evaluator_on(models, spec_from(spec));
      },
      py::arg("models"), py::arg("spec"),
      "Combine models opened from the same file on several devices.");
  m.def(
      "callback_evaluator",
      [](const py::object& fn, const py::object& spec) {
        const CallbackFunction function(fn);
        auto network =
            std::make_shared<NetworkEvaluator>(callback_source(function), spec_from(spec));
        return with_references(std::move(network), function);
      },
      py::arg("fn"), py::arg("spec"));
  m.def(
      "state_evaluator",
      [](const py::object& fn) {
        const CallbackFunction function(fn);
        return with_references(state_evaluator(function), function);
      },
      py::arg("fn"));
  py::class_<GameEvaluator> bound(m, "BoundEvaluator", "An evaluator bound to a game.",
                                  collected<GameEvaluator, &traverse_bound>());
  bound.def(py::init<const Pointer&, const py::object&>(), py::arg("evaluator"), py::arg("game"));
  bound.def_property_readonly("game", &GameEvaluator::game);
  bound.def_property_readonly("provider", &GameEvaluator::provider);
  bound.def(
      "evaluate", &GameEvaluator::evaluate, py::arg("states"), py::arg("average"),
      py::arg("batch_rows") = kStatesBatch,
      "Return (policy float32[N,A], value float32[N]). `average`: over the board symmetries;\n"
      "`batch_rows`: rows per batch.");
}

void bind_modelled_device(py::module_& m) {
  py::class_<ModelledDevice, std::shared_ptr<ModelledDevice>> device(
      m, "ModelledDevice",
      "A model of an accelerator: a batch takes a modelled time but no CPU time. For the\n"
      "benchmark suites.");
  device.def(py::init([](double latency, double per_row, int streams, bool buckets, bool uniform) {
               return std::make_shared<ModelledDevice>(
                   DeviceModel{latency, per_row, streams, buckets, uniform});
             }),
             py::kw_only(), py::arg("latency") = DeviceModel{}.latency,
             py::arg("per_row") = DeviceModel{}.per_row, py::arg("streams") = DeviceModel{}.streams,
             py::arg("buckets") = DeviceModel{}.buckets, py::arg("uniform") = DeviceModel{}.uniform,
             "Seconds per batch and per row; concurrent batches (0 = no device: workers evaluate\n"
             "their batches themselves); whether batches are padded as on a GPU; equal priors and\n"
             "value 0, or a function of the position.");
  device.def(
      "counters",
      [](const ModelledDevice& self) {
        const DeviceCounters totals = self.counters();
        py::dict counters;
        counters["batches"] = totals.batches;
        counters["rows"] = totals.rows;
        counters["padding"] = totals.padding;
        counters["busy"] = totals.busy;
        counters["late"] = totals.late;
        return counters;
      },
      "Totals: batches, rows (without padding), padding; seconds of evaluation (busy), and\n"
      "seconds from the end of a batch until its thread wakes up (late).");
  m.def(
      "modelled_device_evaluator",
      [](const std::vector<std::shared_ptr<ModelledDevice>>& devices, const py::object& spec) {
        return evaluator_on(devices, spec_from(spec));
      },
      py::arg("devices"), py::arg("spec"));
}

const char* name_of(TraceSpan::Kind kind) {
  switch (kind) {
    case TraceSpan::Kind::gather:
      return "gather";
    case TraceSpan::Kind::evaluate:
      return "evaluate";
    case TraceSpan::Kind::decode:
      return "decode";
  }
  return "";
}

void bind_trace(py::module_& m) {
  py::class_<Trace, std::shared_ptr<Trace>> trace(
      m, "Trace", "Activity of the threads of a search over time. For the benchmark suites.");
  trace.def(py::init<>());
  trace.def(
      "take",
      [](Trace& self) {
        py::list spans;
        for (const TraceSpan& span : self.take()) {
          using Seconds = std::chrono::duration<double>;
          spans.append(py::make_tuple(
              name_of(span.kind), span.thread, span.rows,
              std::chrono::duration_cast<Seconds>(span.begin.time_since_epoch()).count(),
              std::chrono::duration_cast<Seconds>(span.end.time_since_epoch()).count()));
        }
        return spans;
      },
      "Return the spans since the last call: (\"gather\", \"evaluate\" or \"decode\", thread "
      "number, "
      "rows of\nthe batch, begin and end in seconds). Must not be called during a search.");
  m.def(
      "traced_evaluator",
      [](const std::shared_ptr<Evaluator>& evaluator, const std::shared_ptr<Trace>& trace) {
        return with_references(std::make_shared<TracedEvaluator>(core_of(evaluator), trace),
                               std::vector{keeper_of(evaluator)});
      },
      py::arg("evaluator"), py::arg("trace"));
}

void bind_runtime(py::module_& m) {
  m.def(
      "ort_report",
      [](const std::filesystem::path& library) {
        const OrtReport report = [&] {
          const WithoutGil released;  // loads the library
          return ort_report(library);
        }();
        const std::vector<Text> available(report.available.begin(), report.available.end());
        return py::make_tuple(text_of(report.version), text_of(report.build_info), available);
      },
      py::arg("library"), "Return the version, the build and the built-in providers.");
  m.def(
      "ort_provider_problem",
      [](const std::filesystem::path& library, const Text& provider, int device_id) {
        return Text(ort_provider_problem(library, provider, device_id));
      },
      py::arg("library"), py::arg("provider"), py::arg("device_id") = 0,
      py::call_guard<WithoutGil>(), "Return why a provider is unavailable, or an empty string.");
}

}  // namespace

void bind_eval(py::module_& m) {
  bind_model(m);
  bind_evaluators(m);
  bind_modelled_device(m);
  bind_trace(m);
  bind_runtime(m);
  m.def("planes_of", &planes_of, py::arg("states"), py::arg("spec"), py::arg("game"),
        "Return the planes of states under a ModelSpec: float32[N,...].");
  m.def("fits_int8", &fits_int8, py::arg("game"), py::arg("spec"),
        "Return whether the planes of a ModelSpec contain only -1, 0 and 1.");
  const py::object state = m.attr("State");
  state.attr("observation_tensor") = py::cpp_function(
      locked(&observation_tensor), py::name("observation_tensor"), py::is_method(state),
      py::arg("spec") = py::none(),
      "Return the planes: float32[C,H,W], or [H,W,C] with layout NHWC. None = the default spec.");
}

}  // namespace pyengine::bindings
