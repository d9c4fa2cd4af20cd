#include "search/config.h"

#include <cmath>
#include <sstream>
#include <string>
#include <thread>
#if defined(__linux__)
#include <sched.h>
#endif

#include "base/error.h"
#include "base/types.h"

namespace pyengine {
namespace {

/// `found`: a number, or the name of a choice.
template <class T>
void expect(bool fits, const char* field, const std::string& expected, const T& found) {
  if (fits) return;
  std::ostringstream text;
  text.precision(15);  // whole numbers of bytes whole
  text << field << ": expected " << expected << ", found " << found;
  throw ConfigError(text.str());
}

bool positive(double x) noexcept { return std::isfinite(x) && x > 0; }
bool not_negative(double x) noexcept { return std::isfinite(x) && x >= 0; }

bool plays_ucb1(Algorithm algorithm) noexcept {
  return algorithm == Algorithm::uct || algorithm == Algorithm::flat_ucb;
}

std::string name_of(Exploration exploration) {
  return exploration == Exploration::alphago ? "\"alphago\"" : "\"log\"";
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

void validate(const SearchConfig& c) {
  if (c.simulations) {
    expect(*c.simulations >= 1 && *c.simulations <= 0xFFFFFFFFU, "simulations", "1 .. 2^32-1",
           static_cast<double>(*c.simulations));
  }
  if (c.seconds) expect(positive(*c.seconds), "seconds", "a number > 0", *c.seconds);
  expect(positive(c.c_puct), "c_puct", "a number > 0", c.c_puct);
  if (c.c_puct_base) {
    expect(positive(*c.c_puct_base), "c_puct_base", "a number > 0 or None", *c.c_puct_base);
  }
  expect(not_negative(c.c_puct_factor), "c_puct_factor", "a number >= 0", c.c_puct_factor);
  expect(std::abs(c.fpu_value) <= 2, "fpu_value", "a number in [-2, 2]", c.fpu_value);
  expect(c.exploration == Exploration::standard ||
             (c.exploration == Exploration::alphago ? c.algorithm == Algorithm::puct
                                                    : plays_ucb1(c.algorithm)),
         "exploration", "\"standard\", \"alphago\" with puct, or \"log\" with uct and flat_ucb",
         name_of(c.exploration));
  expect(not_negative(c.uct_c), "uct_c", "a number >= 0", c.uct_c);
  expect(c.expand_probability > 0 && c.expand_probability <= 1, "expand_probability",
         "a number in (0, 1]", c.expand_probability);
  expect(c.threads >= 0 && c.threads <= 1024, "threads", "0 .. 1024", c.threads);
  expect(c.batch_size >= 1 && c.batch_size <= 4096, "batch_size", "1 .. 4096", c.batch_size);
  expect(c.in_flight >= 0 && c.in_flight <= 0xFFFF, "in_flight",
         "1 .. 65535 (None = 2 * batch_size)", c.in_flight);
  expect(not_negative(c.virtual_loss), "virtual_loss", "a number >= 0", c.virtual_loss);
  if (c.dirichlet_alpha) {
    expect(positive(*c.dirichlet_alpha), "dirichlet_alpha", "a number > 0 or None",
           *c.dirichlet_alpha);
  }
  expect(c.dirichlet_fraction >= 0 && c.dirichlet_fraction <= 1, "dirichlet_fraction",
         "a number in [0, 1]", c.dirichlet_fraction);
  expect(positive(c.root_policy_temperature), "root_policy_temperature", "a number > 0",
         c.root_policy_temperature);
  // Gumbel's improved policy is made of the root's priors; UCB1 reads none.
  const bool plays_puct = c.algorithm == Algorithm::puct;
  expect(c.root_policy_temperature == 1 || plays_puct, "root_policy_temperature",
         "1 where algorithm is not puct", c.root_policy_temperature);
  expect(!c.dirichlet_shaped || plays_puct, "dirichlet_shaped", "False where algorithm is not puct",
         "True");
  expect(not_negative(c.temperature), "temperature", "a number >= 0", c.temperature);
  expect(c.cache_entries <= (std::uint64_t{1} << 32), "cache_entries", "0 .. 2^32",
         static_cast<double>(c.cache_entries));
  expect(c.memory_limit >= kLeastMemory, "memory_limit",
         "at least " + std::to_string(kLeastMemory) + " bytes (8 MiB)",
         static_cast<double>(c.memory_limit));
  expect(c.endgame_solver_empties >= 0 && c.endgame_solver_empties <= 64, "endgame_solver_empties",
         "0 .. 64", c.endgame_solver_empties);
  expect(c.gumbel_actions >= 1 && c.gumbel_actions <= kMaxActions, "gumbel_actions",
         "1 .. " + std::to_string(kMaxActions), c.gumbel_actions);
  expect(not_negative(c.gumbel_c_visit), "gumbel_c_visit", "a number >= 0", c.gumbel_c_visit);
  expect(not_negative(c.gumbel_c_scale), "gumbel_c_scale", "a number >= 0", c.gumbel_c_scale);
}

int max_in_flight(const SearchConfig& config) noexcept {
  return config.in_flight > 0 ? config.in_flight : 2 * config.batch_size;
}

int num_workers(const SearchConfig& config) noexcept {
  return config.threads > 0 ? config.threads : usable_cores();
}

}  // namespace pyengine
