/// The lock of a Python function: one, however many evaluators and engines call the function.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace pyengine::bindings {

namespace py = pybind11;

/// Recursive, since a function may search with an engine that calls it again.
class CallbackLock {
 public:
  using Mutex = std::recursive_timed_mutex;

  CallbackLock();
  CallbackLock(const CallbackLock&) = delete;
  CallbackLock& operator=(const CallbackLock&) = delete;
  ~CallbackLock();

  /// The lock of `fn`, the same one for as long as somebody keeps it; keep `fn` longer. A method is
  /// known by its object and its function: every `object.method` is a Python object of its own.
  /// The GIL must be held.
  static std::shared_ptr<CallbackLock> of(const py::object& fn);

  /// Waits for the lock, the GIL not held. Signals are handled meanwhile: throws PythonError with
  /// what a handler raises (KeyboardInterrupt).
  [[nodiscard]] std::unique_lock<Mutex> lock();

 private:
  struct Owned;

  /// The lock of this process: after a fork a thread that the child does not have may hold the
  /// parent's for ever, so the child leaves that one alone and makes its own.
  [[nodiscard]] Mutex& mutex();

  std::atomic<Owned*> current_;
};

}  // namespace pyengine::bindings
