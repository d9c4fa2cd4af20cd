/// Binds a settings struct as an immutable Python class with its documentation.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <type_traits>
#include <vector>

#include "base/fields.h"
#include "settings_values.h"

namespace pyengine::bindings {

/// The type in a stub: "float | None".
[[nodiscard]] std::string annotation(const Expected& expected);

/// The description of a field for Python.
struct Setting {
  std::string name;
  std::string type;    ///< "float | None"
  std::string values;  ///< accepted values: "float > 0 or None"
  py::object default_value;
  std::string meaning;
  bool optional = false;
};

template <class Settings>
std::vector<Setting> list_of() {
  const auto defaults = default_settings<Settings>();
  std::vector<Setting> list;
  for_each_field<Settings>([&](const auto& field) {
    list.push_back({field.name, annotation(field.expected()), in_short(field.expected()),
                    written(defaults.*field.member), field.meaning, field.is_optional()});
  });
  return list;
}

void bind_setting(py::module_& m);

/// A default value in the documentation: `"puct"`, `2**17`.
[[nodiscard]] std::string default_text(const py::object& value);
/// One wrapped entry of the `Attributes` block.
[[nodiscard]] std::string entry(const std::string& head, const char* meaning);

/// The keyword arguments of a signature, with `...` as defaults if `is_replace`.
template <class Settings>
std::string arguments_of(bool is_replace) {
  const auto defaults = default_settings<Settings>();
  std::string text;
  for_each_field<Settings>([&](const auto& field) {
    using Value = typename std::remove_cvref_t<decltype(field)>::Value;
    const bool shown = !is_replace && !HasFields<Value>;
    text += std::string(", ") + field.name + ": " + annotation(field.expected()) + " = " +
        (shown ? std::string(py::repr(written(defaults.*field.member))) : "...");
  });
  return text;
}

template <class Settings>
std::string attributes_of() {
  const auto defaults = default_settings<Settings>();
  std::string text = "Attributes:\n";
  for_each_field<Settings>([&](const auto& field) {
    const std::string value = default_text(written(defaults.*field.member));
    text += entry(
        std::string(field.name) + " (" + in_short(field.expected()) + ", default " + value + "): ",
        field.meaning);
  });
  return text;
}

/// Binds the class. The docstring is `summary`, the `Attributes` block and `rest`.
template <class Settings>
py::class_<Settings> bind_settings(py::module_& m, const std::string& summary,
                                   const std::string& rest,
                                   py::dict (*to_dict)(const Settings&) = &dict_of<Settings>) {
  const std::string name = Table<Settings>::name;
  const std::string self = "(self: pyengine._core." + name;
  const std::string doc = summary + "\n\n" + attributes_of<Settings>() + "\n" + rest;
  py::class_<Settings> bound(m, Table<Settings>::name, doc.c_str());
  for_each_field<Settings>([&](const auto& field) {
    const std::string type = self + ") -> " + annotation(field.expected());
    py::options options;
    options.disable_function_signatures();
    bound.def_property_readonly(
        field.name,
        py::cpp_function([member = field.member](const Settings& s) { return written(s.*member); },
                         py::doc(type.c_str())));
  });
  {
    const std::string made =
        "__init__" + self + ", *" + arguments_of<Settings>(false) + ") -> None";
    const std::string copied = "replace" + self + ", *" + arguments_of<Settings>(true) +
        ") -> pyengine._core." + name + "\n\nReturn a copy with some fields changed.";
    py::options options;
    options.disable_function_signatures();
    bound.def(py::init([](const py::kwargs& changes) {
                return changed(default_settings<Settings>(), changes);
              }),
              made.c_str());
    bound.def(
        "replace", [](const Settings& s, const py::kwargs& changes) { return changed(s, changes); },
        copied.c_str());
  }
  bound.def_static("fields", &list_of<Settings>, "Return a description of each field.")
      .def("to_dict", to_dict, "Return all fields as plain values.")
      .def_static("from_dict", &from_dict<Settings>, py::arg("fields"),
                  "Return the settings of to_dict(). Missing fields take their defaults.")
      .def("fingerprint", &fingerprint<Settings>, "Return a hash of the settings as 12 hex digits.")
      .def("__eq__",
           [](const Settings& a, const py::object& b) {
             return py::isinstance<Settings>(b) && a == b.cast<const Settings&>();
           })
      .def("__hash__",
           [](const Settings& s) {
             py::list values;
             for_each_field<Settings>(
                 [&](const auto& field) { values.append(written(s.*field.member)); });
             return py::hash(py::tuple(values));
           })
      .def("__repr__", &repr_of_settings<Settings>)
      .def(py::pickle(&dict_of<Settings>,
                      [](const py::dict& state) { return from_dict<Settings>(state); }));
  return bound;
}

template <class Settings>
void bind_toml(py::class_<Settings>& bound) {
  bound.def(
      "to_toml",
      [](const Settings& s) { return toml_of(dict_of(s), dict_of(default_settings<Settings>())); },
      "Return all fields as TOML, without those that are None.");
  const std::string doc = std::string("from_toml(source: str | pathlib.Path) -> pyengine._core.") +
      Table<Settings>::name +
      "\n\nRead TOML text, or the file at a Path. Missing fields take their defaults.";
  py::options options;
  options.disable_function_signatures();
  bound.def_static("from_toml", &from_toml<Settings>, py::arg("source"), doc.c_str());
}

}  // namespace pyengine::bindings
