/// Playouts of 8x8 Othello for this processor's instruction set.
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "games/game.h"

namespace pyengine::othello {

/// A playout in which player `mover`, who has the discs `own`, is to move.
using PlayOut = Playout (*)(std::uint64_t own, std::uint64_t other, unsigned mover,
                            Rng& rng) noexcept;

/// With AVX2; nullptr if the processor or the build lacks it. Draws the same moves as the portable
/// version.
[[nodiscard]] PlayOut avx2_playout() noexcept;

}  // namespace pyengine::othello
