/// Uniform playouts of the games of rows of stones.
#pragma once

#include "base/rng.h"
#include "base/types.h"
#include "games/common/placement.h"
#include "games/game.h"

namespace pyengine {

/// Plays the empty points in a random order until a row has a winning length or the board is full;
/// equals uniform moves where every empty point is legal. The game is not over at `board`.
Playout line_playout(const PlacementBoard& board, WinningLength length, Rng& rng) noexcept;

}  // namespace pyengine
