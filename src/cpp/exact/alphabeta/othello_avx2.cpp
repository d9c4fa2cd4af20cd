/// The kernels with AVX2.
#include "games/othello_avx2.h"

#include "exact/alphabeta/othello_kernels.h"

#if defined(PYENGINE_OTHELLO_AVX2)
#define PYENGINE_WITH_TARGET PYENGINE_OTHELLO_AVX2

#include "exact/alphabeta/othello_kernels_of.h"

namespace pyengine::othello {

const Kernels* avx2_kernels() noexcept {
  static constexpr Kernels kAvx2 = kernels_of<Avx2>("avx2");
  return has_avx2() ? &kAvx2 : nullptr;
}

}  // namespace pyengine::othello

#else

namespace pyengine::othello {

const Kernels* avx2_kernels() noexcept { return nullptr; }

}  // namespace pyengine::othello

#endif
