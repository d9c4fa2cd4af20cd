/// Counts move sequences, the standard test of game rules.
#pragma once

#include <cstdint>

#include "games/any/any_game.h"

namespace pyengine {

enum class PerftEnds : std::uint8_t {
  count,  ///< a game that ends before `depth` is one leaf
  skip,   ///< only sequences of exactly `depth` plies are counted
};

/// Number of sequences of `depth` plies from `position`; a pass is a ply. Rethrows exceptions of a
/// user's game.
std::uint64_t perft(const AnyPosition& position, int depth, PerftEnds ends = PerftEnds::count);

}  // namespace pyengine
