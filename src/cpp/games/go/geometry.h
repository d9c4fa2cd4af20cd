/// Constant data of a board size, and the random keys of stones.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "games/go/bits.h"

namespace pyengine {

/// The up to four adjacent points.
struct PointsAround {
  std::array<std::uint16_t, 4> points{};
  std::uint16_t count = 0;
  [[nodiscard]] const std::uint16_t* begin() const noexcept { return points.data(); }
  [[nodiscard]] const std::uint16_t* end() const noexcept { return points.data() + count; }
};

inline constexpr int kMaxGoPoints = 19 * 19;

struct GoGeometry {
  int rows = 0;
  int columns = 0;
  int points = 0;
  BoardBits all;
  BoardBits not_first_column;
  BoardBits not_last_column;
  BoardBits edge;
  std::array<PointsAround, kMaxGoPoints> beside;
};

/// The geometry of a board of 1..19 rows and columns. It lives as long as the process, so positions
/// can hold plain pointers to it: a reference count would cost a shared write per copy.
const GoGeometry* go_geometry(int rows, int columns);

/// The points adjacent to those of `set`; may contain points of `set`.
template <int Words>
PointSet<Words> beside(const PointSet<Words>& set, const GoGeometry& geometry) noexcept {
  const auto row = static_cast<unsigned>(geometry.columns);
  PointSet<Words> found;
  for (unsigned w = 0; w < Words; ++w) {
    const std::uint64_t right = set.word_plus(w, 1) & geometry.not_first_column.words[w];
    const std::uint64_t left = set.word_minus(w, 1) & geometry.not_last_column.words[w];
    found.words[w] =
        (right | left | set.word_plus(w, row) | set.word_minus(w, row)) & geometry.all.words[w];
  }
  return found;
}

/// The points with at least two points of `set` diagonal to them, or one if they are at the edge.
template <int Words>
PointSet<Words> cornered(const PointSet<Words>& set, const GoGeometry& geometry) noexcept {
  const auto row = static_cast<unsigned>(geometry.columns);
  PointSet<Words> found;
  for (unsigned w = 0; w < Words; ++w) {
    const std::uint64_t not_first = geometry.not_first_column.words[w];
    const std::uint64_t not_last = geometry.not_last_column.words[w];
    std::uint64_t one = geometry.edge.words[w];
    std::uint64_t two = 0;
    for (const std::uint64_t diagonal :
         {set.word_plus(w, row + 1) & not_first, set.word_plus(w, row - 1) & not_last,
          set.word_minus(w, row - 1) & not_first, set.word_minus(w, row + 1) & not_last}) {
      two |= one & diagonal;
      one |= diagonal;
    }
    found.words[w] = two;
  }
  return found;
}

/// The points of `within` connected to `seed` through `within`; `seed` must be a subset of it.
template <int Words>
PointSet<Words> flood(PointSet<Words> seed, const PointSet<Words>& within,
                      const GoGeometry& geometry) noexcept {
  for (;;) {
    const PointSet<Words> larger = (seed | beside(seed, geometry)) & within;
    if (larger == seed) return seed;
    seed = larger;
  }
}

/// Random keys for position hashes: the xor of the keys of the stones and of the player to move.
struct GoKeys {
  std::array<std::array<std::uint64_t, kMaxGoPoints>, 2> stone{};  ///< [player][point]
  std::uint64_t second_to_move = 0;

  constexpr GoKeys() {
    std::uint64_t state = 0x5EED0F60B0A2D000U;
    const auto draw = [&state] {  // splitmix64 (Steele, Lea and Flood, 2014)
      state += 0x9E3779B97F4A7C15U;
      std::uint64_t x = state;
      x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
      x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
      return x ^ (x >> 31);
    };
    for (auto& player : stone) {
      for (auto& key : player) key = draw();
    }
    second_to_move = draw();
  }
};
inline constexpr GoKeys kGoKeys{};

}  // namespace pyengine
