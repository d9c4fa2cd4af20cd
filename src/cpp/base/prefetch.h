/// A hint to bring memory near before it is read.
#pragma once

namespace pyengine {

/// The address need not be one of an object.
inline void prefetch(const void* address) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

}  // namespace pyengine
