/// Calls of a user's code within a run that may have to end.
#pragma once

#include <functional>
#include <utility>

#include "base/error.h"

namespace pyengine {

/// While it is in scope, its thread begins no call of a user's game once `goes_on` says no: the
/// call throws Interrupted instead. So a run that is to end waits for one call at most.
class CallGuard {
 public:
  /// nullptr: calls are free, such as those from within a call.
  explicit CallGuard(const std::function<bool()>* goes_on) noexcept
      : outer_(std::exchange(current, goes_on)) {}
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;
  ~CallGuard() { current = outer_; }

  /// Before each call.
  static void check() {
    if (current != nullptr && !(*current)()) throw Interrupted();
  }

 private:
  static inline constinit thread_local const std::function<bool()>* current = nullptr;
  const std::function<bool()>* outer_;
};

}  // namespace pyengine
