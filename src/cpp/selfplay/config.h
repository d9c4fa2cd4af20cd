/// The settings of self-play.
#pragma once

#include <cstdint>
#include <optional>

#include "games/any/any_game.h"
#include "search/config.h"

namespace pyengine {

inline constexpr int kMostPlies = 65'535;  ///< of a game, as records count them
inline constexpr int kMostGamesAtOnce = 65'535;

/// What each field means and which values fit: config_fields.h.
struct SelfPlayConfig {
  SearchConfig search;  ///< of full searches; `simulations` must be set and `seconds` not
  bool noise = true;
  std::optional<int> concurrent_games;
  int temperature_moves = 30;  ///< plies
  std::optional<double> resign_threshold = -0.9;
  double resign_off_fraction = 0.1;
  double resign_false_positives = 0.05;
  double full_search_fraction = 1.0;
  std::uint64_t fast_simulations = 100;
  bool clear_before_full = false;
  double forced_playouts = 0.0;
  bool record_surprise = false;
  std::uint64_t minimum_target_visits = 16;
  std::optional<int> max_plies;
  int opening_random_moves = 0;
  std::uint64_t seed = 0;

  friend bool operator==(const SelfPlayConfig&, const SelfPlayConfig&) = default;
};

/// Throws ConfigError naming the first field that is out of range.
void validate(const SelfPlayConfig& config);
/// Gives the search self-play's defaults, without which all games would be equal, and validates.
void settle(SelfPlayConfig& config);

[[nodiscard]] int games_at_once(const SelfPlayConfig& config) noexcept;
/// The settings with games and rows of a batch chosen for an evaluator whose device serves so many
/// batches at once, 0 = it has none.
[[nodiscard]] SelfPlayConfig sized(SelfPlayConfig config, int device_batches);

/// Presets.
[[nodiscard]] SelfPlayConfig alphago_zero_config(const AnyGame& game);
[[nodiscard]] SelfPlayConfig fast_config(const AnyGame& game);
[[nodiscard]] SelfPlayConfig gumbel_config(const AnyGame& game);

}  // namespace pyengine
