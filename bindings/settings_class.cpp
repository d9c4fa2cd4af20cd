#include "settings_class.h"

#include <bit>
#include <cstdint>
#include <string_view>

namespace pyengine::bindings {

void bind_setting(py::module_& m) {
  py::class_<Setting>(m, "Setting", "Description of a field of a settings class.")
      .def_readonly("name", &Setting::name)
      .def_readonly("type", &Setting::type, "Type in a stub: \"float | None\".")
      .def_readonly("values", &Setting::values, "Accepted values: \"float > 0 or None\".")
      .def_readonly("default", &Setting::default_value)
      .def_readonly("meaning", &Setting::meaning)
      .def_readonly("optional", &Setting::optional, "Whether it may be None.");
}

std::string annotation(const Expected& expected) {
  const auto type = [&]() -> std::string {
    switch (expected.kind) {
      case Expected::Kind::boolean:
        return "bool";
      case Expected::Kind::integer:
        return "int";
      case Expected::Kind::number:
        return "float";
      case Expected::Kind::text:
        return "str";
      case Expected::Kind::texts:
        return expected.choices.empty() ? "tuple[str, ...]" : "str | tuple[str, ...]";
      case Expected::Kind::settings:
        return std::string("pyengine._core.") + expected.choices[0];
      case Expected::Kind::choice:
        break;
    }
    std::string words;
    for (const char* word : expected.choices) {
      words += std::string(words.empty() ? "'" : ", '") + word + '\'';
    }
    return "typing.Literal[" + words + ']';
  };
  return type() + (expected.optional ? " | None" : "");
}

std::string default_text(const py::object& value) {
  if (py::isinstance<py::str>(value)) return '"' + utf8_of(value) + '"';
  if (py::isinstance<py::int_>(value) && !py::isinstance<py::bool_>(value) && py::int_(0) < value) {
    const auto number = value.cast<std::uint64_t>();
    constexpr std::uint64_t kLarge = 1U << 16;
    if (number >= kLarge && std::has_single_bit(number)) {
      return "2**" + std::to_string(std::countr_zero(number));
    }
  }
  return utf8_of(py::repr(value));
}

std::string entry(const std::string& head, const char* meaning) {
  constexpr std::size_t kWidth = 96;  // leaves room for the indentation of the docstring
  constexpr std::string_view kIndent = "    ";
  std::string text;
  std::string line = std::string(kIndent);
  const std::string whole = head + meaning;
  std::string_view rest(whole);
  while (!rest.empty()) {
    const std::size_t end = rest.find(' ');
    const std::string_view word = rest.substr(0, end);
    const bool first = line.find_first_not_of(' ') == std::string::npos;
    if (!first && line.size() + 1 + word.size() > kWidth) {
      text += line + '\n';
      line = std::string(kIndent) + std::string(kIndent);
    } else if (!first) {
      line += ' ';
    }
    line += word;
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return text + line + '\n';
}

}  // namespace pyengine::bindings
