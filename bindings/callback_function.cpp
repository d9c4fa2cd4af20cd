#include "callback_function.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <exception>
#include <string>

#include "base/error.h"
#include "python_error.h"
#include "text.h"

namespace pyengine::bindings {
namespace {

std::string shape_text(const py::array& array) {
  std::string text = str_of(array.dtype()) + "[";
  for (py::ssize_t i = 0; i < array.ndim(); ++i) {
    text += (i > 0 ? "," : "") + std::to_string(array.shape(i));
  }
  return text + "]";
}

/// NumPy's error for an object that it cannot convert, such as a tensor that requires grad.
std::string why_no_array(const py::object& part) {
  PyErr_Clear();
  try {
    py::module_::import("numpy").attr("asarray")(part);
  } catch (const py::error_already_set& error) {
    return ": " + str_of(error.value());
  }
  return "";
}

/// Copies one output. `width` is the number of columns; without it the output has one dimension.
void read(const py::object& part, const char* name, int rows, int width, bool flat, float* out) {
  const auto array = py::array::ensure(part);
  std::string expected = std::to_string(rows) + (flat ? "" : "," + std::to_string(width));
  expected = std::string("the evaluator's function must return ") + name +
      " as numbers of shape [" + expected + "], got ";
  if (!array) throw EvaluationError(expected + type_name(part) + why_no_array(part));
  const char kind = array.dtype().kind();
  const bool vector = flat && array.ndim() == 1;
  const bool matrix = array.ndim() == 2 && array.shape(1) == width;
  if ((kind != 'f' && kind != 'i' && kind != 'u') || !(vector || matrix) ||
      array.shape(0) != rows) {
    throw EvaluationError(expected + shape_text(array));
  }
  const auto floats = py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(array);
  std::copy_n(floats.data(), floats.size(), out);
}

/// Rethrows an exception of the function; see CallbackFunction::call.
[[noreturn]] void rethrow(const py::error_already_set& error) {
  if (!error.matches(PyExc_Exception)) throw PythonError(error);
  std::string message = type_name(error.value());
  const auto text = str_of(error.value());
  if (!text.empty()) message += ": " + text;
  try {
    throw PythonError(error);
  } catch (const PythonError&) {
    std::throw_with_nested(EvaluationError("the evaluator's function raised " + message));
  }
}

}  // namespace

CallbackFunction::CallbackFunction(py::object fn) {
  if (PyCallable_Check(fn.ptr()) == 0) {
    throw ConfigError("fn: expected a callable, got " + type_name(fn));
  }
  lock_ = CallbackLock::of(fn);
  fn_ = std::make_shared<Held>(fn.release().ptr());
}

void CallbackFunction::call_locked(const py::object& argument, const AnswerShape& shape,
                                   float* policy, float* value) const {
  if (fn_->object == nullptr) throw EngineError("the evaluator's function was freed");
  try {
    const auto fn = py::reinterpret_borrow<py::object>(fn_->object);
    const py::object answer = call_object(fn, argument);
    if (!(py::isinstance<py::tuple>(answer) || py::isinstance<py::list>(answer)) ||
        py::len(answer) != 2) {
      throw EvaluationError(
          "the evaluator's function must return (policy, value), got " + type_name(answer) +
          (py::hasattr(answer, "__len__") ? " of length " + std::to_string(py::len(answer)) : ""));
    }
    const py::sequence parts = answer;
    read(parts[0], "policy", shape.rows, shape.policy, false, policy);
    read(parts[1], "value", shape.rows, shape.value, shape.value == 1, value);
  } catch (const py::error_already_set& error) {
    rethrow(error);
  }
}

}  // namespace pyengine::bindings
