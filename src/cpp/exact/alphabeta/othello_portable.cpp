/// The kernels for every processor.
#define PYENGINE_WITH_TARGET

#include "exact/alphabeta/othello_kernels_of.h"
#include "games/othello_bits.h"

namespace pyengine::othello {
namespace {

struct Portable {
  using Bits = OthelloBits<8, std::uint64_t>;
  static std::uint64_t moves(std::uint64_t own, std::uint64_t other) noexcept {
    return Bits::moves(own, other);
  }
  static std::uint64_t flips(unsigned point, std::uint64_t own, std::uint64_t other) noexcept {
    return Bits::flips(std::uint64_t{1} << point, own, other);
  }
  static int count(std::uint64_t discs) noexcept { return count_bits(discs); }
};

}  // namespace

const Kernels& portable_kernels() noexcept {
  static constexpr Kernels kPortable = kernels_of<Portable>("portable");
  return kPortable;
}

const Kernels& kernels() noexcept {
  static const Kernels& fastest = avx2_kernels() != nullptr ? *avx2_kernels() : portable_kernels();
  return fastest;
}

}  // namespace pyengine::othello
