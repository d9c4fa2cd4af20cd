#include "settings_values.h"

#include <string>

#include "base/error.h"
#include "base/text.h"
#include "python_error.h"

namespace pyengine::bindings {
namespace {

bool is_bool(const py::handle& value) {  // includes numpy.bool
  return py::detail::make_caster<bool>().load(value, false);
}

template <class Int>
bool read_integer(const py::handle& value, Int& to) {
  if (is_bool(value) || PyIndex_Check(value.ptr()) == 0) return false;
  const py::object number = index_of(value);
  py::detail::make_caster<Int> caster;
  if (!number || !caster.load(number, false)) return false;
  to = py::detail::cast_op<Int>(caster);
  return true;
}

py::object from(const char* module, const char* name) {
  return py::module_::import(module).attr(name);
}

constexpr std::size_t kMaxTomlBytes = std::size_t{1}
    << 20;  // a device such as /dev/zero has no end

py::object text_at(const py::object& path) {
  try {
    const py::object file = path.attr("open")("rb");
    const py::bytes content = file.attr("read")(kMaxTomlBytes + 1);
    file.attr("close")();
    if (py::len(content) > kMaxTomlBytes) {
      throw ConfigError(str_of(path) + " is larger than 1 MiB");
    }
    return content.attr("decode")();
  } catch (const py::error_already_set& error) {
    if (error.matches(PyExc_FileNotFoundError)) {
      throw ConfigError(str_of(path) + " does not exist");
    }
    if (error.matches(PyExc_OSError)) {
      const std::string why = str_of(error.value().attr("strerror"));
      throw ConfigError(str_of(path) + " cannot be read: " + why);
    }
    if (error.matches(PyExc_ValueError)) throw ConfigError(str_of(path) + " is not UTF-8 text");
    throw;
  }
}

}  // namespace

bool read(const py::handle& value, bool& to) {
  py::detail::make_caster<bool> caster;
  if (!caster.load(value, false)) return false;
  to = py::detail::cast_op<bool>(caster);
  return true;
}

bool read(const py::handle& value, double& to) {
  if (is_bool(value) || PyNumber_Check(value.ptr()) == 0) return false;
  to = PyFloat_AsDouble(value.ptr()) + 0.0;  // -0.0 becomes 0.0
  if (to != -1.0 || PyErr_Occurred() == nullptr) return true;
  clear_refusal();  // an array, or an int that is too large for a float
  return false;
}

bool read(const py::handle& value, std::string& to) {
  if (!py::isinstance<py::str>(value)) return false;
  to = utf8_of(value);
  return true;
}

bool read(const py::handle& value, std::vector<std::string>& to) {
  to.clear();
  if (py::isinstance<py::str>(value)) return read(value, to.emplace_back());
  if (!py::isinstance<py::tuple>(value) && !py::isinstance<py::list>(value)) return false;
  for (const py::handle& text : value) {
    if (!read(text, to.emplace_back())) return false;
  }
  return true;
}

bool read(const py::handle& value, int& to) { return read_integer(value, to); }
bool read(const py::handle& value, std::uint64_t& to) { return read_integer(value, to); }

void refuse_unknown(const py::handle& name, const char* owner, const py::list& known) {
  const py::list matches = from("difflib", "get_close_matches")(py::str(name), known, 1);
  const std::string hint =
      matches.empty() ? "; the" : "; did you mean " + utf8_of(matches[0]) + "? The";
  const py::object names = from("builtins", "sorted")(known);
  throw ConfigError(both_ends(str_of(name), kMostQuoted) + ": unknown field of " + owner + hint +
                    " fields are " + utf8_of(py::str(", ").attr("join")(names)));
}

std::string digest_of(const py::dict& fields) {
  const py::object text = from("json", "dumps")(fields, py::arg("sort_keys") = true);
  const py::object digest = from("hashlib", "sha256")(text.attr("encode")()).attr("hexdigest")();
  return utf8_of(digest).substr(0, 12);
}

std::string toml_of(const py::dict& fields, const py::dict& defaults) {
  const py::object json = from("json", "dumps");  // same as TOML, except for None
  std::string text;
  std::string nones;
  for (const auto& [name, value] : fields) {
    if (!value.is_none()) {
      text += utf8_of(name) + " = " + utf8_of(json(value)) + '\n';
    } else if (!defaults[name].is_none()) {
      nones += utf8_of(name) + " = \"none\"\n";
    }
  }
  return text + nones;
}

py::dict fields_of_toml(const py::object& source, const char* owner) {
  const bool is_text = py::isinstance<py::str>(source);
  if (!is_text && !py::isinstance(source, from("pathlib", "Path"))) {
    throw ConfigError("source: expected TOML text or the Path of a file, got " + repr_of(source));
  }
  const py::object text = is_text ? source : text_at(source);
  try {
    return from("tomllib", "loads")(text);
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_RecursionError)) throw;
    const bool is_name = is_text && utf8_of(source).ends_with(".toml");
    throw ConfigError(std::string(owner) + ": invalid TOML: " + str_of(error.value()) +
                      (is_name ? "; to read a file, pass a Path" : ""));
  }
}

}  // namespace pyengine::bindings
