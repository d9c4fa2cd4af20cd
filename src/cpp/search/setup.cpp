#include "search/setup.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/memory.h"
#include "games/any/foreign.h"
#include "search/tree/node.h"

namespace pyengine {
namespace {

constexpr std::uint64_t kCacheShare = 4;  ///< the cache takes at most 1/4 of the memory limit

std::uint64_t cache_bytes(const SearchConfig& config) noexcept {
  return config.cache_entries == 0 ? 0 : config.memory_limit / kCacheShare;
}

}  // namespace

std::uint64_t tree_bytes(const SearchConfig& config, std::uint64_t cache_held) noexcept {
  const std::uint64_t cache = std::max(cache_bytes(config), cache_held);
  return config.memory_limit - std::min(cache, config.memory_limit);
}

std::uint32_t share_units(const AnyGame& game) noexcept {
  constexpr std::uint32_t kUsual = (64U << 10) / kUnitBytes;
  const bool usual = static_cast<std::uint32_t>(edge_units(game.shape().num_actions)) < kUsual;
  return usual ? kUsual : static_cast<std::uint32_t>(Arena::kMaxUnits);
}

BindOptions bind_options(const SearchConfig& config) {
  BindOptions options;
  options.max_batch = config.batch_size;
  options.workers = num_workers(config);
  options.cache_entries = config.cache_entries;
  options.cache_bytes = cache_bytes(config);
  options.seed = config.seed;
  return options;
}

int batch_rows(const SearchConfig& config, const AnyGame& game, const EvaluatorTraits& traits) {
  const bool all =
      config.symmetry == SymmetryMode::average || config.symmetry == SymmetryMode::root_average;
  const int symmetries = traits.under_symmetries && all ? game.symmetries().count() : 1;
  return std::max(config.batch_size, symmetries);
}

void check_endings(const SearchConfig& config, const State& state) {
  if (config.endgame_solver_empties == 0 || state.game()->traits().fills_up) return;
  throw ConfigError("endgame_solver_empties: expected 0 for " + state.game()->to_string() +
                    ", because its board does not fill up during a game, got " +
                    std::to_string(config.endgame_solver_empties));
}

void check_graph(const SearchConfig& config, const AnyGame& game) {
  if (config.graph.value_or(false) && !game.traits().has_transposition_key) {
    throw ConfigError("graph: expected False or None for " + game.to_string() +
                      ", because its positions have no transposition key, got True");
  }
  if (config.graph_history != 0 && !game.traits().has_stones) {
    throw ConfigError("graph_history: expected 0 for " + game.to_string() +
                      ", because its positions have no stones, got " +
                      std::to_string(config.graph_history));
  }
}

void prepare_tree(Tree& tree, const SearchConfig& config, const AnyGame& game) {
  if (!searches_graph(config, game.traits().graph_by_default)) return;
  tree.share_positions(!game.traits().key_forgets_history, config.graph_history);
}

bool is_foreign(const State& state) {
  return dynamic_cast<const PositionOf<ForeignPosition>*>(&state.position()) != nullptr;
}

bool resembles(const State& a, const State& b) {
  const auto* one = dynamic_cast<const PositionOf<ForeignPosition>*>(&a.position());
  const auto* other = dynamic_cast<const PositionOf<ForeignPosition>*>(&b.position());
  return one != nullptr && other != nullptr && one->value.resembles(other->value);
}

}  // namespace pyengine
