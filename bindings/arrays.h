/// NumPy arrays from vectors.
#pragma once

#include <pybind11/numpy.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace pyengine::bindings {

namespace py = pybind11;

/// Copies a vector to a one-dimensional array. NumPy would copy records field by field.
template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  py::array_t<T> array(static_cast<py::ssize_t>(values.size()));
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

}  // namespace pyengine::bindings
