/// The rollout board's grid: points in one array with a border, so neighbours are at fixed offsets.
#pragma once

#include <array>
#include <cstdint>

#include "base/types.h"
#include "games/go/bits.h"
#include "games/go/rollout_weights.h"

namespace pyengine {

/// There is one border column between rows, and a border row above and below:
///
///   place of (row, column) = (row + 1) * stride + column + 1,   stride = columns + 1
template <int MaxSide>
struct GoRolloutGrid {
  /// Number of places, rounded up to whole segments of 16.
  static constexpr int kPlaces = ((MaxSide + 2) * (MaxSide + 1) + 1 + 15) / 16 * 16;

  using Places = PointSet<(kPlaces + 63) / 64>;

  GoRolloutGrid(int rows, int columns) : rows(rows), columns(columns), stride(columns + 1) {
    const auto s = static_cast<std::int16_t>(stride);
    const auto step = [](int n) { return static_cast<std::int16_t>(n); };
    around = {step(-s - 1), step(-s),    step(1 - s), step(-1),
              step(1),      step(s - 1), step(s),     step(s + 1)};
    beside = {around[1], around[3], around[4], around[6]};
    for (int point = 0; point < rows * columns; ++point) {
      add_near(point);
      for (const int step : around) {
        block[place(point)].set(static_cast<unsigned>(static_cast<int>(place(point)) + step));
      }
      block[place(point)].set(place(point));
    }
  }

  [[nodiscard]] unsigned place(Action point) const noexcept {
    return static_cast<unsigned>((point / columns + 1) * stride + point % columns + 1);
  }
  [[nodiscard]] Action point(unsigned place) const noexcept {
    const int p = static_cast<int>(place);
    return (p / stride - 1) * columns + p % stride - 1;
  }

  int rows;
  int columns;
  int stride;
  std::array<std::int16_t, 8> around{};  ///< steps to the eight neighbours, row by row
  std::array<std::int16_t, 4> beside{};  ///< offsets to the four orthogonal ones
  std::array<Places, kPlaces> near{};    ///< places with d = dx + dy + max(dx, dy) <= 4 from each
  std::array<Places, kPlaces> block{};   ///< the 3x3 places around each

  /// The distance features of a move near the last one.
  [[nodiscard]] std::uint16_t answer_features(unsigned last, unsigned place) const noexcept {
    return features_[place + kFarthest - last];
  }

 private:
  static constexpr unsigned kFarthest =
      2 * (MaxSide + 1);  ///< largest offset between two near places

  void add_near(Action point) {
    for (int dy = -2; dy <= 2; ++dy) {
      for (int dx = -2; dx <= 2; ++dx) {
        const int ax = dx < 0 ? -dx : dx;
        const int ay = dy < 0 ? -dy : dy;
        const int distance = ax + ay + (ax > ay ? ax : ay);
        const int row = point / columns + dy;
        const int column = point % columns + dx;
        if (distance < 2 || distance > 4) continue;
        if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
        const unsigned there = place(row * columns + column);
        near[place(point)].set(there);
        features_[there + kFarthest - place(point)] = static_cast<std::uint16_t>(
            kDistance2 << (distance - 2) | (distance <= 3 ? kResponse : 0));
      }
    }
  }

  std::array<std::uint16_t, 2 * kFarthest + 1> features_{};  ///< [place - last + kFarthest]
};

}  // namespace pyengine
