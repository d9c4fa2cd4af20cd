/// Backoff for a spinlock that is held for a few instructions.
#pragma once

#include <thread>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace pyengine {

/// Call pause() between two attempts. It first spins with a pause instruction, then yields, since
/// the holder of the lock may have been descheduled.
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
  static constexpr int kSpins = 64;  ///< longer than marking a path takes
  int rounds_ = 0;
};

}  // namespace pyengine
