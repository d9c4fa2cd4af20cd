/// What stands around a point of Go in one number, and what a playout asks of it.
#pragma once

#include <cstdint>

namespace pyengine {

/// The eight neighbours of a place, two bits each: 0 = empty, 1 and 2 = a stone of the first and of
/// the second player (its colour), 3 = border. Bits 0-7: above, left, right, below. Bits 8-15:
/// above left, above right, below left, below right. Bits 16 and 17: the colours of which stones
/// were taken off the place itself.
using GoNear = std::uint32_t;

namespace go_near {

inline constexpr unsigned kBorder = 3;
inline constexpr unsigned kTaken = 16;   ///< first bit of the colours taken off
inline constexpr unsigned kEach = 0x55;  ///< the low bit of four neighbours

[[nodiscard]] constexpr unsigned other(unsigned colour) noexcept { return colour ^ 3U; }

// Of the four neighbours beside the place. Sets of them have a bit where kEach has one.

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

/// Whether the place is an eye of the colour: all beside it are its stones or border, and at most
/// one stone of the other colour is diagonal to it, none at the edge.
[[nodiscard]] constexpr bool is_eye(unsigned near, unsigned colour) noexcept {
  const unsigned sides = kEach * colour;
  if ((near & sides) != sides) return false;
  const unsigned hostile = stones(near >> 8, other(colour));
  const unsigned allowed = borders(near) == 0 ? 1 : 0;
  return (hostile & (hostile - allowed)) == 0;
}

}  // namespace go_near
}  // namespace pyengine
