/// Calls of a user's game and the conversion of its answers.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/types.h"
#include "games/any/call_guard.h"
#include "openspiel_playouts.h"
#include "python_error.h"
#include "text.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// Method names; never freed, since the interpreter may be gone by then. They are created while the
/// module is loaded: a thread waiting for another one to create them (behind a static guard) would
/// keep the interpreter from stopping its threads, while the other thread waits for that.
struct Names {
  py::object clone = interned("clone");
  py::object is_terminal = interned("is_terminal");
  py::object current_player = interned("current_player");
  py::object returns = interned("returns");
  py::object legal_actions = interned("legal_actions");
  py::object apply_action = interned("apply_action");
  py::object action_to_string = interned("action_to_string");
  py::object observation_tensor = interned("observation_tensor");
  py::object play_out = interned("play_out");
  py::object history = interned("history");
  py::object transposition_key = interned("transposition_key");
};

/// Call once before names().
void prepare_names();
const Names& names();

/// Called before the user's code: the run may have to end. The user's code may call the engine.
CallGuard next_call();

/// Calls a method. Throws the exception that it raises.
py::object call(const py::object& object, const py::object& method);
py::object call(const py::object& object, const py::object& method, const py::object& argument);
py::object call(const py::object& object, const py::object& method, Action action);

/// Converts the result of a user's method to T, or throws ConfigError with the expected type.
template <class T>
T answer_as(const std::string& game, const char* method, const char* expected,
            const py::object& answer) {
  try {
    return answer.cast<T>();
  } catch (const py::cast_error&) {
  } catch (const py::error_already_set& error) {
    if (!is_refusal(error.type())) throw;
  }
  throw ConfigError("game " + in_quotes(game) + ": " + method + "() must return " + expected +
                    ", got " + repr_of(answer) + " (" + type_name(answer) + ")");
}

/// Appends the ints of a list or tuple. Returns false for other types or items.
bool append_ints(const py::object& answer, std::vector<long long>& numbers);

}  // namespace pyengine::bindings
