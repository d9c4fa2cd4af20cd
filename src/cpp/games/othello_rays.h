/// The lines from each point of Othello's 8x8 board to its edge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pyengine::othello {

/// Points from a point to the edge, in the directions +1, +8, +7, +9 and their opposites.
struct alignas(64) Rays {
  std::array<std::uint64_t, 4> up{};    ///< towards larger indices
  std::array<std::uint64_t, 4> down{};  ///< towards smaller indices
};

/// Indexed by point.
inline constexpr std::array<Rays, 64> kRays = [] {
  constexpr std::array<int, 4> kDown = {0, 1, 1, 1};  // row and column step of `up`
  constexpr std::array<int, 4> kRight = {1, 0, -1, 1};
  const auto ray = [](int point, int down, int right) {
    std::uint64_t points = 0;
    int row = point / 8 + down;
    int column = point % 8 + right;
    for (; row >= 0 && row < 8 && column >= 0 && column < 8; row += down, column += right) {
      points |= std::uint64_t{1} << (8 * row + column);
    }
    return points;
  };
  std::array<Rays, 64> rays{};
  for (int point = 0; point < 64; ++point) {
    for (std::size_t d = 0; d < 4; ++d) {
      rays[static_cast<std::size_t>(point)].up[d] = ray(point, kDown[d], kRight[d]);
      rays[static_cast<std::size_t>(point)].down[d] = ray(point, -kDown[d], -kRight[d]);
    }
  }
  return rays;
}();

}  // namespace pyengine::othello
