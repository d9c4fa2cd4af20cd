#include "search/config.h"

#include <string>
#include <thread>
#if defined(__linux__)
#include <sched.h>
#endif

#include "base/error.h"
#include "base/fields.h"
#include "search/config_fields.h"

namespace pyengine {
namespace {

void expect(bool fits, const char* field, const char* expected, const std::string& got) {
  if (!fits) throw ConfigError(refusal(field, expected, got));
}

bool fits(Exploration exploration, Algorithm algorithm) noexcept {
  switch (exploration) {
    case Exploration::standard:
      return true;
    case Exploration::alphago:
      return algorithm == Algorithm::puct;
    case Exploration::log:
      break;
  }
  return algorithm == Algorithm::uct || algorithm == Algorithm::flat_ucb;
}

}  // namespace

int usable_cores() noexcept {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  const unsigned cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : static_cast<int>(cores);
}

void validate(const SearchConfig& config) {
  check_fields(config);
  expect(fits(config.exploration, config.algorithm), "exploration",
         "\"standard\", \"alphago\" with puct, or \"log\" with uct and flat_ucb",
         config.exploration == Exploration::alphago ? "\"alphago\"" : "\"log\"");
  // Gumbel's improved policy depends on the root priors; UCB1 has none.
  const bool plays_puct = config.algorithm == Algorithm::puct;
  expect(config.root_policy_temperature == 1 || plays_puct, "root_policy_temperature",
         "1 unless algorithm is puct", number_text(config.root_policy_temperature));
  expect(!config.graph.value_or(false) || plays_puct, "graph", "True only if algorithm is puct",
         "True");
  expect(!config.root_c_puct || plays_puct, "root_c_puct", "None unless algorithm is puct",
         number_text(config.root_c_puct.value_or(0.0)));
  expect(!config.root_fpu_value || plays_puct, "root_fpu_value", "None unless algorithm is puct",
         number_text(config.root_fpu_value.value_or(0.0)));
  expect(config.c_puct_stdev == 0 || plays_puct, "c_puct_stdev", "0 unless algorithm is puct",
         number_text(config.c_puct_stdev));
  expect(!config.dirichlet_shaped || plays_puct, "dirichlet_shaped",
         "False unless algorithm is puct", "True");
}

SearchConfig at_root(SearchConfig config) noexcept {
  config.c_puct = config.root_c_puct.value_or(config.c_puct);
  config.fpu_value = config.root_fpu_value.value_or(config.fpu_value);
  return config;
}

int max_in_flight(const SearchConfig& config) noexcept {
  return config.in_flight.value_or(2 * config.batch_size);
}

int num_workers(const SearchConfig& config) noexcept {
  return config.threads > 0 ? config.threads : usable_cores();
}

}  // namespace pyengine
