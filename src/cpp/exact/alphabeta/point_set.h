/// Sets of board points as bits of one or more words.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "base/bits.h"

namespace pyengine::alphabeta {

template <std::size_t kWords>
struct PointSet {
  std::array<std::uint64_t, kWords> words{};

  static constexpr int kBits = static_cast<int>(64 * kWords);
  [[nodiscard]] static constexpr PointSet of(int bit) noexcept {
    PointSet set;
    set.words[static_cast<std::size_t>(bit) / 64] = std::uint64_t{1} << (bit % 64);
    return set;
  }

  [[nodiscard]] constexpr bool any() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    return all != 0;
  }
  [[nodiscard]] constexpr int count() const noexcept {
    int sum = 0;
    for (const std::uint64_t word : words) sum += count_bits(word);
    return sum;
  }
  /// The lowest bit; requires any().
  [[nodiscard]] constexpr int first() const noexcept {
    std::size_t w = 0;
    while (w + 1 < kWords && words[w] == 0) ++w;
    return static_cast<int>(64 * w) + std::countr_zero(words[w]);
  }
  /// Clears the lowest bit; requires any().
  [[nodiscard]] constexpr PointSet rest() const noexcept {
    PointSet found = *this;
    std::size_t w = 0;
    while (w + 1 < kWords && words[w] == 0) ++w;
    found.words[w] &= words[w] - 1;
    return found;
  }

  friend constexpr PointSet operator|(PointSet a, const PointSet& b) noexcept { return a |= b; }
  friend constexpr PointSet operator&(PointSet a, const PointSet& b) noexcept { return a &= b; }
  /// The elements of a that are not in b.
  friend constexpr PointSet operator-(PointSet a, const PointSet& b) noexcept {
    for (std::size_t w = 0; w < kWords; ++w) a.words[w] &= ~b.words[w];
    return a;
  }
  constexpr PointSet& operator|=(const PointSet& b) noexcept {
    for (std::size_t w = 0; w < kWords; ++w) words[w] |= b.words[w];
    return *this;
  }
  constexpr PointSet& operator&=(const PointSet& b) noexcept {
    for (std::size_t w = 0; w < kWords; ++w) words[w] &= b.words[w];
    return *this;
  }
  friend constexpr PointSet operator<<(const PointSet& a, int by) noexcept {
    PointSet found;
    if (by >= kBits) return found;
    const std::size_t whole = static_cast<std::size_t>(by) / 64;
    const int part = by % 64;
    for (std::size_t w = kWords; w-- > whole;) {
      found.words[w] = a.words[w - whole] << part;
      if (part != 0 && w > whole) found.words[w] |= a.words[w - whole - 1] >> (64 - part);
    }
    return found;
  }
  friend constexpr PointSet operator>>(const PointSet& a, int by) noexcept {
    PointSet found;
    if (by >= kBits) return found;
    const std::size_t whole = static_cast<std::size_t>(by) / 64;
    const int part = by % 64;
    for (std::size_t w = 0; w + whole < kWords; ++w) {
      found.words[w] = a.words[w + whole] >> part;
      if (part != 0 && w + whole + 1 < kWords) {
        found.words[w] |= a.words[w + whole + 1] << (64 - part);
      }
    }
    return found;
  }
  friend constexpr auto operator<=>(const PointSet&, const PointSet&) = default;
};

}  // namespace pyengine::alphabeta
