/// An operator new that fails when it is told to.
#pragma once

#include <cstdint>

namespace pyengine::failing_allocator {

/// How many allocations fail from the chosen one on.
enum class Failures : std::uint8_t { one, all };

/// While it is in scope the allocation of this number (from 0), of any thread, fails; with
/// Failures::all every later one does too.
class Failing {
 public:
  Failing(std::int64_t number, Failures failures) noexcept;
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;
  ~Failing();
  /// Whether an allocation has failed.
  [[nodiscard]] static bool has_failed() noexcept;
};

}  // namespace pyengine::failing_allocator
