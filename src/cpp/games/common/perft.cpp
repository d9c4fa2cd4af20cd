#include "games/common/perft.h"

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace pyengine {
namespace {

/// One reusable position and action list per depth.
struct Level {
  std::unique_ptr<AnyPosition> position;
  ActionList moves;
};

std::uint64_t count(std::vector<Level>& levels, std::size_t depth, PerftEnds ends) {
  Level& level = levels[depth];
  if (depth == 0) return 1;
  if (level.position->outcome().has_value()) return ends == PerftEnds::count ? 1 : 0;
  level.position->legal_actions(level.moves);
  level.position->rethrow_if_failed();
  // The last ply is counted without being played.
  if (depth == 1) return static_cast<std::uint64_t>(level.moves.size());
  std::uint64_t total = 0;
  for (const ActionId action : level.moves) {
    AnyPosition& next = *levels[depth - 1].position;
    next.assign(*level.position);
    next.play(action);
    next.rethrow_if_failed();
    total += count(levels, depth - 1, ends);
  }
  return total;
}

}  // namespace

std::uint64_t perft(const AnyPosition& position, int depth, PerftEnds ends) {
  if (depth < 0 || depth > 64) {
    throw ConfigError("perft: depth must be in 0..64, got " + std::to_string(depth));
  }
  std::vector<Level> levels(static_cast<std::size_t>(depth) + 1);
  for (Level& level : levels) level.position = position.clone();
  return count(levels, levels.size() - 1, ends);
}

}  // namespace pyengine
