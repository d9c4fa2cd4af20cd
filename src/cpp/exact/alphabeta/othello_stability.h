/// Discs that can never be flipped again: they bound the score.
#pragma once

#include <cstdint>

namespace pyengine::othello {

/// Discs of `own` that stay `own` whatever both players do: along full edges and full lines, and
/// those that such discs protect in all four directions. There may be more of them.
[[nodiscard]] std::uint64_t stable_discs(std::uint64_t own, std::uint64_t other) noexcept;

}  // namespace pyengine::othello
