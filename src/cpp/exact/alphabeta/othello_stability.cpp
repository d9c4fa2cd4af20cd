#include "exact/alphabeta/othello_stability.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pyengine::othello {
namespace {

using Byte = std::uint8_t;

/// The sum of 3^i over the set bits i of a byte.
constexpr std::array<std::uint16_t, 256> kTernary = [] {
  std::array<std::uint16_t, 256> sums{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::uint16_t power = 1;
    for (unsigned bit = 0; bit < 8; ++bit, power = static_cast<std::uint16_t>(3 * power)) {
      if (((byte >> bit) & 1U) != 0) sums[byte] = static_cast<std::uint16_t>(sums[byte] + power);
    }
  }
  return sums;
}();

constexpr std::size_t place_of(unsigned own, unsigned other) noexcept {
  return kTernary[own] + 2U * kTernary[other];
}

/// Discs of `other` between `point` and a disc of `own` on a line of eight.
unsigned flips_on_edge(int point, unsigned own, unsigned other) noexcept {
  unsigned flips = 0;
  for (const int step : {1, -1}) {
    unsigned run = 0;
    int at = point + step;
    for (; at >= 0 && at < 8 && ((other >> at) & 1U) != 0; at += step) run |= 1U << at;
    if (at >= 0 && at < 8 && ((own >> at) & 1U) != 0) flips |= run;
  }
  return flips;
}

/// For every edge configuration, the own discs that no sequence of discs placed on the edge can
/// flip. Discs inside the board do not flip any on the edge; either player may be able to place a
/// disc on an edge point, since it may flip discs inside the board.
class Edges {
 public:
  Edges() noexcept {
    known_.fill(false);
    for (unsigned own = 0; own < 256; ++own) {
      for (unsigned other = 0; other < 256; ++other) {
        if ((own & other) == 0) find(own, other);
      }
    }
  }
  [[nodiscard]] std::uint64_t stable(unsigned own, unsigned other) const noexcept {
    return stable_[place_of(own, other)];
  }

 private:
  static constexpr std::size_t kEdges = 6561;  // 3^8

  unsigned find(unsigned own, unsigned other) noexcept {
    const std::size_t place = place_of(own, other);
    if (known_[place]) return stable_[place];
    unsigned stable = own;
    for (int point = 0; point < 8 && stable != 0; ++point) {
      const unsigned disc = 1U << point;
      if (((own | other) & disc) != 0) continue;
      const unsigned won = flips_on_edge(point, own, other);
      stable &= find(own | disc | won, other & ~won);
      const unsigned lost = flips_on_edge(point, other, own);
      stable &= find(own & ~lost, other | disc | lost);
    }
    stable_[place] = static_cast<Byte>(stable);
    known_[place] = true;
    return stable;
  }

  std::array<Byte, kEdges> stable_{};
  std::array<bool, kEdges> known_{};
};
const Edges kEdges;

constexpr std::uint64_t kColumnA = 0x0101010101010101U;

/// Bit r of the result is bit 8 r of `column`.
constexpr unsigned packed(std::uint64_t column) noexcept {
  return static_cast<unsigned>(((column & kColumnA) * 0x0102040810204080U) >> 56);
}
constexpr std::uint64_t unpacked(std::uint64_t bits) noexcept {
  return (((bits & 0x7FU) * 0x0002040810204081U) & kColumnA) | (bits & 0x80U) << 49;
}

std::uint64_t stable_on_edges(std::uint64_t own, std::uint64_t other) noexcept {
  const auto row = [](std::uint64_t board, int shift) {
    return static_cast<unsigned>(board >> shift) & 0xFFU;
  };
  return kEdges.stable(row(own, 0), row(other, 0)) |
      kEdges.stable(row(own, 56), row(other, 56)) << 56 |
      unpacked(kEdges.stable(packed(own), packed(other))) |
      unpacked(kEdges.stable(packed(own >> 7), packed(other >> 7))) << 7;
}

/// Points whose whole line in one direction is full.
struct FullLines {
  std::uint64_t rows, columns, falling, rising;
};

std::uint64_t full_rows(std::uint64_t discs) noexcept {
  discs &= discs >> 4;
  discs &= discs >> 2;
  discs &= discs >> 1;
  return (discs & kColumnA) * 0xFFU;
}

std::uint64_t full_columns(std::uint64_t discs) noexcept {
  discs &= std::rotr(discs, 8);
  discs &= std::rotr(discs, 16);
  return discs & std::rotr(discs, 32);
}

constexpr std::uint64_t kLeft4 = 0x0F0F0F0F0F0F0F0FU, kLeft2 = 0x0303030303030303U;
constexpr std::uint64_t kRight4 = ~kLeft4, kRight2 = 0xC0C0C0C0C0C0C0C0U;
constexpr std::uint64_t kTop4 = 0x00000000FFFFFFFFU, kTop2 = 0x000000000000FFFFU;
constexpr std::uint64_t kBottom4 = ~kTop4, kBottom2 = 0xFFFF000000000000U;
constexpr std::uint64_t kLeft1 = kColumnA, kRight1 = kColumnA << 7;
constexpr std::uint64_t kTop1 = 0xFFU, kBottom1 = std::uint64_t{0xFF} << 56;

/// Points off the board one, two or four steps away count as full.
std::uint64_t full_falling(std::uint64_t discs) noexcept {
  std::uint64_t up = discs & ((discs >> 9) | kRight1 | kBottom1);
  std::uint64_t down = discs & ((discs << 9) | kLeft1 | kTop1);
  up &= (up >> 18) | kRight2 | kBottom2;
  down &= (down << 18) | kLeft2 | kTop2;
  return up & ((up >> 36) | kRight4 | kBottom4) & down & ((down << 36) | kLeft4 | kTop4);
}

std::uint64_t full_rising(std::uint64_t discs) noexcept {
  std::uint64_t up = discs & ((discs >> 7) | kLeft1 | kBottom1);
  std::uint64_t down = discs & ((discs << 7) | kRight1 | kTop1);
  up &= (up >> 14) | kLeft2 | kBottom2;
  down &= (down << 14) | kRight2 | kTop2;
  return up & ((up >> 28) | kLeft4 | kBottom4) & down & ((down << 28) | kRight4 | kTop4);
}

/// Adds the inner discs that have, in each direction, a full line or a stable neighbour.
std::uint64_t spread(std::uint64_t stable, std::uint64_t inner, const FullLines& full) noexcept {
  for (;;) {
    const std::uint64_t more = inner & (full.rows | stable << 1 | stable >> 1) &
        (full.columns | stable << 8 | stable >> 8) & (full.falling | stable << 9 | stable >> 9) &
        (full.rising | stable << 7 | stable >> 7) & ~stable;
    if (more == 0) return stable;
    stable |= more;
  }
}

}  // namespace

std::uint64_t stable_discs(std::uint64_t own, std::uint64_t other) noexcept {
  constexpr std::uint64_t kInner = 0x007E7E7E7E7E7E00U;
  const std::uint64_t discs = own | other;
  const FullLines full{full_rows(discs), full_columns(discs), full_falling(discs),
                       full_rising(discs)};
  return spread(stable_on_edges(own, other), own & kInner, full);
}

}  // namespace pyengine::othello
