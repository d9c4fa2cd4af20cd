/// A Python exception that passes through C++.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "interpreter.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// Unlike py::error_already_set, it can be raised repeatedly, copied and destroyed without the GIL,
/// and stored for any time, as std::exception_ptr requires.
///
/// To make it the cause of an engine error, catch it and call
/// std::throw_with_nested(EvaluationError(...)); the translator in bind_errors.cpp sets __cause__.
class PythonError final : public std::exception {
 public:
  /// Requires the GIL.
  explicit PythonError(const py::error_already_set& error)
      : value_(py::object(error.value()).release().ptr(), &drop), what_(error.what()) {
    // Before Python 3.12 the traceback is separate from the exception.
    if (error.trace()) PyException_SetTraceback(value_.get(), error.trace().ptr());
  }

  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }
  /// A borrowed reference.
  [[nodiscard]] PyObject* value() const noexcept { return value_.get(); }
  /// Raises the exception again with its traceback. Requires the GIL.
  void restore() const noexcept {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(value_.get())), value_.get());
  }

 private:
  std::shared_ptr<PyObject> value_;
  std::string what_;
};

/// Whether an exception means that an object has the wrong type, for which the engine has a better
/// error. All others come from user code and pass through.
[[nodiscard]] bool is_refusal(const py::handle& exception);

/// After a failed Python call: clears a type error and rethrows any other exception.
void clear_refusal();

/// Converts an object with operator.index(); nullptr if it is not an integer.
[[nodiscard]] py::object index_of(const py::handle& object);

/// Calls `callable(arguments...)`. Requires the GIL.
template <class... Arguments>
py::object call_object(const py::object& callable, const Arguments&... arguments) {
  // No object with a destructor may be live here: see surviving_exit().
  PyObject* answer = surviving_exit(
      [&] { return PyObject_CallFunctionObjArgs(callable.ptr(), arguments.ptr()..., nullptr); });
  if (answer == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(answer);
}

/// Runs code that calls Python and converts Python exceptions to PythonError. Requires the GIL.
template <class Verb>
decltype(auto) calling_python(Verb&& verb) {
  try {
    return surviving_exit(std::forward<Verb>(verb));
  } catch (const py::error_already_set& error) {
    throw PythonError(error);
  }
}

}  // namespace pyengine::bindings
