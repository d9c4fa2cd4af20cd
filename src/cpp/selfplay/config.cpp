#include "selfplay/config.h"

#include <string>

#include "base/error.h"

namespace pyengine {
namespace {

template <class T>
void require(bool good, const char* field, const char* expected, T found) {
  if (good) return;
  throw ConfigError(std::string(field) + ": expected " + expected + ", found " +
                    std::to_string(found));
}

bool is_share(double x) noexcept { return x >= 0.0 && x <= 1.0; }

}  // namespace

void validate(const SelfPlayConfig& config) {
  validate(config.search);
  if (!config.search.simulations || config.search.seconds) {
    throw ConfigError("search: expected a budget of simulations and none of seconds");
  }
  if (config.search.deterministic) {
    throw ConfigError("search: deterministic=True is not for games that share batches");
  }
  require(config.concurrent_games >= 1 && config.concurrent_games <= 65535, "concurrent_games",
          "1 .. 65535", config.concurrent_games);
  require(config.temperature_moves >= 0, "temperature_moves", ">= 0", config.temperature_moves);
  if (config.resign_threshold) {
    const double threshold = *config.resign_threshold;
    require(threshold >= -1.0 && threshold <= 1.0, "resign_threshold", "-1 .. 1", threshold);
  }
  require(is_share(config.resign_off_fraction), "resign_off_fraction", "0 .. 1",
          config.resign_off_fraction);
  require(is_share(config.resign_false_positives), "resign_false_positives", "0 .. 1",
          config.resign_false_positives);
  require(config.full_search_fraction > 0.0 && config.full_search_fraction <= 1.0,
          "full_search_fraction", "a number in (0, 1]", config.full_search_fraction);
  require(config.fast_simulations >= 1, "fast_simulations", ">= 1", config.fast_simulations);
  require(config.forced_playouts >= 0.0 && config.forced_playouts <= 1e6, "forced_playouts",
          "0 .. 1000000", config.forced_playouts);
  require(config.forced_playouts == 0.0 || config.search.algorithm == Algorithm::puct,
          "forced_playouts", "0 where algorithm is not puct", config.forced_playouts);
  require(config.opening_random_moves >= 0, "opening_random_moves", ">= 0",
          config.opening_random_moves);
  if (config.max_plies) {
    require(*config.max_plies >= 1 && *config.max_plies <= kMostPlies, "max_plies", "1 .. 65535",
            *config.max_plies);
  }
  require(config.opening_random_moves < config.max_plies.value_or(kMostPlies),
          "opening_random_moves",
          config.max_plies ? "fewer than max_plies" : "fewer than 65535, as games have plies",
          config.opening_random_moves);
}

}  // namespace pyengine
