/// Stable discs, which can never be flipped again and thus bound the score.
#pragma once

#include <cstdint>

namespace pyengine::othello {

/// Discs of `own` that cannot be flipped by any play: those on full edges and full lines, and those
/// protected by such discs in all four directions. The set may be incomplete.
[[nodiscard]] std::uint64_t stable_discs(std::uint64_t own, std::uint64_t other) noexcept;

}  // namespace pyengine::othello
