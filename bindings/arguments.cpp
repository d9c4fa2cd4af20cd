#include "arguments.h"

namespace pyengine::bindings {

long long int_of(const char* name, const py::handle& argument) {
  const auto refuse = [&](const char* expected) {
    PyErr_Clear();
    return ConfigError(std::string(name) + ": expected " + expected + ", found " +
                       repr_of(argument));
  };
  PyObject* index = PyNumber_Index(argument.ptr());
  if (index == nullptr) throw refuse("an int");
  const auto number = py::reinterpret_steal<py::object>(index);
  const long long value = PyLong_AsLongLong(number.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw refuse("an int of 64 bits");
  return value;
}

}  // namespace pyengine::bindings
