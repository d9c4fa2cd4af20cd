#include <cstddef>
#include <exception>
#include <string>

#include "base/error.h"
#include "bindings.h"
#include "interpreter.h"
#include "python_error.h"
#include "text.h"

namespace pyengine::bindings {
namespace {

/// What an error was thrown for (std::throw_with_nested), as a Python exception; else null.
py::object cause_of(const std::exception& error) {
  const auto* nested = dynamic_cast<const std::nested_exception*>(&error);
  if (nested == nullptr || nested->nested_ptr() == nullptr) return {};
  try {
    nested->rethrow_nested();
  } catch (const PythonError& cause) {
    return py::reinterpret_borrow<py::object>(cause.value());
  } catch (const py::error_already_set& cause) {
    return cause.value();
  } catch (...) {
    return {};
  }
}

constexpr std::size_t kMostBytes = 2000;  // of a message

/// Raises the class of a name.
void raise(const char* name, const std::exception& error) {
  try {
    const py::object type = py::module_::import("pyengine._core").attr(name);
    const py::object value = type(text_of(in_one_line(error.what(), kMostBytes)));
    if (py::object cause = cause_of(error)) {
      PyException_SetCause(value.ptr(), cause.release().ptr());
    }
    PyErr_SetObject(type.ptr(), value.ptr());
  } catch (py::error_already_set& failed) {
    failed.restore();
  }
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const PythonError& error) {
    error.restore();
  } catch (const ProgramEnds& error) {
    // The thread that ends the program goes on; another one has not released its lock.
    if (!thread_ends()) return raise("EngineError", error);
    PyErr_SetNone(PyExc_SystemExit);
  } catch (const ConfigError& error) {
    raise("ConfigError", error);
  } catch (const IllegalActionError& error) {
    raise("IllegalActionError", error);
  } catch (const ModelError& error) {
    raise("ModelError", error);
  } catch (const EvaluationError& error) {
    raise("EvaluationError", error);
  } catch (const EngineError& error) {
    raise("EngineError", error);
  }
}

/// Adds a class that tracebacks and pickles know as pyengine.NAME, where it is public.
py::object add_error(py::module_& m, const std::string& name, const py::object& bases,
                     const char* doc) {
  const std::string path = "pyengine." + name;
  py::object error = py::reinterpret_steal<py::object>(
      PyErr_NewExceptionWithDoc(path.c_str(), doc, bases.ptr(), nullptr));
  if (!error) throw py::error_already_set();
  m.attr(name.c_str()) = error;
  return error;
}

}  // namespace

void bind_errors(py::module_& m) {
  const py::object base = add_error(
      m, "EngineError", py::reinterpret_borrow<py::object>(PyExc_Exception),
      "Base of all others. Itself: a call that cannot be served now, or a package that is "
      "missing.\n"
      "\n"
      "For example a second search of an engine, a closed engine, an extra that is not installed.");
  const py::tuple value_error =
      py::make_tuple(base, py::reinterpret_borrow<py::object>(PyExc_ValueError));
  add_error(m, "ConfigError", value_error,
            "A parameter, a setting, a state or a file of settings that does not fit.\n\n"
            "The message names the field, what was expected and what was found.");
  add_error(m, "IllegalActionError", value_error,
            "An action that is not legal in a state, which is left as it was; a text that names "
            "none.");
  add_error(m, "ModelError", base,
            "A network that cannot be loaded or does not fit the game, a provider that cannot be "
            "had.\n\n"
            "The message says what was expected and what was found.");
  add_error(m, "EvaluationError", base,
            "A model or callable that failed while searching; ``__cause__`` is what it raised.\n\n"
            "The search stops, the engine stays usable.");
  add_error(m, "DataError", base,
            "A file of data, a record or a checkpoint that is damaged or cannot be read or "
            "written.\n\n"
            "The message says which.");
  py::register_local_exception_translator(&translate);
}

}  // namespace pyengine::bindings
