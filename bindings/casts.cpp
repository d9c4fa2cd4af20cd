#include "casts.h"

#include <pybind11/critical_section.h>
#include <pybind11/stl.h>

#include "base/error.h"
#include "base/text.h"
#include "foreign_game.h"
#include "games/any/state.h"
#include "locked.h"
#include "python_error.h"
#include "text.h"

namespace pyengine::bindings {
namespace {

ParamValue param_from(const std::string& name, const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (py::isinstance<py::str>(value)) return utf8_of(value);
  const auto out_of_range = [&] {
    return ConfigError("parameter " + in_quotes(name) + ": out of range: " + repr_of(value));
  };
  try {
    if (PyIndex_Check(value.ptr()) != 0) {
      if (const py::object number = index_of(value)) return number.cast<long long>();
    } else if (py::hasattr(value, "__float__")) {
      return static_cast<double>(py::float_(py::reinterpret_borrow<py::object>(value)));
    }
  } catch (const py::cast_error&) {
    throw out_of_range();
  } catch (const py::error_already_set& error) {
    if (error.matches(PyExc_OverflowError)) throw out_of_range();
    if (!is_refusal(error.type())) throw;
  }
  throw ConfigError("parameter " + in_quotes(name) +
                    ": expected a bool, an int, a float or a str, got " + repr_of(value) + " (" +
                    type_name(value) + ")");
}

py::object to_python(const std::string& value) { return text_of(value); }
template <class T>
py::object to_python(const T& value) {
  return py::cast(value);
}

}  // namespace

ParamMap params_from(const py::dict& dict) {
  ParamMap params;
  for (const auto& [key, value] : dict) {
    const auto name = utf8_of(py::str(key));
    params.emplace_back(name, param_from(name, value));
  }
  return params;
}

ParamDict params_to(const ParamMap& params) {
  ParamDict dict;
  for (const auto& [name, value] : params) {
    dict[text_of(name)] = std::visit([](const auto& own) { return to_python(own); }, value);
  }
  return dict;
}

std::unique_ptr<AnyPosition> position_of(const AnyGame& game, const State& own) {
  if (!same_game(game, *own.game())) {
    throw ConfigError("expected a state of " + game.to_string() + ", got one of " +
                      own.game()->to_string());
  }
  auto position = own.kept_position()->clone();
  position->rethrow_if_failed();
  return position;
}

std::unique_ptr<AnyPosition> position_from(const std::shared_ptr<const AnyGame>& game,
                                           const py::object& state) {
  if (!py::isinstance<State>(state)) return wrap_foreign_position(game, state);
  const py::scoped_critical_section held(state);
  return position_of(*game, state.cast<const State&>());
}

std::shared_ptr<const AnyGame> game_from(const py::object& game) {
  if (py::isinstance<AnyGame>(game)) return game.cast<std::shared_ptr<AnyGame>>();
  // games/game.py sets this hook, which wraps a user's game.
  return py::type::of<AnyGame>().attr("_of")(game).cast<std::shared_ptr<AnyGame>>();
}

State state_from(const std::shared_ptr<const AnyGame>& game, const py::object& state) {
  if (py::isinstance<State>(state)) return copy_of(state);
  return State(game, std::nullopt, position_from(game, state), {});
}

ModelSpec spec_from(const py::object& spec) {
  if (spec.is_none()) return {};
  if (!py::isinstance<ModelSpec>(spec)) {
    throw ConfigError("spec: expected a ModelSpec, or None, got " + repr_of(spec));
  }
  return spec.cast<const ModelSpec&>();
}

std::optional<PositionKey> key_of(const py::object& answer) {
  if (PyIndex_Check(answer.ptr()) == 0) return std::nullopt;
  const auto key = py::reinterpret_steal<py::object>(PyNumber_Index(answer.ptr()));
  if (!key) throw py::error_already_set();
  const py::object high = key >> py::int_(64);
  const unsigned long long bits = PyLong_AsUnsignedLongLong(high.ptr());
  if (PyErr_Occurred() != nullptr) {  // negative, or more than 128 bits
    PyErr_Clear();
    return std::nullopt;
  }
  return PositionKey{.high = bits, .low = PyLong_AsUnsignedLongLongMask(key.ptr())};
}

}  // namespace pyengine::bindings
