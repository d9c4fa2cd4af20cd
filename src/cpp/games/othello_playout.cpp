#include "games/othello_playout.h"

#include "games/othello_avx2.h"

#if defined(PYENGINE_OTHELLO_AVX2)
#define PYENGINE_WITH_TARGET PYENGINE_OTHELLO_AVX2
#include "games/othello_playout_of.h"

namespace pyengine::othello {
namespace {

/// The discs stay in vector registers between moves.
struct Lanes : Avx2 {
  PYENGINE_WITH_TARGET static __m256i spread(std::uint64_t discs) noexcept { return all(discs); }
  PYENGINE_WITH_TARGET static std::uint64_t gather(__m256i discs) noexcept {
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128(discs)));
  }
};

PYENGINE_WITH_TARGET Playout play_with_avx2(std::uint64_t own, std::uint64_t other, unsigned mover,
                                            Rng& rng) noexcept {
  return play_othello<Lanes>(own, other, mover, rng);
}

}  // namespace

PlayOut avx2_playout() noexcept {
  static const bool has = has_avx2();
  return has ? &play_with_avx2 : nullptr;
}

}  // namespace pyengine::othello

#else

namespace pyengine::othello {

PlayOut avx2_playout() noexcept { return nullptr; }

}  // namespace pyengine::othello

#endif
