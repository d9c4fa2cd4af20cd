/// Arguments whose wrong type raises a ConfigError instead of a list of signatures from pybind11.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text.h"

namespace pyengine::bindings {

/// A string as a template argument.
template <std::size_t N>
struct ArgumentName {
  char text[N];
  consteval ArgumentName(const char (&name)[N]) { std::copy_n(name, N, text); }  // NOLINT
};

/// Converts an argument with operator.index(). Throws ConfigError.
[[nodiscard]] long long int_of(const char* name, const py::handle& argument);
/// Converts a sequence of ints. Throws ConfigError, and any exception of the sequence itself.
[[nodiscard]] std::vector<long long> ints_of(const char* name, const py::handle& argument);

/// A Python int; the name is for error messages.
template <ArgumentName kName>
struct IntArgument {
  long long value = 0;
  operator long long() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
};
using ActionArgument = IntArgument<"action">;

/// A sequence of ints.
template <ArgumentName kName>
struct IntsArgument {
  std::vector<long long> values;
};

/// A Python str.
template <ArgumentName kName>
struct TextArgument : std::string {};

}  // namespace pyengine::bindings

namespace pybind11::detail {

template <pyengine::bindings::ArgumentName kName>
struct type_caster<pyengine::bindings::IntArgument<kName>> {
  PYBIND11_TYPE_CASTER(pyengine::bindings::IntArgument<kName>,
                       const_name("typing.SupportsInt | typing.SupportsIndex"));
  bool load(handle source, bool /*convert*/) {
    value.value = pyengine::bindings::int_of(kName.text, source);
    return true;
  }
  static handle cast(const pyengine::bindings::IntArgument<kName>& from, return_value_policy,
                     handle) {
    return PyLong_FromLongLong(from.value);
  }
};

template <pyengine::bindings::ArgumentName kName>
struct type_caster<pyengine::bindings::IntsArgument<kName>> {
  PYBIND11_TYPE_CASTER(
      pyengine::bindings::IntsArgument<kName>,
      const_name("collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]"));
  bool load(handle source, bool /*convert*/) {
    value.values = pyengine::bindings::ints_of(kName.text, source);
    return true;
  }
  static handle cast(const pyengine::bindings::IntsArgument<kName>& from, return_value_policy,
                     handle) {
    list made;
    for (const long long number : from.values) made.append(number);
    return made.release();
  }
};

template <pyengine::bindings::ArgumentName kName>
struct type_caster<pyengine::bindings::TextArgument<kName>> {
  PYBIND11_TYPE_CASTER(pyengine::bindings::TextArgument<kName>, const_name("str"));
  bool load(handle source, bool /*convert*/) {
    using namespace pyengine;
    if (!isinstance<str>(source)) {
      throw ConfigError(std::string(kName.text) + ": expected a str, got " +
                        bindings::repr_of(source));
    }
    static_cast<std::string&>(value) = bindings::utf8_of(source);
    return true;
  }
  static handle cast(const pyengine::bindings::TextArgument<kName>& from, return_value_policy,
                     handle) {
    return pyengine::bindings::text_of(from).release();
  }
};

}  // namespace pybind11::detail
