/// Texts between Python and C++: what leaves C++ is valid, what enters it is UTF-8. Nothing else
/// converts them; what is not a character becomes U+FFFD.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace pyengine::bindings {

namespace py = pybind11;

/// A text of the engine for Python; its bytes may come from a damaged file.
[[nodiscard]] py::str text_of(std::string_view bytes);

/// A str of Python as UTF-8; it may hold surrogates, which are no characters.
[[nodiscard]] std::string utf8_of(const py::handle& text);

/// A text for a message, which is one line: a blank for line breaks and other white space, escapes
/// for control characters, both ends of one that has more than about so many bytes.
[[nodiscard]] std::string in_one_line(std::string_view text, std::size_t most);

/// repr(object), in one line and shortened, and str(object), for messages: they raise nothing,
/// whatever the object's code does.
[[nodiscard]] std::string repr_of(const py::handle& object) noexcept;
[[nodiscard]] std::string str_of(const py::handle& object) noexcept;
[[nodiscard]] inline std::string type_name(const py::handle& object) {
  return Py_TYPE(object.ptr())->tp_name;
}

/// An argument or a result that Python knows as a str: std::string would refuse surrogates, and
/// raise for bytes that are no UTF-8.
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
