#include "arguments.h"

#include "python_error.h"

namespace pyengine::bindings {

long long int_of(const char* name, const py::handle& argument) {
  const auto refusal = [&](const char* expected) {
    return ConfigError(std::string(name) + ": expected " + expected + ", got " + repr_of(argument));
  };
  const py::object number = index_of(argument);
  if (!number) throw refusal("an int");
  const long long value = PyLong_AsLongLong(number.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw refusal("an int of 64 bits");
  }
  return value;
}

std::vector<long long> ints_of(const char* name, const py::handle& argument) {
  const auto refusal = [&] {
    return ConfigError(std::string(name) + ": expected a sequence of ints, got " +
                       repr_of(argument));
  };
  if (PySequence_Check(argument.ptr()) == 0 || PyUnicode_Check(argument.ptr()) ||
      PyBytes_Check(argument.ptr())) {
    throw refusal();
  }
  const py::ssize_t count = PySequence_Size(argument.ptr());
  if (count < 0) {  // no length, such as a 0-dimensional array
    clear_refusal();
    throw refusal();
  }
  std::vector<long long> numbers;
  for (py::ssize_t i = 0; i < count; ++i) {
    PyObject* item = PySequence_GetItem(argument.ptr(), i);
    if (item == nullptr) throw py::error_already_set();
    numbers.push_back(int_of(name, py::reinterpret_steal<py::object>(item)));
  }
  return numbers;
}

}  // namespace pyengine::bindings
