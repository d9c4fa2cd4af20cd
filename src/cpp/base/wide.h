/// 64 x 64 -> 128 bit multiplication, which C++20 does not provide.
#pragma once

#include <cstdint>
#if !defined(__SIZEOF_INT128__) && defined(_MSC_VER)
#include <intrin.h>
#endif

namespace pyengine {

struct Wide {
  std::uint64_t high;
  std::uint64_t low;
};

inline Wide multiply_wide(std::uint64_t a, std::uint64_t b) noexcept {
#if defined(__SIZEOF_INT128__)
  __extension__ using Uint128 = unsigned __int128;
  const Uint128 product = static_cast<Uint128>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#else
  Wide product{};
  product.low = _umul128(a, b, &product.high);
  return product;
#endif
}

}  // namespace pyengine
