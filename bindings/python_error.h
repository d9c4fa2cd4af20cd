/// An exception raised by Python code on its way through C++ and back.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

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
  static void drop(PyObject* value) {
    if (Py_IsInitialized() == 0) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(value);
    PyGILState_Release(state);
  }
  std::shared_ptr<PyObject> value_;
  std::string what_;
};

/// Runs code that calls Python: what Python raised is thrown as a PythonError. The GIL must be
/// held.
template <class Verb>
decltype(auto) calling_python(Verb&& verb) {
  try {
    return std::forward<Verb>(verb)();
  } catch (const py::error_already_set& error) {
    throw PythonError(error);
  }
}

}  // namespace pyengine::bindings
