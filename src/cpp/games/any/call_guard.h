/// Interruptible calls of a user's code.
#pragma once

#include <functional>
#include <utility>

#include "base/error.h"

namespace pyengine {

/// While in scope, once `goes_on` returns false, calls of a user's game on this thread throw
/// Interrupted instead. A run that must end therefore waits for at most one call.
class CallGuard {
 public:
  /// nullptr: calls are not checked, for example nested ones.
  explicit CallGuard(const std::function<bool()>* goes_on) noexcept
      : outer_(std::exchange(current, goes_on)) {}
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;
  ~CallGuard() { current = outer_; }

  /// Called before each call.
  static void check() {
    if (current != nullptr && !(*current)()) throw Interrupted();
  }

 private:
  static inline constinit thread_local const std::function<bool()>* current = nullptr;
  const std::function<bool()>* outer_;
};

}  // namespace pyengine
