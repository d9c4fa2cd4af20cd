#include "selfplay/packed_planes.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pyengine {

static_assert(std::endian::native == std::endian::little, "bits are copied as bytes");

PackedShape packed_shape(const Encoder& encoder) {
  PackedShape shape;
  shape.points = encoder.shape().points();
  shape.dense = encoder.dense_planes();
  for (const Encoder::Channel& channel : encoder.channels()) {
    if (channel.storage == Encoder::Storage::set) ++shape.sets;
    if (channel.storage == Encoder::Storage::value) ++shape.values;
  }
  return shape;
}

void pack_planes(const PackedShape& shape, const PlaneStack& planes, std::span<std::uint8_t> bits,
                 std::span<float> fill, std::span<float> dense) {
  const std::size_t bytes = shape.set_bytes();
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.sets); ++i) {
    std::memcpy(bits.data() + i * bytes, planes.bits[i].words.data(), bytes);
  }
  std::copy_n(planes.fill.begin(), shape.values, fill.begin());
  std::copy_n(planes.dense.begin(), shape.numbers(), dense.begin());
}

}  // namespace pyengine
