/// PositionKeys of boards that need more than 128 bits.
#pragma once

#include <cstdint>

#include "games/common/hashing.h"
#include "games/game.h"

namespace pyengine {

/// Two 64-bit hashes of a sequence of words. Each step is a bijection of both, and they receive the
/// words differently, so a collision of one says nothing about the other.
class KeyHash {
 public:
  constexpr explicit KeyHash(std::uint64_t first_word) noexcept { add(first_word); }
  constexpr void add(std::uint64_t word) noexcept {
    key_.high = mix64((key_.high ^ word) + kHashStep);
    key_.low = mix64((key_.low + word) * kHashStep);
  }
  [[nodiscard]] constexpr PositionKey key() const noexcept { return key_; }

 private:
  PositionKey key_{.high = 1, .low = 2};
};

}  // namespace pyengine
