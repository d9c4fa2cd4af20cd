/// Precomputed tables for the 64 points of an 8x8 board.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "games/othello_rays.h"

namespace pyengine::othello {

/// The diagonals through a point.
struct Diagonals {
  std::uint64_t falling = 0;
  std::uint64_t rising = 0;
};

struct PointTables {
  std::array<Diagonals, 64> diagonals{};
  std::array<std::uint64_t, 64> neighbours{};

  consteval PointTables() {
    for (std::size_t point = 0; point < 64; ++point) {
      const Rays& from = kRays[point];
      diagonals[point] = {.falling = from.up[3] | from.down[3],
                          .rising = from.up[2] | from.down[2]};
      // The nearest point of a ray is its lowest bit upwards and its highest bit downwards.
      for (std::size_t d = 0; d < 4; ++d) {
        neighbours[point] |= from.up[d] & (~from.up[d] + 1);
        neighbours[point] |= std::bit_floor(from.down[d]);
      }
    }
  }
};
inline constexpr PointTables kPoints{};

/// For the last empty point of a line of eight: twice the number of discs that a disc there flips,
/// by position of the point and set of the player's discs in the line.
struct LastFlips {
  std::array<std::array<std::uint8_t, 256>, 8> flips{};

  consteval LastFlips() {
    for (int place = 0; place < 8; ++place) {
      for (int own = 0; own < 256; ++own) {
        flips[static_cast<std::size_t>(place)][static_cast<std::size_t>(own)] =
            static_cast<std::uint8_t>(2 * (run(place, own, 1) + run(place, own, -1)));
      }
    }
  }

 private:
  static consteval int run(int place, int own, int direction) {
    int length = 0;
    for (int at = place + direction; at >= 0 && at < 8; at += direction, ++length) {
      if (((own >> at) & 1) != 0) return length;
    }
    return 0;
  }
};
inline constexpr LastFlips kLastFlips{};

/// The factor for a column of the board at bits 8 r: the top byte of the product is the column.
inline constexpr std::uint64_t kColumnToByte = 0x0102040810204080U;

inline constexpr std::uint64_t kCorners = 0x8100000000000081U;
/// The points diagonal to the corners.
inline constexpr std::uint64_t kXPoints = 0x0042000000004200U;

/// Regions whose parity determines who moves last in them: the four quadrants of the board.
inline constexpr std::array<std::uint64_t, 4> kQuarters = {
    0x000000000F0F0F0FU, 0x00000000F0F0F0F0U, 0x0F0F0F0F00000000U, 0xF0F0F0F000000000U};

/// The union of the quadrants in the bits of the index.
inline constexpr std::array<std::uint64_t, 16> kQuarterSets = [] {
  std::array<std::uint64_t, 16> sets{};
  for (std::size_t set = 0; set < 16; ++set) {
    for (std::size_t q = 0; q < 4; ++q) {
      if (((set >> q) & 1U) != 0) sets[set] |= kQuarters[q];
    }
  }
  return sets;
}();

/// The quadrant of a point, as a bit.
inline constexpr std::array<std::uint8_t, 64> kQuarterOf = [] {
  std::array<std::uint8_t, 64> quarter_of{};
  for (std::size_t point = 0; point < 64; ++point) {
    for (std::size_t q = 0; q < 4; ++q) {
      if (((kQuarters[q] >> point) & 1U) != 0) {
        quarter_of[point] = static_cast<std::uint8_t>(1U << q);
      }
    }
  }
  return quarter_of;
}();

}  // namespace pyengine::othello
