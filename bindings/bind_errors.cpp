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

/// The nested exception (std::throw_with_nested) as a Python exception, or nullptr.
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

constexpr std::size_t kMostBytes = 2000;  // maximum length of a message

/// Raises the error class with this name.
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
    // The thread that ends the program continues; another thread still holds its lock.
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

/// Adds an error class; public ones belong to the module `pyengine`.
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
      "Base of all errors. Raised directly if a call is not possible now or an optional package "
      "is missing.\n"
      "\n"
      "For example: a second search on a busy engine, or a closed engine.");
  const py::tuple value_error =
      py::make_tuple(base, py::reinterpret_borrow<py::object>(PyExc_ValueError));
  add_error(m, "ConfigError", value_error,
            "An invalid parameter, setting, state or settings file.\n\n"
            "The message names the field, the expected values and the actual value.");
  add_error(m, "IllegalActionError", value_error,
            "An illegal action, or a name that is not an action. The state is "
            "unchanged.");
  add_error(m, "ModelError", base,
            "A network that cannot be loaded or does not fit the game, or an unavailable "
            "provider.\n\n"
            "The message names the expected and the actual model or provider.");
  add_error(
      m, "EvaluationError", base,
      "A model or callable failed during a search; ``__cause__`` is the original exception.\n\n"
      "The search stops; the engine remains usable.");
  add_error(m, "DataError", base,
            "A data file, record or checkpoint that is damaged or cannot be read or "
            "written.\n\n"
            "The message names the file.");
  py::register_local_exception_translator(&translate);
}

}  // namespace pyengine::bindings
