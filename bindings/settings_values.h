/// Reads and writes a settings struct as Python values and TOML, based on its table: see
/// base/fields.h.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "text.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// Converts a Python value. Returns false if its type is wrong.
[[nodiscard]] bool read(const py::handle& value, bool& to);
[[nodiscard]] bool read(const py::handle& value, double& to);
[[nodiscard]] bool read(const py::handle& value, int& to);
[[nodiscard]] bool read(const py::handle& value, std::uint64_t& to);
[[nodiscard]] bool read(const py::handle& value, std::string& to);
[[nodiscard]] bool read(const py::handle& value, std::vector<std::string>& to);

template <class E>
  requires std::is_enum_v<E>
[[nodiscard]] bool read(const py::handle& value, E& to) {
  if (!py::isinstance<py::str>(value)) return false;
  const std::string word = utf8_of(value);
  for (std::size_t i = 0; i < Names<E>::values.size(); ++i) {
    to = static_cast<E>(i);
    if (word == Names<E>::values[i]) return true;
  }
  return false;
}

template <HasFields Settings>
[[nodiscard]] bool read(const py::handle& value, Settings& to) {
  if (!py::isinstance<Settings>(value)) return false;
  to = value.cast<const Settings&>();
  return true;
}

template <class T>
[[nodiscard]] bool read(const py::handle& value, std::optional<T>& to) {
  to.reset();
  return value.is_none() || read(value, to.emplace());
}

template <class T>
[[nodiscard]] py::object written(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return py::str(Names<T>::values[static_cast<std::size_t>(value)]);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text_of(value);
  } else if constexpr (std::is_same_v<T, std::optional<std::string>>) {
    return value ? written(*value) : py::none();
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    py::list texts;
    for (const std::string& text : value) texts.append(text_of(text));
    return py::tuple(texts);
  } else {
    return py::cast(value);
  }
}

[[noreturn]] void refuse_unknown(const py::handle& name, const char* owner, const py::list& known);

template <class Settings>
py::list names_of() {
  py::list names;
  for_each_field<Settings>([&](const auto& field) { names.append(field.name); });
  return names;
}

/// Sets fields by name. Throws ConfigError naming a field that is unknown, of the wrong type or out
/// of range.
template <class Settings>
void change(Settings& settings, const py::dict& changes) {
  for (const auto& [name, value] : changes) {
    const std::string key = py::isinstance<py::str>(name) ? utf8_of(name) : "";
    bool known = false;
    const auto set = [&, &value = value](const auto& field) {
      if (known || key != field.name) return;
      known = true;
      auto read_value = settings.*field.member;
      if (!read(value, read_value) || !field.fits(read_value)) {
        throw ConfigError(refusal(field.name, in_words(field.expected()), repr_of(value)));
      }
      settings.*field.member = std::move(read_value);
    };
    for_each_field<Settings>(set);
    if (!known) refuse_unknown(name, Table<Settings>::name, names_of<Settings>());
  }
}

/// Derives the fields that depend on others, if there is a settle(), and validates.
template <class Settings>
void finish(Settings& settings) {
  if constexpr (requires { settle(settings); }) {
    settle(settings);
  } else {
    validate(settings);
  }
}

/// Returns a validated copy with some fields changed.
template <class Settings>
Settings changed(Settings settings, const py::dict& changes) {
  if (changes.empty()) return settings;
  change(settings, changes);
  finish(settings);
  return settings;
}

template <class Settings>
Settings default_settings() {
  Settings settings;
  finish(settings);
  return settings;
}

/// Returns all fields as plain values.
template <class Settings>
py::dict dict_of(const Settings& settings) {
  py::dict fields;
  for_each_field<Settings>([&](const auto& field) {
    const auto& value = settings.*field.member;
    if constexpr (HasFields<std::remove_cvref_t<decltype(value)>>) {
      fields[field.name] = dict_of(value);
    } else {
      fields[field.name] = written(value);
    }
  });
  return fields;
}

/// The inverse of dict_of(). Missing fields take their defaults.
template <class Settings>
Settings from_dict(const py::object& fields) {
  if (!py::isinstance<py::dict>(fields)) {
    throw ConfigError(refusal("fields", "a dict of settings", repr_of(fields)));
  }
  py::dict changes = py::reinterpret_steal<py::dict>(PyDict_Copy(fields.ptr()));
  for_each_field<Settings>([&](const auto& field) {
    using Value = typename std::remove_cvref_t<decltype(field)>::Value;
    if constexpr (HasFields<Value>) {
      if (changes.contains(field.name) && py::isinstance<py::dict>(changes[field.name])) {
        changes[field.name] = from_dict<Value>(changes[field.name]);
      }
    }
  });
  return changed(default_settings<Settings>(), changes);
}

/// A constructor call with the fields that differ from their defaults.
template <class Settings>
std::string repr_of_settings(const Settings& settings) {
  const auto defaults = default_settings<Settings>();
  std::string text;
  for_each_field<Settings>([&](const auto& field) {
    if (settings.*field.member == defaults.*field.member) return;
    const std::string value = py::repr(written(settings.*field.member));
    text += std::string(text.empty() ? "" : ", ") + field.name + '=' + value;
  });
  return std::string(Table<Settings>::name) + '(' + text + ')';
}

/// A fingerprint of 12 hex digits.
[[nodiscard]] std::string digest_of(const py::dict& fields);

template <class Settings>
std::string fingerprint(const Settings& settings) {
  const auto defaults = default_settings<Settings>();
  py::dict fields = dict_of(settings);
  for_each_field<Settings>([&](const auto& field) {
    if (field.later && settings.*field.member == defaults.*field.member) {
      fields.attr("pop")(field.name);
    }
  });
  return digest_of(fields);
}

/// TOML has no null: a field that is None, but not by default, is written as "none".
[[nodiscard]] std::string toml_of(const py::dict& fields, const py::dict& defaults);
/// Parses TOML text, or the file at a Path. `owner` is the name of the class. Throws ConfigError.
[[nodiscard]] py::dict fields_of_toml(const py::object& source, const char* owner);

template <class Settings>
Settings from_toml(const py::object& source) {
  py::dict changes = fields_of_toml(source, Table<Settings>::name);
  for_each_field<Settings>([&](const auto& field) {
    if (!field.is_optional() || !changes.contains(field.name)) return;
    const py::object value = changes[field.name];
    if (py::isinstance<py::str>(value) && utf8_of(value) == "none")
      changes[field.name] = py::none();
  });
  return changed(default_settings<Settings>(), changes);
}

}  // namespace pyengine::bindings
