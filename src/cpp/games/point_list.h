/// Sets of points as ascending lists of actions.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/types.h"

namespace pyengine {

/// Replaces `moves` by the points of a small set; `bits` of one word.
inline void list_bits(std::uint64_t bits, ActionList& moves) noexcept {
  moves.clear();
  ActionId* const start = moves.extend(64);
  ActionId* out = start;
  for (; bits != 0; bits &= bits - 1) *out++ = static_cast<ActionId>(std::countr_zero(bits));
  moves.truncate(static_cast<int>(out - start));
}

/// For each byte: the numbers of its bits, and how many there are.
struct ByteBits {
  std::array<std::array<ActionId, 8>, 256> index{};
  std::array<std::uint8_t, 256> count{};
};

consteval ByteBits make_byte_bits() {
  ByteBits table;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      if (((byte >> bit) & 1U) == 0) continue;
      table.index[byte][table.count[byte]++] = static_cast<ActionId>(bit);
    }
  }
  return table;
}

inline constexpr ByteBits kByteBits = make_byte_bits();

/// Replaces `moves` by the points of a large and mostly full set, eight points a step: each step
/// stores eight actions and keeps as many as the byte has bits. `points` = size of the board.
inline void list_points(const BoardBits& set, int points, ActionList& moves) noexcept {
  moves.clear();
  ActionId* const start = moves.extend(points + 8);
  ActionId* out = start;
  for (int base = 0; base < points; base += 8) {
    const std::uint64_t word = set.words[static_cast<unsigned>(base) / 64];
    const auto byte = static_cast<std::uint8_t>(word >> (static_cast<unsigned>(base) % 64));
    std::array<ActionId, 8> eight = kByteBits.index[byte];
    for (ActionId& action : eight) action = static_cast<ActionId>(action + base);
    std::memcpy(out, eight.data(), sizeof eight);
    out += kByteBits.count[byte];
  }
  moves.truncate(static_cast<int>(out - start));
}

}  // namespace pyengine
