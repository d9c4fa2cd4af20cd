/// A random order of moves that needs no memory, for rules without priors.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "games/common/hashing.h"

namespace pyengine {

/// The key of a tree's orders, never 0, from the seed and the number of the search that began the
/// tree.
[[nodiscard]] constexpr std::uint64_t order_of_tree(std::uint64_t seed,
                                                    std::uint64_t search) noexcept {
  return mix64(seed ^ mix64(~search)) | 1U;
}

/// The key of one node's order, from the tree's key and an identifier of the node.
[[nodiscard]] constexpr std::uint64_t order_key(std::uint64_t tree, std::uint64_t action,
                                                std::span<const std::uint64_t> moves) noexcept {
  std::uint64_t key = tree ^ action;
  for (const std::uint64_t word : moves) key = mix64(key ^ word);
  return mix64(key);
}

/// Element `place` of the permutation of 0 .. count - 1 given by `key`; 0 <= place < count. A
/// bijection on numbers of the same bit width is repeated until the result is below `count` (fewer
/// than two rounds on average); a rotation makes every element equally likely at every place.
[[nodiscard]] constexpr int place_in_order(int place, int count, std::uint64_t key) noexcept {
  const auto numbers = static_cast<std::uint32_t>(count);
  const int bits = std::bit_width(numbers - 1);
  const int half = (bits + 1) / 2;
  const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
  const auto part = [key](int shift) { return static_cast<std::uint32_t>(key >> shift) & 0xFFFFU; };
  auto x = static_cast<std::uint32_t>(place);
  do {
    x = (x * (part(0) | 1U) + part(16)) & mask;
    x ^= x >> half;
    x = (x * (part(32) | 1U) + part(48)) & mask;
    x ^= x >> half;
    x = (x * (part(8) | 1U) + part(24)) & mask;
  } while (x >= numbers);
  x += static_cast<std::uint32_t>((mix64(key) >> 32) * numbers >> 32);
  return static_cast<int>(x < numbers ? x : x - numbers);
}

}  // namespace pyengine
