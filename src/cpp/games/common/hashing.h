/// 64-bit hashes of positions: Zobrist keys for large boards, mixing for boards of two words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace pyengine {

/// The finaliser of splitmix64 (Steele, Lea, Flood, 2014): a bijection with good avalanche.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

inline constexpr std::uint64_t kHashStep = 0x9E3779B97F4A7C15U;  ///< 2^64 / golden ratio, odd

/// Hash of a two-word board and its player to move; for fixed `a` it is a bijection of `b`.
constexpr std::uint64_t hash_words(std::uint64_t a, std::uint64_t b, int to_move) noexcept {
  return mix64(mix64(a + kHashStep) ^ (b + (to_move == 0 ? 0 : kHashStep)));
}

/// Keys of both players' stones on every point, and of the second player's turn.
struct StoneKeys {
  std::array<std::array<std::uint64_t, kMaxPoints>, 2> stone{};
  std::uint64_t second_to_move = 0;
};

/// In this order, the keys of boards up to 19x19 do not depend on the largest board.
consteval StoneKeys make_stone_keys() {
  constexpr std::size_t kFirstPoints = 361;
  StoneKeys keys;
  std::uint64_t state = 0;
  const auto draw = [&](std::size_t begin, std::size_t end) {
    for (auto& player : keys.stone) {
      for (std::size_t point = begin; point < end; ++point) {
        player[point] = mix64(state += kHashStep);
      }
    }
  };
  draw(0, kFirstPoints);
  keys.second_to_move = mix64(state += kHashStep);
  draw(kFirstPoints, kMaxPoints);
  return keys;
}

inline constexpr StoneKeys kStoneKeys = make_stone_keys();

}  // namespace pyengine
