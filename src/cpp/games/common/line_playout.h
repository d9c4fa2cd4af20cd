/// Uniform playouts for k-in-a-row games.
#pragma once

#include "base/rng.h"
#include "base/types.h"
#include "games/common/placement.h"
#include "games/game.h"

namespace pyengine {

/// Plays the empty points in random order until there is a winning row or the board is full;
/// equivalent to uniform moves if every empty point is legal. `board` must not be terminal.
Playout line_playout(const PlacementBoard& board, WinningLength length, Rng& rng) noexcept;

}  // namespace pyengine
