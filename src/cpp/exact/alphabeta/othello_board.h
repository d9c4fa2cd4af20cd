/// The solver's representation of an 8x8 Othello position.
#pragma once

#include <cstdint>

namespace pyengine::othello {

/// Bit 8 * row + column from the top left; the discs of the player to move and of the opponent.
struct Board {
  std::uint64_t own = 0;
  std::uint64_t other = 0;
  friend bool operator==(const Board&, const Board&) = default;
};

inline constexpr int kMostDiscs = 64;

}  // namespace pyengine::othello
