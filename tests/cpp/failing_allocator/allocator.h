/// An operator new that fails on demand.
#pragma once

#include <cstdint>

namespace pyengine::failing_allocator {

/// How many allocations fail, starting with the chosen one.
enum class Failures : std::uint8_t { one, all };

/// While in scope, the allocation with this number (from 0, on any thread) fails, and with
/// Failures::all every later one too.
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
