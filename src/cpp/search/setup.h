/// What follows from a configuration before any search: shares of memory, sizes of batches.
#pragma once

#include <cstdint>

#include "eval/evaluator.h"
#include "games/any/state.h"
#include "search/config.h"

namespace pyengine {

/// Bytes of the memory limit that trees may take; the cache has the rest. `cache_held`: what a
/// cache has already, whatever `config` says of caches.
[[nodiscard]] std::uint64_t tree_bytes(const SearchConfig& config,
                                       std::uint64_t cache_held = 0) noexcept;
/// Units of the pieces that trees with a share of their own take: the largest block of the game
/// fits.
[[nodiscard]] std::uint32_t share_units(const AnyGame& game) noexcept;
[[nodiscard]] BindOptions bind_options(const SearchConfig& config);
/// Rows of a batch: all symmetries of one leaf fit.
[[nodiscard]] int batch_rows(const SearchConfig& config, const AnyGame& game,
                             const EvaluatorTraits& traits);
/// Throws ConfigError where endings are to be solved in a game that does not fill up.
void check_endings(const SearchConfig& config, const State& state);
/// Whether a user's own code plays the game: on the thread that called alone.
[[nodiscard]] bool is_foreign(const State& state);
/// Of two states of a user's game: see ForeignPosition::resembles().
[[nodiscard]] bool resembles(const State& a, const State& b);

}  // namespace pyengine
