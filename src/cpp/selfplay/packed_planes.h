/// Planes as stored in records: one bit per point for planes that are sets of points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "eval/network/encoder.h"

namespace pyengine {

/// Sizes of a packed position.
struct PackedShape {
  int points = 0;
  int sets = 0;    ///< planes that are sets of points
  int values = 0;  ///< planes of one number
  int dense = 0;   ///< planes with one number per point

  [[nodiscard]] std::size_t set_bytes() const noexcept {
    return (static_cast<std::size_t>(points) + 7) / 8;
  }
  [[nodiscard]] std::size_t bits() const noexcept {
    return static_cast<std::size_t>(sets) * set_bytes();
  }
  [[nodiscard]] std::size_t numbers() const noexcept {
    return static_cast<std::size_t>(dense) * static_cast<std::size_t>(points);
  }
};

[[nodiscard]] PackedShape packed_shape(const Encoder& encoder);

/// Writes bits [sets][set_bytes] (point p is bit p % 8, the lowest first, of byte p / 8), fill
/// [values] and dense [dense][points]. Planes of a kind keep the order of the spec's channels,
/// dense planes the order of their slots. Points are stored row by row from the top, regardless of
/// the spec's rows.
void pack_planes(const PackedShape& shape, const PlaneStack& planes, std::span<std::uint8_t> bits,
                 std::span<float> fill, std::span<float> dense);

}  // namespace pyengine
