/// Configurations between Python's keyword arguments and C++: one function lists the fields of
/// each.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "base/error.h"
#include "python_error.h"
#include "text.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// The names of an enum's values, in their order: `static constexpr std::array values`.
template <class E>
struct Names;
[[noreturn]] inline void refuse(const char* name, const std::string& expected,
                                const py::handle& found) {
  throw ConfigError(std::string(name) + ": expected " + expected + ", found " + repr_of(found));
}

inline void read(const char* name, const py::handle& value, bool& field) {
  if (!py::isinstance<py::bool_>(value)) refuse(name, "True or False", value);
  field = value.cast<bool>();
}

inline void read(const char* name, const py::handle& value, double& field) {
  if (py::isinstance<py::bool_>(value) || PyNumber_Check(value.ptr()) == 0) {
    refuse(name, "a number", value);
  }
  try {
    field = py::float_(py::reinterpret_borrow<py::object>(value));
  } catch (const py::error_already_set& error) {  // an array of numbers, an int beyond all floats
    if (!is_refusal(error.type())) throw;
    refuse(name, "a number", value);
  }
}

template <class Int>
inline constexpr const char* kRange = nullptr;
template <>
inline constexpr const char* kRange<int> = "an int from -2^31 to 2^31 - 1";
template <>
inline constexpr const char* kRange<std::uint64_t> = "an int from 0 to 2^64 - 1";

template <class Int>
void read_integer(const char* name, const py::handle& value, Int& field) {
  if (py::isinstance<py::bool_>(value) || PyIndex_Check(value.ptr()) == 0) {
    refuse(name, "an int", value);
  }
  const py::object number = index_of(value);
  if (!number) refuse(name, "an int", value);
  try {
    field = number.cast<Int>();
  } catch (const py::cast_error&) {
    refuse(name, kRange<Int>, value);
  }
}
inline void read(const char* name, const py::handle& value, std::uint64_t& field) {
  read_integer(name, value, field);
}
inline void read(const char* name, const py::handle& value, int& field) {
  read_integer(name, value, field);
}

template <class E>
  requires std::is_enum_v<E>
void read(const char* name, const py::handle& value, E& field) {
  std::string expected = "one of";
  for (std::size_t i = 0; i < Names<E>::values.size(); ++i) {
    const char* option = Names<E>::values[i];
    if (py::isinstance<py::str>(value) && utf8_of(value) == option) {
      field = static_cast<E>(i);
      return;
    }
    expected += std::string(i == 0 ? " \"" : ", \"") + option + '"';
  }
  refuse(name, expected, value);
}

template <class T>
void read(const char* name, const py::handle& value, std::optional<T>& field) {
  field.reset();
  if (!value.is_none()) read(name, value, field.emplace());
}

template <class T>
py::object write(const T& field) {
  if constexpr (std::is_enum_v<T>) {
    return py::str(Names<T>::values[static_cast<std::size_t>(field)]);
  } else {
    return py::cast(field);
  }
}

/// Reads all fields that `visit_fields(config, visit)` lists. Throws ConfigError naming a field
/// that is missing, unknown, of another type or not a value of its enum.
template <class Config, class Fields>
void read_fields(Config& config, const py::dict& fields, const char* what, Fields&& visit_fields) {
  std::size_t known = 0;
  visit_fields(config, [&](const char* name, auto& field) {
    if (!fields.contains(name)) throw ConfigError(std::string(name) + ": missing");
    read(name, fields[name], field);
    ++known;
  });
  if (known != fields.size()) {
    throw ConfigError(std::string(what) + " configuration with unknown fields");
  }
}

template <class Config, class Fields>
py::dict write_fields(const Config& config, Fields&& visit_fields) {
  py::dict fields;
  visit_fields(config, [&](const char* name, const auto& field) { fields[name] = write(field); });
  return fields;
}

}  // namespace pyengine::bindings
