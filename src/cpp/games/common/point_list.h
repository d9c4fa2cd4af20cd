/// Sets of points as ascending lists of actions.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/bits.h"
#include "base/types.h"

namespace pyengine {

/// Replaces `moves` by the points of a small set; `bits` holds one word.
inline void list_bits(std::uint64_t bits, ActionList& moves) {
  moves.clear();
  ActionId* const start = moves.extend(64);
  ActionId* out = start;
  for (; bits != 0; bits &= bits - 1) *out++ = static_cast<ActionId>(std::countr_zero(bits));
  moves.truncate(static_cast<int>(out - start));
}

/// Replaces `moves` by the points of a large, mostly full set, eight points per step: each step
/// stores eight actions and advances by the number of set bits. `points` = board size.
inline void list_points(const BoardBits& set, int points, ActionList& moves) {
  moves.clear();
  ActionId* const start = moves.extend(points + 8);
  ActionId* out = start;
  for (int base = 0; base < points; base += 8) {
    const std::uint64_t word = set.words[static_cast<unsigned>(base) / 64];
    const auto byte = static_cast<std::uint8_t>(word >> (static_cast<unsigned>(base) % 64));
    std::array<ActionId, 8> eight = kByteBits.positions[byte];
    for (ActionId& action : eight) action = static_cast<ActionId>(action + base);
    std::memcpy(out, eight.data(), sizeof eight);
    out += kByteBits.counts[byte];
  }
  moves.truncate(static_cast<int>(out - start));
}

}  // namespace pyengine
