/// PositionKeys of boards that need more than 128 bits.
#pragma once

#include <bit>
#include <cstdint>

#include "games/common/hashing.h"
#include "games/game.h"

namespace pyengine {

/// Two 64-bit hashes of a sequence of words. Each is a sum of the mixed words, which the processor
/// computes at the same time; they mix the words differently, so a collision of one says nothing
/// about the other.
class KeyHash {
 public:
  constexpr explicit KeyHash(std::uint64_t first_word) noexcept { add(first_word); }
  constexpr void add(std::uint64_t word) noexcept {
    place_ += kHashStep;
    key_.high += mix64(word ^ place_);
    key_.low += mix64((word ^ std::rotl(place_, 32)) * kHashStep);
  }
  [[nodiscard]] constexpr PositionKey key() const noexcept { return key_; }

 private:
  PositionKey key_{};
  std::uint64_t place_ = 0;  ///< differs for each word
};

}  // namespace pyengine
