/// The settings of self-play.
#pragma once

#include <cstdint>
#include <optional>

#include "games/any/any_game.h"
#include "search/config.h"

namespace pyengine {

inline constexpr int kMostPlies = 65'535;  ///< limit of the records
inline constexpr int kMostGamesAtOnce = 65'535;

/// The meaning and the accepted values of each field: config_fields.h.
struct SelfPlayConfig {
  SearchConfig search;  ///< full searches; after settle() with `simulations` but not `seconds`
  bool noise = true;
  std::optional<int> concurrent_games;
  int temperature_moves = 30;  ///< plies
  std::optional<double> resign_threshold = -0.9;
  double resign_off_fraction = 0.1;
  double resign_false_positives = 0.05;
  std::optional<double> soft_resign_weight;
  double full_search_fraction = 1.0;
  std::uint64_t fast_simulations = 100;
  bool clear_before_full = false;
  double forced_playouts = 0.0;
  bool record_surprise = false;
  std::uint64_t minimum_target_visits = 16;
  std::optional<int> max_plies;
  double opening_fraction = 1.0;
  int opening_random_moves = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const SelfPlayConfig&, const SelfPlayConfig&) = default;
};

/// Throws ConfigError naming the first invalid field.
void validate(const SelfPlayConfig& config);
/// Sets self-play's defaults for the search, which make games differ, and validates.
void settle(SelfPlayConfig& config);

[[nodiscard]] int games_at_once(const SelfPlayConfig& config) noexcept;
/// Chooses concurrent_games and search.batch_size for a device that serves this number of batches
/// concurrently; 0 = no device.
[[nodiscard]] SelfPlayConfig sized(SelfPlayConfig config, int device_batches);

/// Presets.
[[nodiscard]] SelfPlayConfig alphago_zero_config(const AnyGame& game);
[[nodiscard]] SelfPlayConfig fast_config(const AnyGame& game);
[[nodiscard]] SelfPlayConfig gumbel_config(const AnyGame& game);

}  // namespace pyengine
