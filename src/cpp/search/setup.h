/// Sizes derived from a configuration before a search: memory shares and batch rows.
#pragma once

#include <cstdint>

#include "eval/evaluator.h"
#include "games/any/state.h"
#include "search/config.h"
#include "search/tree/tree.h"

namespace pyengine {

/// Bytes of the memory limit available to trees; the cache has the rest. `cache_held`: bytes of an
/// existing cache, whatever `config` requests.
[[nodiscard]] std::uint64_t tree_bytes(const SearchConfig& config,
                                       std::uint64_t cache_held = 0) noexcept;
/// Size in units of the pieces that trees with a fixed memory share allocate; the game's largest
/// block fits into one.
[[nodiscard]] std::uint32_t share_units(const AnyGame& game) noexcept;
[[nodiscard]] BindOptions bind_options(const SearchConfig& config);
/// Rows of a batch: at least enough for all symmetries of one leaf.
[[nodiscard]] int batch_rows(const SearchConfig& config, const AnyGame& game,
                             const EvaluatorTraits& traits);
/// Throws ConfigError if the endgame solver is enabled for a game whose board does not fill up.
void check_endings(const SearchConfig& config, const State& state);
/// Throws ConfigError if a graph is requested for a game whose positions have no key.
void check_graph(const SearchConfig& config, const AnyGame& game);
/// Makes an empty tree a graph if the search is to share positions.
void prepare_tree(Tree& tree, const SearchConfig& config, const AnyGame& game);
/// Whether user code plays the game; it runs on the calling thread only.
[[nodiscard]] bool is_foreign(const State& state);
/// For two states of a user's game: see ForeignPosition::resembles().
[[nodiscard]] bool resembles(const State& a, const State& b);

}  // namespace pyengine
