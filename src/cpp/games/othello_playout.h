/// Playouts of Othello on 8x8 by the instructions of this processor.
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "games/game.h"

namespace pyengine::othello {

/// A playout where player `mover`, who has the discs `own`, is to move.
using PlayOut = Playout (*)(std::uint64_t own, std::uint64_t other, unsigned mover,
                            Rng& rng) noexcept;

/// With AVX2; nullptr where the processor or the build has none. Draws what the portable one draws.
[[nodiscard]] PlayOut avx2_playout() noexcept;

}  // namespace pyengine::othello
