/// How to wait for a lock that is held for a few instructions.
#pragma once

#include <thread>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace pyengine {

/// Call pause() between two attempts. First it tells the processor that this thread spins, which
/// leaves more of the core to its other thread; then it lets others run, since who holds the lock
/// may have lost its core.
class Backoff {
 public:
  void pause() noexcept {
    if (rounds_ == kSpins) {
      std::this_thread::yield();
      return;
    }
    ++rounds_;
#if defined(__x86_64__) && defined(__GNUC__)
    _mm_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    asm volatile("yield");
#endif
  }

 private:
  static constexpr int kSpins = 64;  ///< longer than a path takes to be marked
  int rounds_ = 0;
};

}  // namespace pyengine
