/// A random order that needs no memory: a rule without priors tries the moves of a node in it.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "games/common/hashing.h"

namespace pyengine {

/// The key of a tree's orders, from the seed and the number of the search that began it; not 0.
[[nodiscard]] constexpr std::uint64_t order_of_tree(std::uint64_t seed,
                                                    std::uint64_t search) noexcept {
  return mix64(seed ^ mix64(~search)) | 1U;
}

/// The key of one node's order, from the key of the tree and what tells the node from others.
[[nodiscard]] constexpr std::uint64_t order_key(std::uint64_t tree, std::uint64_t action,
                                                std::span<const std::uint64_t> moves) noexcept {
  std::uint64_t key = tree ^ action;
  for (const std::uint64_t word : moves) key = mix64(key ^ word);
  return mix64(key);
}

/// What stands at `place` of the order of 0 .. count - 1 that `key` names; 0 <= place < count. A
/// bijection of the numbers of as many bits is repeated until it ends below `count`, which takes
/// fewer than two rounds on average; a rotation makes every number as likely at every place.
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
