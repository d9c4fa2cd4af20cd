/// Everything that can be set about self-play.
#pragma once

#include <cstdint>
#include <optional>

#include "search/config.h"

namespace pyengine {

/// Of a game, as records count them.
inline constexpr int kMostPlies = 65'535;

struct SelfPlayConfig {
  /// Of full searches: budget, noise, batch. `simulations` must be set and `seconds` not.
  /// `temperature` holds for the first `temperature_moves` plies; later it is 0. By Gumbel these
  /// plies are the samples that the noise makes; later the noise only explores.
  SearchConfig search;
  int concurrent_games = 64;   ///< 1..65535
  int temperature_moves = 30;  ///< plies, >= 0                      [AlphaGo Zero]

  /// A side resigns when the values of the root and of its most visited child are both below, in
  /// [-1, 1]. None: nobody resigns.
  std::optional<double> resign_threshold = -0.9;
  double resign_off_fraction = 0.1;      ///< of games played on, in [0, 1]  [AlphaGo Zero]
  double resign_false_positives = 0.05;  ///< share of the games played on that the threshold may
                                         ///< resign in vain; it falls until that holds; in [0, 1]

  double full_search_fraction = 1.0;     ///< of moves, in (0, 1]   [KataGo, playout cap]
  std::uint64_t fast_simulations = 100;  ///< of the others: no noise, no policy target; >= 1
  /// A full search begins from a cleared tree, so that all of its visits saw its noise [KataGo].
  bool clear_before_full = false;
  double forced_playouts = 0.0;  ///< k, in [0, 1e6]; 0 = none     [KataGo: 2]
  /// A full search to which the proof of a draw left fewer visits of good moves teaches all moves
  /// that draw in equal parts; at most the search's simulations count; >= 0.
  std::uint64_t minimum_target_visits = 16;
  /// A game that has so many plies and no end is cut short, in 1 .. 65535; none: 65535, since
  /// records count no further. It has no result, and is no lesson for the value.
  std::optional<int> max_plies;
  int opening_random_moves = 0;  ///< most random plies at the start, in 0 .. max_plies - 1
  std::uint64_t seed = 0;
};

/// Throws ConfigError naming the first field that is out of range.
void validate(const SelfPlayConfig& config);

}  // namespace pyengine
