/// The surroundings of a Go point in one number, with the queries of playouts.
#pragma once

#include <cstdint>

namespace pyengine {

/// The eight neighbours of a place, two bits each: 0 = empty, 1 and 2 = a stone of the first or
/// second player (its colour), 3 = border. Bits 0-7: above, left, right, below. Bits 8-15: above
/// left, above right, below left, below right. Bits 16 and 17: the colours of stones that were
/// captured on the place itself.
using GoNear = std::uint32_t;

namespace go_near {

inline constexpr unsigned kBorder = 3;
inline constexpr unsigned kTaken = 16;   ///< first bit of the captured colours
inline constexpr unsigned kEach = 0x55;  ///< the low bits of four neighbours

[[nodiscard]] constexpr unsigned other(unsigned colour) noexcept { return colour ^ 3U; }

// Queries about the four adjacent neighbours. Sets of them use the bits of kEach.

[[nodiscard]] constexpr unsigned empties(unsigned near) noexcept {
  return ~(near | near >> 1) & kEach;
}
[[nodiscard]] constexpr unsigned borders(unsigned near) noexcept {
  return near & near >> 1 & kEach;
}
[[nodiscard]] constexpr unsigned stones(unsigned near, unsigned colour) noexcept {
  return borders(near ^ kEach * other(colour));
}
[[nodiscard]] constexpr unsigned count(unsigned set) noexcept {
  const unsigned pairs = (set + (set >> 2)) & 0x33U;
  return (pairs + (pairs >> 4)) & 7U;
}

/// Whether the place is an eye of the colour: all adjacent places are its stones or border, and at
/// most one opposing stone is diagonal to it, or none at the edge.
[[nodiscard]] constexpr bool is_eye(unsigned near, unsigned colour) noexcept {
  const unsigned sides = kEach * colour;
  if ((near & sides) != sides) return false;
  const unsigned hostile = stones(near >> 8, other(colour));
  const unsigned allowed = borders(near) == 0 ? 1 : 0;
  return (hostile & (hostile - allowed)) == 0;
}

}  // namespace go_near
}  // namespace pyengine
