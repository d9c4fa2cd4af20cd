#include <cstddef>
#include <exception>

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

/// Raises pyengine.errors.NAME; the classes are Python's, so that they pickle and document well.
void raise(const char* name, const std::exception& error) {
  try {
    const py::object type = py::module_::import("pyengine.errors").attr(name);
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

}  // namespace

void bind_errors(py::module_& /*m*/) { py::register_local_exception_translator(&translate); }

}  // namespace pyengine::bindings
