#include "search_config.h"

#include <pybind11/stl.h>

#include <array>
#include <string>
#include <utility>

#include "base/error.h"

namespace pyengine::bindings {
namespace {

/// The fields by their public names: the only list of them on this side.
template <class Config, class Visit>
void for_each_field(Config& c, Visit&& visit) {
  visit("simulations", c.simulations);
  visit("seconds", c.seconds);
  visit("c_puct", c.c_puct);
  visit("c_puct_base", c.c_puct_base);
  visit("c_puct_factor", c.c_puct_factor);
  visit("fpu", c.fpu);
  visit("fpu_value", c.fpu_value);
  visit("threads", c.threads);
  visit("batch_size", c.batch_size);
  visit("in_flight", c.in_flight);
  visit("collision", c.collision);
  visit("virtual_loss", c.virtual_loss);
  visit("symmetry", c.symmetry);
  visit("dirichlet_alpha", c.dirichlet_alpha);
  visit("dirichlet_fraction", c.dirichlet_fraction);
  visit("temperature", c.temperature);
  visit("reuse_tree", c.reuse_tree);
  visit("cache_entries", c.cache_entries);
  visit("memory_limit", c.memory_limit);
  visit("solver", c.solver);
  visit("deterministic", c.deterministic);
  visit("seed", c.seed);
  visit("gumbel_c_visit", c.gumbel_c_visit);
  visit("gumbel_c_scale", c.gumbel_c_scale);
}

template <class E>
struct Names;
template <>
struct Names<FirstPlay> {
  static constexpr std::array values{"value", "parent", "reduction"};
};
template <>
struct Names<CollisionRule> {
  static constexpr std::array values{"virtual_visit", "virtual_loss"};
};
template <>
struct Names<SymmetryMode> {
  static constexpr std::array values{"none", "random", "average", "root_average", "fill"};
};

[[noreturn]] void refuse(const char* name, const std::string& expected, const py::handle& found) {
  throw ConfigError(std::string(name) + ": expected " + expected + ", found " +
                    std::string(py::repr(found)));
}

void read(const char* name, const py::handle& value, bool& field) {
  if (!py::isinstance<py::bool_>(value)) refuse(name, "True or False", value);
  field = value.cast<bool>();
}

void read(const char* name, const py::handle& value, double& field) {
  if (py::isinstance<py::bool_>(value) || PyNumber_Check(value.ptr()) == 0) {
    refuse(name, "a number", value);
  }
  field = py::float_(py::reinterpret_borrow<py::object>(value));
}

template <class Int>
void read_integer(const char* name, const py::handle& value, Int& field) {
  if (py::isinstance<py::bool_>(value) || PyIndex_Check(value.ptr()) == 0) {
    refuse(name, "an int", value);
  }
  try {
    field = value.cast<Int>();
  } catch (const py::cast_error&) {
    refuse(name, "an int in range", value);
  }
}
void read(const char* name, const py::handle& value, std::uint64_t& field) {
  read_integer(name, value, field);
}
void read(const char* name, const py::handle& value, int& field) {
  read_integer(name, value, field);
}

template <class E>
  requires std::is_enum_v<E>
void read(const char* name, const py::handle& value, E& field) {
  std::string expected = "one of";
  for (std::size_t i = 0; i < Names<E>::values.size(); ++i) {
    const char* option = Names<E>::values[i];
    if (py::isinstance<py::str>(value) && value.cast<std::string>() == option) {
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

}  // namespace

SearchConfig config_from(const py::dict& fields) {
  SearchConfig config;
  std::size_t known = 0;
  for_each_field(config, [&](const char* name, auto& field) {
    if (!fields.contains(name)) throw ConfigError(std::string(name) + ": missing");
    read(name, fields[name], field);
    ++known;
  });
  if (known != fields.size()) throw ConfigError("a search configuration with unknown fields");
  validate(config);
  return config;
}

py::dict config_to(const SearchConfig& config) {
  py::dict fields;
  for_each_field(config, [&](const char* name, const auto& field) { fields[name] = write(field); });
  return fields;
}

}  // namespace pyengine::bindings
