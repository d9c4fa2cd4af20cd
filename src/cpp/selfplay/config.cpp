#include "selfplay/config.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/error.h"
#include "base/fields.h"
#include "selfplay/config_fields.h"

namespace pyengine {
namespace {

constexpr int kGames = 64;
constexpr double kDirichletFraction = 0.25;  // [AlphaGo Zero]
constexpr double kTemperature = 1.0;         // first moves [AlphaGo Zero]
constexpr int kDeviceRows = 128;             // per batch; small networks get faster up to 256
constexpr int kMostDeviceRows = 256;
const int kDefaultRows = SearchConfig{}.batch_size;

/// Number of plies with sampled moves.
int opening_of(const AnyGame& game) {
  return static_cast<int>(std::clamp<long long>(game.shape().max_game_length / 4, 4, 30));
}

SelfPlayConfig settled(SelfPlayConfig config) {
  settle(config);
  return config;
}

}  // namespace

void validate(const SelfPlayConfig& config) {
  validate(config.search);
  if (!config.search.simulations || config.search.seconds) {
    throw ConfigError("search: expected a budget in simulations, without seconds");
  }
  if (config.search.deterministic) {
    throw ConfigError("search: deterministic=True does not work for games that share batches");
  }
  if (config.search.stop_when_decided) {
    throw ConfigError("search: stop_when_decided=True would leave the policy targets unfinished");
  }
  if (config.search.draw_value != 0.0) {
    throw ConfigError("search: draw_value=" + number_text(config.search.draw_value) +
                      " would change the training targets");
  }
  check_fields(config);
  if (config.forced_playouts != 0.0 && config.search.algorithm != Algorithm::puct) {
    throw ConfigError(refusal("forced_playouts", "0 unless algorithm is puct",
                              number_text(config.forced_playouts)));
  }
  if (config.soft_resign_weight && config.fast_simulations > *config.search.simulations) {
    throw ConfigError(refusal("fast_simulations",
                              "at most the search's simulations, " +
                                  number_text(*config.search.simulations) +
                                  ", with soft_resign_weight",
                              number_text(config.fast_simulations)));
  }
  const int most_plies = config.max_plies.value_or(kMostPlies);
  if (config.opening_random_moves >= most_plies) {
    throw ConfigError(refusal("opening_random_moves",
                              "an int below max_plies, " + number_text(most_plies),
                              number_text(config.opening_random_moves)));
  }
}

void settle(SelfPlayConfig& config) {
  SearchConfig& search = config.search;
  if (!search.simulations && !search.seconds) search.simulations = kDefaultSimulations;
  if (search.algorithm == Algorithm::gumbel) {
    search.gumbel_noise = search.gumbel_noise && config.noise;
  } else {
    if (search.dirichlet_fraction == 0.0) search.dirichlet_fraction = kDirichletFraction;
    if (search.temperature == 0.0) search.temperature = kTemperature;
  }
  if (!config.noise) search.dirichlet_fraction = 0.0;
  validate(config);
}

int games_at_once(const SelfPlayConfig& config) noexcept {
  return config.concurrent_games.value_or(kGames);
}

SelfPlayConfig sized(SelfPlayConfig config, int device_batches) {
  if (device_batches > 0) {
    // The batches on the device, as many waiting for it, one being decoded and one being filled.
    // With one game per row, no tree has two leaves in flight.
    const int under_way = 2 * device_batches + 2;
    int& rows = config.search.batch_size;
    if (rows == kDefaultRows) {
      const int fitting =
          config.concurrent_games ? std::max(1, *config.concurrent_games / under_way) : kDeviceRows;
      const auto power = std::bit_floor(static_cast<unsigned>(fitting));
      rows = std::clamp(static_cast<int>(power), kDefaultRows, kMostDeviceRows);
    }
    const long long fitting = std::max<long long>(kGames, 1LL * under_way * rows);
    if (!config.concurrent_games) {
      config.concurrent_games = static_cast<int>(std::min<long long>(kMostGamesAtOnce, fitting));
    }
  }
  config.concurrent_games = games_at_once(config);
  return config;
}

SelfPlayConfig alphago_zero_config(const AnyGame& game) {
  SelfPlayConfig config;
  config.search.simulations = 1600;
  config.search.c_puct_base = std::nullopt;
  config.search.fpu = FirstPlay::value;
  config.search.fpu_value = 0.0;
  config.search.solver = false;
  const bool is_large_go =
      game.name() == "go" && game.shape().rows == 19 && game.shape().columns == 19;
  if (is_large_go) config.search.dirichlet_alpha = 0.03;
  return settled(config);
}

SelfPlayConfig fast_config(const AnyGame& game) {
  SelfPlayConfig config;
  config.search.simulations = 600;
  config.temperature_moves = opening_of(game);
  config.full_search_fraction = 0.25;
  config.forced_playouts = 2.0;
  config.opening_random_moves = 4;
  return settled(config);
}

SelfPlayConfig gumbel_config(const AnyGame& game) {
  SelfPlayConfig config;
  config.search.algorithm = Algorithm::gumbel;
  config.search.simulations = 32;
  config.temperature_moves = opening_of(game);
  config.opening_random_moves = 4;
  return settled(config);
}

}  // namespace pyengine
