/// Bit operations without the popcnt instruction: a portable build would call a function for
/// std::popcount.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pyengine {

/// For each byte value: the positions of its set bits and their count.
struct ByteBits {
  std::array<std::array<std::uint16_t, 8>, 256> positions{};
  std::array<std::uint8_t, 256> counts{};

  consteval ByteBits() {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        if (((byte >> bit) & 1U) == 0) continue;
        positions[byte][counts[byte]++] = static_cast<std::uint16_t>(bit);
      }
    }
  }
};
inline constexpr ByteBits kByteBits{};

inline constexpr std::uint64_t kEveryByte = 0x0101010101010101U;

/// Byte i of the result is the number of set bits in bytes 0..i of x.
[[nodiscard]] constexpr std::uint64_t bits_below(std::uint64_t x) noexcept {
  x -= (x >> 1) & 0x5555555555555555U;
  x = (x & 0x3333333333333333U) + ((x >> 2) & 0x3333333333333333U);
  return ((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0FU) * kEveryByte;
}

[[nodiscard]] constexpr int count_bits(std::uint64_t x) noexcept {
  return static_cast<int>(bits_below(x) >> 56);
}

/// The position of the set bit of x with the given rank; `sums` = bits_below(x), 0 <= rank <
/// count_bits(x).
[[nodiscard]] constexpr unsigned nth_bit(std::uint64_t x, unsigned rank,
                                         std::uint64_t sums) noexcept {
  // Bytes whose sum is <= rank precede the byte; bit 7 of each byte of `passed` marks them.
  const std::uint64_t passed = ((rank * kEveryByte | kEveryByte << 7) - sums) & kEveryByte << 7;
  const unsigned shift = static_cast<unsigned>(((passed >> 7) * kEveryByte) >> 56) * 8;
  const auto before = static_cast<unsigned>((sums << 8 >> shift) & 0xFFU);
  const auto byte = static_cast<unsigned>((x >> shift) & 0xFFU);
  return shift + kByteBits.positions[byte][rank - before];
}

/// The same for an array of words: bit 64 w + i is bit i of word w.
[[nodiscard]] constexpr unsigned nth_bit(const std::uint64_t* words, unsigned rank) noexcept {
  unsigned w = 0;
  std::uint64_t sums = bits_below(words[0]);
  for (; rank >= sums >> 56; sums = bits_below(words[w])) {
    rank -= static_cast<unsigned>(sums >> 56);
    ++w;
  }
  return 64 * w + nth_bit(words[w], rank, sums);
}

}  // namespace pyengine
