/// Sets of Go points as bits, with the few operations that the rules need at full speed.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/types.h"

namespace pyengine {

/// For each byte: how many bits it has, and their positions as 16-bit numbers.
struct ByteExpansion {
  std::array<std::array<std::uint16_t, 8>, 256> positions{};
  std::array<std::uint8_t, 256> counts{};

  constexpr ByteExpansion() {
    for (unsigned byte = 0; byte < 256; ++byte) {
      unsigned count = 0;
      for (unsigned bit = 0; bit < 8; ++bit) {
        if ((byte >> bit) & 1U) positions[byte][count++] = static_cast<std::uint16_t>(bit);
      }
      counts[byte] = static_cast<std::uint8_t>(count);
    }
  }
};
inline constexpr ByteExpansion kByteExpansion{};

/// BoardBits cut to the words that a board size needs: bit p = row * columns + column.
template <int Words>
struct PointSet {
  std::array<std::uint64_t, Words> words{};

  [[nodiscard]] bool test(unsigned point) const noexcept {
    return ((words[point / 64] >> (point % 64)) & 1U) != 0;
  }
  void set(unsigned point) noexcept { words[point / 64] |= std::uint64_t{1} << (point % 64); }
  void reset(unsigned point) noexcept { words[point / 64] &= ~(std::uint64_t{1} << (point % 64)); }
  [[nodiscard]] bool any() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    return all != 0;
  }
  [[nodiscard]] int count() const noexcept {
    std::uint64_t total = 0;
    for (const std::uint64_t word : words) total += bits_below(word) >> 56;
    return static_cast<int>(total);
  }
  /// The member with `rank` smaller ones; 0 <= rank < count().
  [[nodiscard]] unsigned member(unsigned rank) const noexcept {
    unsigned w = 0;
    std::uint64_t sums = bits_below(words[0]);
    for (; rank >= sums >> 56; sums = bits_below(words[w])) {
      rank -= static_cast<unsigned>(sums >> 56);
      ++w;
    }
    // The byte: as many as have sums <= rank come before it. Bit 7 of a byte of `passed` says so.
    const std::uint64_t passed = ((rank * kOnes | kOnes << 7) - sums) & kOnes << 7;
    const unsigned shift = static_cast<unsigned>(((passed >> 7) * kOnes) >> 56) * 8;
    const auto before = static_cast<unsigned>((sums << 8 >> shift) & 0xFFU);
    const auto byte = static_cast<unsigned>((words[w] >> shift) & 0xFFU);
    return w * 64 + shift + kByteExpansion.positions[byte][rank - before];
  }
  /// Calls `visit(point)` for each point of the set, ascending.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (unsigned w = 0; w < Words; ++w) {
      for (std::uint64_t rest = words[w]; rest != 0; rest &= rest - 1) {
        visit(w * 64 + static_cast<unsigned>(std::countr_zero(rest)));
      }
    }
  }
  PointSet& operator|=(const PointSet& other) noexcept {
    for (unsigned w = 0; w < Words; ++w) words[w] |= other.words[w];
    return *this;
  }
  PointSet& operator&=(const PointSet& other) noexcept {
    for (unsigned w = 0; w < Words; ++w) words[w] &= other.words[w];
    return *this;
  }
  PointSet& operator-=(const PointSet& other) noexcept {
    for (unsigned w = 0; w < Words; ++w) words[w] &= ~other.words[w];
    return *this;
  }
  friend PointSet operator|(PointSet a, const PointSet& b) noexcept { return a |= b; }
  friend PointSet operator&(PointSet a, const PointSet& b) noexcept { return a &= b; }
  friend PointSet operator-(PointSet a, const PointSet& b) noexcept { return a -= b; }
  /// Word w of the set whose points are those of this one plus n, 0 <= n <= 62.
  [[nodiscard]] std::uint64_t word_plus(unsigned w, unsigned n) const noexcept {
    return (words[w] << n) | (w > 0 ? words[w - 1] >> 1 >> (63 - n) : 0);
  }
  /// The same minus n.
  [[nodiscard]] std::uint64_t word_minus(unsigned w, unsigned n) const noexcept {
    return (words[w] >> n) | (w + 1 < Words ? words[w + 1] << 1 << (63 - n) : 0);
  }
  friend bool operator==(const PointSet&, const PointSet&) = default;

  /// The set as callers outside Go see it.
  [[nodiscard]] BoardBits widened() const noexcept {
    BoardBits bits;
    for (unsigned w = 0; w < Words; ++w) bits.words[w] = words[w];
    return bits;
  }
  static PointSet of(const BoardBits& bits) noexcept {
    PointSet set;
    for (unsigned w = 0; w < Words; ++w) set.words[w] = bits.words[w];
    return set;
  }

 private:
  static constexpr std::uint64_t kOnes = 0x0101010101010101U;

  /// Byte i of the result: the bits of x in its bytes 0..i. Without the popcnt instruction,
  /// std::popcount would be a call.
  static std::uint64_t bits_below(std::uint64_t x) noexcept {
    x -= (x >> 1) & 0x5555555555555555U;
    x = (x & 0x3333333333333333U) + ((x >> 2) & 0x3333333333333333U);
    return ((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0FU) * kOnes;
  }
};

/// Writes the points of the set, ascending, to room for exactly `count` = set.count() of them.
/// Eight at a time from a table: a full board costs tens of nanoseconds instead of hundreds.
template <int Words>
void write_points(const PointSet<Words>& set, int count, ActionId* room) noexcept {
  ActionId* const end = room + count;
  std::uint64_t base = 0;  // four 16-bit lanes, each the first point of the byte
  for (unsigned w = 0; w < Words; ++w) {
    std::uint64_t rest = set.words[w];
    for (int i = 0; i < 8; ++i, rest >>= 8, base += 0x0008000800080008U) {
      const unsigned byte = rest & 0xFFU;
      std::uint64_t lanes[2];
      std::memcpy(lanes, kByteExpansion.positions[byte].data(), sizeof(lanes));
      lanes[0] += base;
      lanes[1] += base;
      if (end - room >= 8) {
        std::memcpy(room, lanes, sizeof(lanes));
      } else {
        std::memcpy(room, lanes, sizeof(ActionId) * kByteExpansion.counts[byte]);
      }
      room += kByteExpansion.counts[byte];
    }
  }
}

}  // namespace pyengine
