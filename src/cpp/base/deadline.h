/// Time limits of calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace pyengine {

/// The end of a limit of `seconds` that started at `begun`; none without a limit. Limits above
/// about 30 years are shortened, so that the clock does not overflow.
inline std::optional<std::chrono::steady_clock::time_point> deadline_after(
    std::chrono::steady_clock::time_point begun, std::optional<double> seconds) {
  constexpr double kMostSeconds = 1e9;
  if (!seconds) return std::nullopt;
  const std::chrono::duration<double> limit(std::min(*seconds, kMostSeconds));
  return begun + std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
}

}  // namespace pyengine
