/// An exception raised by Python code on its way through C++ and back.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "interpreter.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// Unlike py::error_already_set it can be raised any number of times, copied and dropped without
/// the GIL, and kept for as long as one likes: what a std::exception_ptr needs.
///
/// As the cause of one of our errors: catch it and std::throw_with_nested(EvaluationError(...));
/// the translator of bind_errors.cpp then sets __cause__.
class PythonError final : public std::exception {
 public:
  /// The GIL must be held.
  explicit PythonError(const py::error_already_set& error)
      : value_(py::object(error.value()).release().ptr(), &drop), what_(error.what()) {
    // Before Python 3.12 the traceback travels beside the exception.
    if (error.trace()) PyException_SetTraceback(value_.get(), error.trace().ptr());
  }

  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }
  /// Borrowed.
  [[nodiscard]] PyObject* value() const noexcept { return value_.get(); }
  /// Raises the exception again, with its traceback. The GIL must be held.
  void restore() const noexcept {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(value_.get())), value_.get());
  }

 private:
  std::shared_ptr<PyObject> value_;
  std::string what_;
};

/// Whether an exception says that an object is of another kind than the one asked for, which our
/// own errors say better. Any other is of the user's code and goes through as it is.
[[nodiscard]] bool is_refusal(const py::handle& exception);

/// After a call of Python's that failed: clears a refusal, throws any other exception.
void clear_refusal();

/// The object as an int of Python, as operator.index gives it; null where it is none.
[[nodiscard]] py::object index_of(const py::handle& object);

/// callable(arguments...). The GIL must be held.
template <class... Arguments>
py::object call_object(const py::object& callable, const Arguments&... arguments) {
  // Nothing that would be destroyed stands between this and the interpreter: see surviving_exit().
  PyObject* answer = surviving_exit(
      [&] { return PyObject_CallFunctionObjArgs(callable.ptr(), arguments.ptr()..., nullptr); });
  if (answer == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(answer);
}

/// Runs code that calls Python: what Python raised is thrown as a PythonError. The GIL must be
/// held.
template <class Verb>
decltype(auto) calling_python(Verb&& verb) {
  try {
    return surviving_exit(std::forward<Verb>(verb));
  } catch (const py::error_already_set& error) {
    throw PythonError(error);
  }
}

}  // namespace pyengine::bindings
