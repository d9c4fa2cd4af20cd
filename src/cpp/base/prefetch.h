/// Prefetch hint.
#pragma once

namespace pyengine {

/// The address may be invalid.
inline void prefetch(const void* address) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

}  // namespace pyengine
