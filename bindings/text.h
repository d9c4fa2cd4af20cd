/// Strings between Python and C++. Strings from C++ are valid Unicode, strings to C++ are UTF-8;
/// invalid characters become U+FFFD. No other file converts strings.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace pyengine::bindings {

namespace py = pybind11;

/// A Python str. The bytes may come from a damaged file.
[[nodiscard]] py::str text_of(std::string_view bytes);

/// The UTF-8 form of a Python str, which may contain surrogates.
[[nodiscard]] std::string utf8_of(const py::handle& text);

/// A string for a one-line message: white space becomes a single space, control characters are
/// escaped, and long strings are shortened in the middle.
[[nodiscard]] std::string in_one_line(std::string_view text, std::size_t most);

/// repr(object), shortened to one line, and str(object), for messages. They never raise.
[[nodiscard]] std::string repr_of(const py::handle& object) noexcept;
[[nodiscard]] std::string str_of(const py::handle& object) noexcept;
[[nodiscard]] inline std::string type_name(const py::handle& object) {
  return Py_TYPE(object.ptr())->tp_name;
}

/// A Python str as argument or result. Unlike std::string, it accepts surrogates and invalid UTF-8.
struct Text : std::string {
  Text() = default;
  Text(std::string text) : std::string(std::move(text)) {}  // NOLINT(google-explicit-constructor)
};

}  // namespace pyengine::bindings

namespace pybind11::detail {

template <>
struct type_caster<pyengine::bindings::Text> {
  PYBIND11_TYPE_CASTER(pyengine::bindings::Text, const_name("str"));

  bool load(handle source, bool /*convert*/) {
    if (!isinstance<str>(source)) return false;
    value = pyengine::bindings::utf8_of(source);
    return true;
  }
  static handle cast(const pyengine::bindings::Text& text, return_value_policy, handle) {
    return pyengine::bindings::text_of(text).release();
  }
};

}  // namespace pybind11::detail
