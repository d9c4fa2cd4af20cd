/// NumPy arrays from vectors.
#pragma once

#include <pybind11/numpy.h>

#include <vector>

namespace pyengine::bindings {

namespace py = pybind11;

/// Copies a vector to a one-dimensional array.
template <class T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

}  // namespace pyengine::bindings
