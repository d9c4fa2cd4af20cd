#include "python_error.h"

#include <algorithm>
#include <array>

namespace pyengine::bindings {

bool is_refusal(const py::handle& exception) {
  const std::array kinds{PyExc_TypeError, PyExc_ValueError, PyExc_OverflowError};
  return std::any_of(kinds.begin(), kinds.end(), [&](PyObject* kind) {
    return PyErr_GivenExceptionMatches(exception.ptr(), kind) != 0;
  });
}

void clear_refusal() {
  const py::error_already_set raised;
  if (!is_refusal(raised.type())) throw raised;
}

py::object index_of(const py::handle& object) {
  PyObject* index = PyNumber_Index(object.ptr());
  if (index == nullptr) clear_refusal();
  return py::reinterpret_steal<py::object>(index);
}

}  // namespace pyengine::bindings
