#include "search_config.h"

#include <array>

#include "base/error.h"
#include "config_fields.h"

namespace pyengine::bindings {

template <>
struct Names<Algorithm> {
  static constexpr std::array values{"puct", "gumbel", "uct", "flat_ucb"};
};
template <>
struct Names<MoveChoice> {
  static constexpr std::array values{"visits", "mean"};
};
template <>
struct Names<Exploration> {
  static constexpr std::array values{"standard", "alphago", "log"};
};
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

namespace {

/// The fields by their public names: the only list of them on this side.
constexpr auto kFields = [](auto& c, auto&& visit) {
  visit("simulations", c.simulations);
  visit("seconds", c.seconds);
  visit("algorithm", c.algorithm);
  visit("c_puct", c.c_puct);
  visit("c_puct_base", c.c_puct_base);
  visit("c_puct_factor", c.c_puct_factor);
  visit("fpu", c.fpu);
  visit("fpu_value", c.fpu_value);
  visit("choose", c.choose);
  visit("exploration", c.exploration);
  visit("uct_c", c.uct_c);
  visit("expand_probability", c.expand_probability);
  visit("threads", c.threads);
  visit("batch_size", c.batch_size);
  visit("in_flight", c.in_flight);
  visit("collision", c.collision);
  visit("virtual_loss", c.virtual_loss);
  visit("symmetry", c.symmetry);
  visit("dirichlet_alpha", c.dirichlet_alpha);
  visit("dirichlet_fraction", c.dirichlet_fraction);
  visit("dirichlet_shaped", c.dirichlet_shaped);
  visit("root_policy_temperature", c.root_policy_temperature);
  visit("temperature", c.temperature);
  visit("reuse_tree", c.reuse_tree);
  visit("cache_entries", c.cache_entries);
  visit("memory_limit", c.memory_limit);
  visit("solver", c.solver);
  visit("deterministic", c.deterministic);
  visit("seed", c.seed);
  visit("endgame_solver_empties", c.endgame_solver_empties);
  visit("gumbel_actions", c.gumbel_actions);
  visit("gumbel_c_visit", c.gumbel_c_visit);
  visit("gumbel_c_scale", c.gumbel_c_scale);
  visit("gumbel_noise", c.gumbel_noise);
};

}  // namespace

SearchConfig config_from(const py::dict& fields) {
  SearchConfig config;
  read_fields(config, fields, "a search", kFields);
  validate(config);
  return config;
}

py::dict config_to(const SearchConfig& config) { return write_fields(config, kFields); }

}  // namespace pyengine::bindings
