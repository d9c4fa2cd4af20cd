/// A position of Othello on 8x8 as the solver sees it.
#pragma once

#include <cstdint>

namespace pyengine::othello {

/// Bit 8 * row + column from the top left; the discs of the player to move and of the other one.
struct Board {
  std::uint64_t own = 0;
  std::uint64_t other = 0;
  friend bool operator==(const Board&, const Board&) = default;
};

inline constexpr int kMostDiscs = 64;

}  // namespace pyengine::othello
