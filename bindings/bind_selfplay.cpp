#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "casts.h"
#include "collected.h"
#include "eval/network/encoder.h"
#include "foreign_game.h"
#include "games/any/registry.h"
#include "games/any/state.h"
#include "interpreter.h"
#include "kept_evaluator.h"
#include "locked.h"
#include "python_error.h"
#include "selfplay/config_fields.h"
#include "selfplay/self_play.h"
#include "settings_class.h"
#include "text.h"

namespace pyengine::bindings {
namespace {

/// A NumPy array of zeros.
template <class T>
py::array_t<T> array_of_shape(std::vector<py::ssize_t> shape) {
  py::array_t<T> array(std::move(shape));
  std::fill_n(array.mutable_data(), array.size(), T{});
  return array;
}

std::vector<std::string> plane_kinds(const py::object& game, const py::object& spec) {
  const Encoder encoder(spec_from(spec), *game_from(game));
  std::vector<std::string> kinds;
  for (const Encoder::Channel& channel : encoder.channels()) {
    const bool set = channel.storage == Encoder::Storage::set;
    kinds.emplace_back(set                                              ? "bits"
                           : channel.storage == Encoder::Storage::value ? "fill"
                                                                        : "dense");
  }
  return kinds;
}

/// int32[symmetries, C]: the dense plane of each channel, or -1.
py::array_t<std::int32_t> dense_slots(const py::object& game, const py::object& spec) {
  const auto any = game_from(game);
  const Encoder encoder(spec_from(spec), *any);
  const auto symmetries = static_cast<py::ssize_t>(std::max(1, any->symmetries().count()));
  const auto channels = encoder.channels();
  py::array_t<std::int32_t> slots({symmetries, static_cast<py::ssize_t>(channels.size())});
  auto out = slots.mutable_unchecked<2>();
  for (py::ssize_t k = 0; k < symmetries; ++k) {
    const auto& under = encoder.slots_under(static_cast<int>(k));
    for (std::size_t c = 0; c < channels.size(); ++c) {
      const bool dense = channels[c].storage == Encoder::Storage::dense;
      out(k, static_cast<py::ssize_t>(c)) = dense ? under[c] : -1;
    }
  }
  return slots;
}

py::tuple encode_planes(const py::sequence& states, const py::object& spec) {
  if (states.empty()) throw py::value_error("encode_planes: expected at least one state");
  const py::object first = states[0];
  const Encoder encoder(spec_from(spec), *first.cast<const State&>().game());
  const PackedShape shape = packed_shape(encoder);
  const auto count = static_cast<py::ssize_t>(states.size());
  auto bits = array_of_shape<std::uint8_t>(
      {count, shape.sets, static_cast<py::ssize_t>(shape.set_bytes())});
  auto fill = array_of_shape<float>({count, shape.values});
  auto dense = array_of_shape<float>({count, shape.dense, shape.points});
  PlaneStack planes;
  ActionList legal;
  for (py::ssize_t i = 0; i < count; ++i) {
    const State state = copy_of(py::object(states[static_cast<std::size_t>(i)]));
    const AnyPosition& position = state.position();
    legal.clear();
    if (!position.outcome().has_value()) position.legal_actions(legal);
    encoder.open(position, legal, planes);
    position.rethrow_if_failed();
    const auto row = static_cast<std::size_t>(i);
    const auto values = static_cast<std::size_t>(shape.values);
    pack_planes(shape, planes, {bits.mutable_data() + row * shape.bits(), shape.bits()},
                {fill.mutable_data() + row * values, values},
                {dense.mutable_data() + row * shape.numbers(), shape.numbers()});
  }
  return py::make_tuple(bits, fill, dense);
}

/// Moves a vector to a NumPy array of the given shape.
template <class T>
py::array_t<T> array_taking(std::vector<T>&& values, std::vector<py::ssize_t> shape) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owner->data();
  const py::capsule capsule(owner.release(),
                            [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>(std::move(shape), data, capsule);
}

py::dict game_to(FinishedGame&& game, const PackedShape& planes, int num_actions) {
  const auto rows = static_cast<py::ssize_t>(game.positions);
  const auto moves = static_cast<py::ssize_t>(game.moves.size());
  py::dict fields;
  fields["number"] = game.number;
  fields["returns"] = py::make_tuple(game.returns[0], game.returns[1]);
  fields["moves"] = array_taking(std::move(game.moves), {moves});
  fields["start"] = py::cast(game.start);
  fields["resigned"] = game.resigned;
  fields["resignation_off"] = game.resignation_off;
  fields["cut_short"] = game.cut_short;
  fields["lowest"] = py::cast(game.lowest);
  fields["bits"] = array_taking(std::move(game.bits),
                                {rows, planes.sets, static_cast<py::ssize_t>(planes.set_bytes())});
  fields["fill"] = array_taking(std::move(game.fill), {rows, planes.values});
  fields["dense"] = array_taking(std::move(game.dense), {rows, planes.dense, planes.points});
  fields["visits"] = array_taking(std::move(game.visits), {rows, num_actions});
  fields["root_value"] = array_taking(std::move(game.root_value), {rows});
  fields["network_value"] = array_taking(std::move(game.network_value), {rows});
  fields["ply"] = array_taking(std::move(game.ply), {rows});
  fields["action"] = array_taking(std::move(game.action), {rows});
  fields["to_move"] = array_taking(std::move(game.to_move), {rows});
  fields["full"] = array_taking(std::move(game.full), {rows});
  fields["taught"] = array_taking(std::move(game.taught), {rows});
  fields["surprise"] = array_taking(std::move(game.surprise), {rows});
  return fields;
}

py::dict counters_to(const SelfPlayCounters& counters) {
  py::dict fields;
  fields["begun"] = counters.begun;
  fields["finished"] = counters.finished;
  fields["positions"] = counters.positions;
  fields["plies"] = counters.plies;
  fields["first_wins"] = counters.first_wins;
  fields["draws"] = counters.draws;
  fields["resigned"] = counters.resigned;
  fields["cut_short"] = counters.cut_short;
  fields["searches"] = counters.searches;
  fields["simulations"] = counters.simulations;
  fields["evaluations"] = counters.evaluations;
  fields["batches"] = counters.batches;
  fields["padding"] = counters.padding;
  fields["cache_hits"] = counters.cache_hits;
  fields["waiting_seconds"] = counters.waiting_seconds;
  fields["bytes"] = counters.bytes;
  fields["memory_refusals"] = counters.refusals;
  fields["provider"] = text_of(counters.provider);
  fields["resign_threshold"] = py::cast(counters.resign_threshold);
  fields["played_on"] = counters.resignation.games;
  fields["in_vain"] = counters.resignation.in_vain;
  return fields;
}

constexpr const char* kConfigSummary = R"(The settings of self-play.

Immutable and validated: :class:`~pyengine.ConfigError` names a field of the wrong type or out
of range.)";
constexpr const char* kConfigExample = R"(Example:
    >>> from pyengine import SearchConfig, SelfPlayConfig
    >>> config = SelfPlayConfig(search=SearchConfig(simulations=200), concurrent_games=16)
    >>> config.search.simulations, config.search.dirichlet_fraction
    (200, 0.25))";

/// Accepts a Game, its name or its text form.
std::shared_ptr<const AnyGame> named_game_from(const py::object& game) {
  if (!py::isinstance<py::str>(game)) return game_from(game);
  const NamedParams named = parse_named_params(utf8_of(game));
  return load_game(named.name, named.params);
}

/// Replaces the budgets of a preset.
SelfPlayConfig with_budgets(SelfPlayConfig config, const py::object& simulations,
                            const py::object& fast_simulations) {
  change(config.search, py::dict(py::arg("simulations") = simulations));
  return changed(config, py::dict(py::arg("fast_simulations") = fast_simulations));
}

void bind_config(py::module_& m) {
  bind_settings<SelfPlayConfig>(m, kConfigSummary, kConfigExample)
      .def("sized", &sized, py::arg("device_batches"),
           "Return the settings with concurrent_games and search.batch_size chosen for a device "
           "that serves this number of batches concurrently; 0 = no device.")
      .def_static(
          "alphago_zero",
          [](const py::object& game) { return alphago_zero_config(*named_game_from(game)); },
          py::arg("game"),
          "Return AlphaGo Zero's settings: 1,600 simulations, PUCT with a constant, no proofs.\n\n"
          "``game``: a Game or its name. ``dirichlet_alpha`` is 0.03 for 19x19 Go, else\n"
          "10 / legal actions.")
      .def_static(
          "fast",
          [](const py::object& game, const py::object& simulations, const py::object& fast) {
            return with_budgets(fast_config(*named_game_from(game)), simulations, fast);
          },
          py::arg("game"), py::kw_only(), py::arg("simulations") = 600,
          py::arg("fast_simulations") = 100,
          "Return settings that need fewer evaluations [KataGo, Wu 2019].\n\n"
          "A quarter of the moves get a full search, whose visits are policy targets; the others\n"
          "get a fast search. Root moves get forced playouts, which targets leave out. Games "
          "begin\n"
          "with up to four random moves. Proven positions end a search.\n\n"
          "Args:\n"
          "    game: a Game or its name; its length sets ``temperature_moves``.\n"
          "    simulations: budget of a full search.\n"
          "    fast_simulations: budget of a fast search.")
      .def_static(
          "gumbel",
          [](const py::object& game, const py::object& simulations) {
            const SelfPlayConfig config = gumbel_config(*named_game_from(game));
            return with_budgets(config, simulations, py::cast(config.fast_simulations));
          },
          py::arg("game"), py::kw_only(), py::arg("simulations") = 32,
          "Return settings for few simulations [Gumbel AlphaZero, Danihelka 2022].\n\n"
          "Each search compares up to 16 moves, sampled with Gumbel noise without replacement. "
          "The\n"
          "first moves of a game are sampled too, and the policy target is ``improved_policy``.\n"
          "Proven positions end a search. Games begin with up to four random moves, because "
          "samples\n"
          "of a confident network hardly differ.\n\n"
          "Args:\n"
          "    game: a Game or its name; its length sets ``temperature_moves``.\n"
          "    simulations: budget of a search.");
}

/// Handles signals and calls `on_poll`, on the calling thread. The run stops if it returns False.
class PollingHost final : public Host {
 public:
  PollingHost(py::object on_poll, double every)
      : on_poll_(std::move(on_poll)),
        every_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(every))) {}

  bool poll() override {
    const WithGil gil;
    return calling_python([&] {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      const auto now = Clock::now();
      if (now - last_ < every_) return true;
      last_ = now;
      const py::object answer = call_object(on_poll_);
      return !(py::isinstance<py::bool_>(answer) && !answer.cast<bool>());
    });
  }

 private:
  const py::object on_poll_;
  const Clock::duration every_;
  Clock::time_point last_ = Clock::now();
};

/// The openings that end in these States.
std::vector<Opening> openings_from(const py::sequence& states) {
  std::vector<Opening> openings;
  for (const py::handle state : states) openings.emplace_back(copy_of(state));
  return openings;
}

/// A SelfPlay with the shapes of its arrays in Python.
class PySelfPlay {
 public:
  PySelfPlay(const py::object& game, const std::shared_ptr<Evaluator>& evaluator,
             const SelfPlayConfig& config, const py::object& spec,
             const std::vector<double>& played_on, const py::sequence& states)
      : game_(game_from(game)),
        planes_(packed_shape(Encoder(spec_from(spec), *game_))),
        game_object_(py::cast(game_holder(game_))),
        evaluator_(keeper_of(evaluator)) {
    const ModelSpec recorded = spec_from(spec);
    const auto core = core_of(evaluator);
    std::vector<Opening> openings = openings_from(states);
    const WithoutGil release;
    self_play_ =
        std::make_unique<SelfPlay>(game_, core, config, recorded, played_on, std::move(openings));
  }
  [[nodiscard]] int traverse(const Visit& visit) const {
    if (const int stop = visit(game_object_)) return stop;
    if (const int stop = visit(evaluator_)) return stop;
    if (calls_.load() != 0) return 0;
    for (const auto& game : self_play_->games()) {
      const State* state = game->state();
      if (state == nullptr) continue;
      if (const int stop = traverse_state(*state, visit)) return stop;
    }
    return 0;
  }

  /// Returns whether all games that were begun have ended.
  bool run(std::uint64_t games, const py::object& on_poll, double every) {
    PollingHost host(on_poll, every);
    const CallUnderWay call(calls_);
    const WithoutGil release;
    return self_play_->run(games, host) == RunEnd::completed;
  }
  void replace_evaluator(const std::shared_ptr<Evaluator>& evaluator) {
    py::object keeper = keeper_of(evaluator);
    const auto core = core_of(evaluator);
    const CallUnderWay call(calls_);
    {
      const WithoutGil release;
      self_play_->replace_evaluator(core);
    }
    std::swap(evaluator_, keeper);
  }
  void stop() { self_play_->stop(); }
  std::vector<py::dict> take_finished() {
    std::vector<FinishedGame> games = [&] {
      const WithoutGil release;
      return self_play_->take_finished();
    }();
    std::vector<py::dict> records;
    for (FinishedGame& game : games) {
      records.push_back(game_to(std::move(game), planes_, game_->shape().num_actions));
    }
    return records;
  }
  py::dict counters() {
    const SelfPlayCounters counters = [&] {
      const WithoutGil release;
      return self_play_->counters();
    }();
    return counters_to(counters);
  }

 private:
  const std::shared_ptr<const AnyGame> game_;
  const PackedShape planes_;
  const py::object game_object_;  ///< the Python object of the game
  py::object evaluator_;          ///< the Python object of the evaluator
  std::atomic<int> calls_{0};     ///< running calls, which may change games
  std::unique_ptr<SelfPlay> self_play_;
};

int traverse_self_play(const PySelfPlay& self_play, const Visit& visit) {
  return self_play.traverse(visit);
}

}  // namespace

void bind_selfplay(py::module_& m) {
  m.def("plane_kinds", &plane_kinds, py::arg("game"), py::arg("spec"),
        "Return the kind of each channel: \"bits\" (a set of points), \"fill\" (one number) or "
        "\"dense\"\n"
        "(one number per point).");
  m.def("dense_slots", &dense_slots, py::arg("game"), py::arg("spec"),
        "Return int32[symmetries, C]: the dense plane of a channel under a symmetry, -1 = none.");
  m.def("encode_planes", &encode_planes, py::arg("states"), py::arg("spec"),
        "Return (bits uint8[N,P,B], fill float32[N,F], dense float32[N,D,H*W]) for states of a "
        "game;\n"
        "B = ceil(H*W / 8), point p is bit p % 8, the lowest first, of byte p // 8.");
  bind_config(m);
  py::class_<PySelfPlay>(m, "SelfPlay", "Concurrent games; see pyengine.selfplay.SelfPlayer.",
                         collected<PySelfPlay, &traverse_self_play>())
      .def(py::init<const py::object&, const std::shared_ptr<Evaluator>&, const SelfPlayConfig&,
                    const py::object&, const std::vector<double>&, const py::sequence&>(),
           py::arg("game"), py::arg("evaluator"), py::arg("config"), py::arg("spec"),
           py::arg("played_on") = std::vector<double>(), py::arg("openings") = py::tuple())
      .def("run", &PySelfPlay::run, py::arg("games"), py::arg("on_poll"), py::arg("every") = 0.05)
      .def("replace_evaluator", &PySelfPlay::replace_evaluator, py::arg("evaluator"))
      .def("stop", &PySelfPlay::stop)
      .def("take_finished", &PySelfPlay::take_finished)
      .def("counters", &PySelfPlay::counters);
}

}  // namespace pyengine::bindings
