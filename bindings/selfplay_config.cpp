#include "selfplay_config.h"

#include "base/error.h"
#include "config_fields.h"
#include "search_config.h"

namespace pyengine::bindings {

namespace {

/// The fields but `search`, by their public names: the only list of them on this side.
constexpr auto kFields = [](auto& c, auto&& visit) {
  visit("concurrent_games", c.concurrent_games);
  visit("temperature_moves", c.temperature_moves);
  visit("resign_threshold", c.resign_threshold);
  visit("resign_off_fraction", c.resign_off_fraction);
  visit("resign_false_positives", c.resign_false_positives);
  visit("full_search_fraction", c.full_search_fraction);
  visit("fast_simulations", c.fast_simulations);
  visit("clear_before_full", c.clear_before_full);
  visit("forced_playouts", c.forced_playouts);
  visit("minimum_target_visits", c.minimum_target_visits);
  visit("max_plies", c.max_plies);
  visit("opening_random_moves", c.opening_random_moves);
  visit("seed", c.seed);
};

}  // namespace

SelfPlayConfig selfplay_config_from(const py::dict& fields) {
  if (!fields.contains("search") || !py::isinstance<py::dict>(fields["search"])) {
    throw ConfigError("search: expected a search configuration");
  }
  py::dict others = py::reinterpret_steal<py::dict>(PyDict_Copy(fields.ptr()));
  PyDict_DelItemString(others.ptr(), "search");
  SelfPlayConfig config;
  config.search = config_from(fields["search"]);
  read_fields(config, others, "a self-play", kFields);
  validate(config);
  return config;
}

py::dict selfplay_config_to(const SelfPlayConfig& config) {
  py::dict fields = write_fields(config, kFields);
  fields["search"] = config_to(config.search);
  return fields;
}

}  // namespace pyengine::bindings
