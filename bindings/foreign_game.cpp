#include "foreign_game.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "casts.h"
#include "foreign_calls.h"
#include "interpreter.h"
#include "openspiel_keys.h"
#include "openspiel_playouts.h"
#include "playout_random.h"
#include "python_error.h"
#include "signals.h"
#include "text.h"

namespace pyengine::bindings {
namespace {

/// Whether the type of `object` overrides `method` of `object`.
bool overrides(const py::object& object, const char* method) {
  const py::handle base(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  return !py::type::of(object).attr(method).is(base.attr(method));
}

class PythonRules final : public ForeignRules {
 public:
  PythonRules(py::object game, ForeignInfo info)
      : ForeignRules(std::move(info)), game_(std::move(game)) {
    const py::object state = game_.attr("new_initial_state")();
    state_type_ = py::type::of(state);
    has_history_ = py::hasattr(state, "history");
    has_action_names_ = py::hasattr(state, "action_to_string");
    has_equality_ = overrides(state, "__eq__");
    has_text_ = overrides(state, "__str__");
    // A class with __eq__ but without __hash__ has __hash__ = None.
    has_hash_ = has_equality_ && overrides(state, "__hash__") &&
        !py::type::of(state).attr("__hash__").is_none();
    has_play_out_ = py::hasattr(state, "play_out");
    has_key_ = py::hasattr(state, "transposition_key");
    has_key_text_ = !has_key_ && text_identifies(this->info().text);
    has_slow_moves_ = !is_open_spiels(game_);
    playouts_ = OpenSpielPlayouts::of(game_);
  }
  ~PythonRules() override {
    drop(game_.release().ptr());
    drop(state_type_.release().ptr());
  }

  [[nodiscard]] std::unique_ptr<ForeignState> initial_state() const override;
  [[nodiscard]] bool same_as(const ForeignRules& other) const override;
  [[nodiscard]] bool has_slow_moves() const noexcept override { return has_slow_moves_; }
  [[nodiscard]] int enter() const noexcept override { return take_gil(); }
  void leave(int token) const noexcept override { give_gil(token); }

  /// Throws EngineError if the garbage collector has freed the game.
  [[nodiscard]] const py::object& game() const {
    if (!game_) throw EngineError("game " + in_quotes(info().name) + ": the game was freed");
    return game_;
  }
  void belong_to(const std::shared_ptr<const AnyGame>& owner) { owner_ = owner; }
  /// The Game that visits the references below. Every state keeps a reference to it.
  [[nodiscard]] py::object owner() const {
    const auto owner = owner_.lock();
    return owner == nullptr ? py::object() : py::cast(game_holder(owner));
  }
  [[nodiscard]] int traverse(const Visit& visit) const {
    if (const int stop = visit(game_)) return stop;
    return visit(state_type_);
  }
  /// Called by the garbage collector when the game is unreachable.
  void clear() const {
    const py::object game = std::exchange(game_, {});
    const py::object state_type = std::exchange(state_type_, {});
  }
  [[nodiscard]] bool has_history() const noexcept { return has_history_; }
  [[nodiscard]] bool has_action_names() const noexcept { return has_action_names_; }
  [[nodiscard]] bool has_equality() const noexcept { return has_equality_; }
  [[nodiscard]] bool has_hash() const noexcept { return has_hash_; }
  [[nodiscard]] bool has_text() const noexcept { return has_text_; }
  [[nodiscard]] bool has_play_out() const noexcept { return has_play_out_; }
  [[nodiscard]] bool has_key() const noexcept { return has_key_; }
  [[nodiscard]] bool has_key_text() const noexcept { return has_key_text_; }
  [[nodiscard]] bool has_transposition_key() const noexcept override {
    return has_key_ || has_key_text_ || has_hash_;
  }
  /// nullptr if the game's library has no playouts.
  [[nodiscard]] OpenSpielPlayouts* playouts() const noexcept { return playouts_.get(); }
  /// Throws ConfigError if `state` cannot be a state of this game.
  void check_state(const py::object& state) const;

 private:
  std::weak_ptr<const AnyGame> owner_;
  mutable py::object game_;
  mutable py::object state_type_;
  bool has_history_ = false;
  bool has_action_names_ = false;
  bool has_equality_ = false;  ///< states override __eq__
  bool has_hash_ = false;      ///< states override __hash__
  bool has_text_ = false;      ///< states override __str__
  bool has_play_out_ = false;  ///< states have play_out()
  bool has_key_ = false;       ///< states have transposition_key()
  bool has_key_text_ = false;  ///< see text_identifies()
  bool has_slow_moves_ = true;
  std::unique_ptr<OpenSpielPlayouts> playouts_;
};

class PythonState final : public ForeignState {
 public:
  PythonState(const PythonRules* rules, py::object owner, py::object state)
      : rules_(rules), owner_(std::move(owner)), state_(std::move(state)) {}
  ~PythonState() override {
    drop(state_.release().ptr());
    drop(owner_.release().ptr());
  }

  [[nodiscard]] std::unique_ptr<ForeignState> clone() const override {
    const WithGil gil;
    return calling_python([&] {
      py::object copy = call(state_, names().clone);
      refuse_other_type(copy);
      return std::make_unique<PythonState>(rules_, owner_, std::move(copy));
    });
  }
  [[nodiscard]] bool is_terminal() const override {
    const WithGil gil;
    return calling_python([&] { return truth(call(state_, names().is_terminal)); });
  }
  [[nodiscard]] long long current_player() const override {
    const WithGil gil;
    return calling_python([&] {
      return answer_as<long long>(game(), "current_player", "an int",
                                  call(state_, names().current_player));
    });
  }
  [[nodiscard]] std::array<double, 2> returns() const override;
  void legal_actions(std::vector<long long>& actions) const override;
  void apply_action(Action action) override {
    const WithGil gil;
    calling_python([&] {
      refuse_new_state(call(state_, names().apply_action, action));
      // A C++ game (pyspiel) handles no signals: Ctrl-C would wait for the end of the search.
      raise_signals();
    });
  }
  [[nodiscard]] std::optional<std::array<double, 2>> play_out(Rng& rng, int to_move,
                                                              std::uint64_t origin) const override;
  [[nodiscard]] bool has_text() const noexcept override { return rules_->has_text(); }
  [[nodiscard]] std::string to_string() const override {
    const WithGil gil;
    return calling_python([&] { return utf8_of(py::str(state_)); });
  }
  [[nodiscard]] std::string action_to_string(Action action) const override {
    if (!rules_->has_action_names()) return std::to_string(action);
    const WithGil gil;
    return calling_python(
        [&] { return utf8_of(py::str(call(state_, names().action_to_string, action))); });
  }
  void observation(std::span<float> planes) const override;
  [[nodiscard]] std::optional<bool> equals(const ForeignState& other) const override;
  [[nodiscard]] bool is_same(const ForeignState& other) const override;
  [[nodiscard]] std::optional<std::uint64_t> hash() const override;
  [[nodiscard]] std::optional<PositionKey> transposition_key() const override;

  [[nodiscard]] const py::object& object() const noexcept { return state_; }
  [[nodiscard]] int traverse(const Visit& visit) const {
    if (const int stop = visit(owner_)) return stop;
    return visit(state_);
  }

 private:
  [[nodiscard]] const std::string& game() const noexcept { return rules_->info().name; }
  [[nodiscard]] std::array<double, 2> two_numbers(const char* method,
                                                  const py::object& answer) const;
  [[nodiscard]] std::array<double, 2> own_playout(Rng& rng) const;
  static bool truth(const py::object& answer) {
    const int truth = PyObject_IsTrue(answer.ptr());
    if (truth < 0) throw py::error_already_set();
    return truth != 0;
  }
  /// Throws ConfigError if clone() returned something other than a state.
  void refuse_other_type(const py::object& copy) const {
    if (py::type::of(copy).is(py::type::of(state_)) || py::hasattr(copy, names().apply_action)) {
      return;
    }
    throw ConfigError("game " + in_quotes(game()) + ": clone() must return a state, got " +
                      repr_of(copy) + " (" + type_name(copy) + ")");
  }
  /// Throws ConfigError unless observation_tensor() returned an array of bool.
  void refuse_other_planes(const py::object& answer) const {
    if (py::isinstance<py::array_t<bool>>(answer)) return;
    const std::string type = py::isinstance<py::array>(answer)
        ? "an array of " + str_of(answer.attr("dtype"))
        : type_name(answer);
    throw ConfigError("game " + in_quotes(game()) +
                      ": observation_tensor() must return an array of bool, as for the initial "
                      "state, got " +
                      type);
  }
  /// Throws ConfigError if apply_action() returned a new state instead of changing the state.
  void refuse_new_state(const py::object& answer) const {
    if (answer.is_none() || answer.is(state_) || !py::isinstance(answer, py::type::of(state_))) {
      return;
    }
    throw ConfigError("game " + in_quotes(game()) +
                      ": apply_action() must change the state and return None, got another " +
                      type_name(answer));
  }
  /// Actions since the start, as a list. pyspiel returns a list; other games may return a tuple.
  [[nodiscard]] py::list past() const {
    const py::object answer = call(state_, names().history);
    if (!py::isinstance<py::sequence>(answer)) {
      throw ConfigError("game " + in_quotes(game()) +
                        ": history() must return a list of actions, got " + type_name(answer));
    }
    return py::list(answer);
  }
  [[nodiscard]] bool shows_same(const PythonState& other) const;
  [[nodiscard]] std::vector<float> planes() const;

  const PythonRules* rules_;  ///< kept alive by every position
  py::object owner_;          ///< PythonRules::owner()
  py::object state_;
};

std::array<double, 2> PythonState::returns() const {
  const WithGil gil;
  return calling_python([&] { return two_numbers("returns", call(state_, names().returns)); });
}

std::array<double, 2> PythonState::two_numbers(const char* method, const py::object& answer) const {
  const auto both = answer_as<std::vector<double>>(game(), method, "two numbers", answer);
  if (both.size() != 2) {
    throw ConfigError("game " + in_quotes(game()) + ": " + method +
                      "() must return two numbers, got " + std::to_string(both.size()));
  }
  return {both[0], both[1]};
}

void PythonState::legal_actions(std::vector<long long>& actions) const {
  const WithGil gil;
  calling_python([&] {
    const py::object answer = call(state_, names().legal_actions);
    if (append_ints(answer, actions)) return;
    actions =
        answer_as<std::vector<long long>>(game(), "legal_actions", "a sequence of ints", answer);
  });
}

std::optional<std::array<double, 2>> PythonState::play_out(Rng& rng, int to_move,
                                                           std::uint64_t origin) const {
  OpenSpielPlayouts* playouts = rules_->playouts();
  if (playouts == nullptr && !rules_->has_play_out()) return std::nullopt;
  const WithGil gil;
  return calling_python([&]() -> std::array<double, 2> {
    if (playouts == nullptr) return own_playout(rng);
    const CallGuard free = next_call();
    const double mover = playouts->play_out(state_, rng, origin);
    raise_signals();
    const double first = to_move == 0 ? mover : -mover;
    return {first, -first};
  });
}

std::array<double, 2> PythonState::own_playout(Rng& rng) const {
  const py::object random = py::cast(PlayoutRandom(rng));
  const auto returns = two_numbers("play_out", call(state_, names().play_out, random));
  rng = random.cast<const PlayoutRandom&>().rng();
  return returns;
}

void PythonState::observation(std::span<float> planes) const {
  const WithGil gil;
  calling_python([&] {
    using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;
    const py::object answer = call(state_, names().observation_tensor);
    if (rules_->info().has_binary_planes) refuse_other_planes(answer);
    const auto floats =
        answer_as<Floats>(game(), "observation_tensor", "an array of floats", answer);
    if (static_cast<std::size_t>(floats.size()) != planes.size()) {
      throw ConfigError("game " + in_quotes(game()) + ": observation_tensor() must hold " +
                        std::to_string(planes.size()) + " numbers, got " +
                        std::to_string(floats.size()));
    }
    std::copy_n(floats.data(), planes.size(), planes.data());
  });
}

/// Whether two states have equal histories: by history() and the visible state (games may start
/// anywhere), else by == of the states; false if neither exists.
std::optional<bool> PythonState::equals(const ForeignState& other) const {
  const WithGil gil;
  return calling_python([&]() -> std::optional<bool> {
    const auto* that = dynamic_cast<const PythonState*>(&other);
    if (that == nullptr) return false;
    if (rules_->has_history()) return past().equal(that->past()) && shows_same(*that);
    if (!rules_->has_equality()) return std::nullopt;
    return state_.equal(that->state_);
  });
}

/// Compares texts and ==. A state without both is compared by its planes, or else by its
/// attributes.
bool PythonState::shows_same(const PythonState& other) const {
  if (rules_->has_text() && !py::str(state_).equal(py::str(other.state_))) return false;
  if (rules_->has_equality() && !state_.equal(other.state_)) return false;
  if (rules_->has_text() || rules_->has_equality()) return true;
  if (rules_->info().observation_shape[0] != 0) return planes() == other.planes();
  const py::object none = py::none();
  return py::getattr(state_, "__dict__", none).equal(py::getattr(other.state_, "__dict__", none));
}

std::vector<float> PythonState::planes() const {
  const auto& [channels, rows, columns] = rules_->info().observation_shape;
  std::vector<float> planes(static_cast<std::size_t>(channels) * static_cast<std::size_t>(rows) *
                            static_cast<std::size_t>(columns));
  observation(planes);
  return planes;
}

bool PythonState::is_same(const ForeignState& other) const {
  const auto* that = dynamic_cast<const PythonState*>(&other);
  if (that == nullptr) return false;
  const WithGil gil;
  return calling_python([&] { return state_.equal(that->state_); });
}

std::optional<std::uint64_t> PythonState::hash() const {
  if (!rules_->has_hash()) return std::nullopt;
  const WithGil gil;
  return calling_python([&] { return static_cast<std::uint64_t>(py::hash(state_)); });
}

std::optional<PositionKey> PythonState::transposition_key() const {
  if (rules_->has_key_text()) {
    return key_of_text(to_string(), is_terminal() ? -1 : current_player());
  }
  if (!rules_->has_key()) return std::nullopt;
  const WithGil gil;
  return calling_python([&] {
    const py::object answer = call(state_, names().transposition_key);
    if (const std::optional<PositionKey> key = key_of(answer)) return key;
    throw ConfigError("game " + in_quotes(game()) +
                      ": transposition_key() must return an int in 0..2**128 - 1, got " +
                      repr_of(answer) + " (" + type_name(answer) + ")");
  });
}

std::unique_ptr<ForeignState> PythonRules::initial_state() const {
  const WithGil gil;
  return calling_python([&] {
    return std::make_unique<PythonState>(this, owner(), game().attr("new_initial_state")());
  });
}

bool PythonRules::same_as(const ForeignRules& other) const {
  const auto* that = dynamic_cast<const PythonRules*>(&other);
  if (that == nullptr || info().text != that->info().text) return false;
  const WithGil gil;
  return calling_python([&] {
    // pyspiel games have no ==, but their text contains all parameters.
    return game().is(that->game()) || info().text.starts_with("pyspiel:") ||
        (overrides(game(), "__eq__") && game().equal(that->game()));
  });
}

void PythonRules::check_state(const py::object& state) const {
  const std::string where = "game " + in_quotes(info().name) + ": ";
  const py::object& game = this->game();
  if (!py::isinstance(state, state_type_)) {
    throw ConfigError(where + "expected a state of type " + str_of(state_type_.attr("__name__")) +
                      ", got " + type_name(state));
  }
  if (!info().text.starts_with("pyspiel:")) return;
  const std::string own = utf8_of(py::str(game));
  const std::string other = utf8_of(py::str(state.attr("get_game")()));
  if (own != other)
    throw ConfigError(where + "expected a state of " + own + ", got one of " + other);
}

}  // namespace

void prepare_foreign_games() { prepare_names(); }

std::shared_ptr<AnyGame> wrap_foreign_game(py::object game, ForeignInfo info) {
  const WithGil gil;
  return calling_python([&] {
    const auto rules = std::make_shared<PythonRules>(std::move(game), std::move(info));
    auto wrapped = std::make_shared<ForeignGame>(rules);
    rules->belong_to(wrapped);
    return wrapped;
  });
}

std::unique_ptr<AnyPosition> wrap_foreign_position(const std::shared_ptr<const AnyGame>& game,
                                                   const py::object& state) {
  const auto* foreign = dynamic_cast<const ForeignGame*>(game.get());
  if (foreign == nullptr) {
    throw ConfigError("game " + in_quotes(game->name()) + ": expected a state of this game, got " +
                      type_name(state));
  }
  const auto* rules = dynamic_cast<const PythonRules*>(foreign->rules().get());
  const WithGil gil;
  return calling_python([&] {
    rules->check_state(state);
    return foreign->wrap(PythonState(rules, rules->owner(), state).clone());
  });
}

py::object unwrap_foreign_position(const AnyPosition& position) {
  const auto* foreign = dynamic_cast<const PositionOf<ForeignPosition>*>(&position);
  if (foreign == nullptr) return py::none();
  foreign->rethrow_if_failed();
  const auto copy = foreign->value.state()->clone();
  return dynamic_cast<const PythonState&>(*copy).object();
}

py::object unwrap_foreign_game(const AnyGame& game) {
  const auto* foreign = dynamic_cast<const ForeignGame*>(&game);
  if (foreign == nullptr) return py::none();
  return dynamic_cast<const PythonRules&>(*foreign->rules()).game();
}

int traverse_game(const AnyGame& game, const Visit& visit) {
  const auto* foreign = dynamic_cast<const ForeignGame*>(&game);
  if (foreign == nullptr) return 0;
  return static_cast<const PythonRules&>(*foreign->rules()).traverse(visit);
}

void clear_game(AnyGame& game) {
  const auto* foreign = dynamic_cast<const ForeignGame*>(&game);
  if (foreign != nullptr) static_cast<const PythonRules&>(*foreign->rules()).clear();
}

int traverse_state(const State& state, const Visit& visit) {
  const auto* foreign = dynamic_cast<const PositionOf<ForeignPosition>*>(&state.position());
  if (foreign == nullptr || foreign->value.state() == nullptr) return 0;
  return traverse_state(*foreign->value.state(), visit);
}

int traverse_state(const ForeignState& state, const Visit& visit) {
  return static_cast<const PythonState&>(state).traverse(visit);
}

}  // namespace pyengine::bindings
