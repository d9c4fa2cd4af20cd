#include "spec_cast.h"

#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "text.h"

namespace pyengine::bindings {
namespace {

/// Reads a field of pyengine.ModelSpec.
template <class T>
T field(const py::handle& spec, const char* name, const char* expected) {
  const py::object value = spec.attr(name);
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {
    throw ConfigError(std::string(name) + " must be " + expected + ", got " + repr_of(value));
  }
}

/// A text field; None is empty.
std::string text(const py::handle& spec, const char* name) {
  return field<std::optional<Text>>(spec, name, "a string").value_or(Text());
}

std::vector<std::string> names(const py::handle& spec, const char* name) {
  if (py::isinstance<py::str>(spec.attr(name))) return {text(spec, name)};
  const auto found = field<std::vector<Text>>(spec, name, "a tuple of names");
  return {found.begin(), found.end()};
}

}  // namespace

ModelSpec spec_from(const py::object& spec) {
  ModelSpec made;
  if (spec.is_none()) return made;
  if (!py::hasattr(spec, "planes") || !py::hasattr(spec, "value_kind")) {
    throw ConfigError("spec must be a ModelSpec, got " + repr_of(spec));
  }
  made.planes = names(spec, "planes");
  made.layout = text(spec, "layout");
  made.rows = text(spec, "rows");
  made.policy_rows = text(spec, "policy_rows");
  made.policy = text(spec, "policy");
  made.pass_index = field<std::optional<int>>(spec, "pass_index", "None or an int");
  made.value = names(spec, "value");
  made.value_kind = text(spec, "value_kind");
  made.value_for = text(spec, "value_for");
  made.input = text(spec, "input");
  made.policy_output = text(spec, "policy_output");
  made.value_output = text(spec, "value_output");
  made.validate();
  return made;
}

}  // namespace pyengine::bindings
