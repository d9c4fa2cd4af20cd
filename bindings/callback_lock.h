/// The lock of a Python function, shared by all evaluators and engines that call the function.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace pyengine::bindings {

namespace py = pybind11;

/// Recursive, because a function may run a search that calls it again.
class CallbackLock {
 public:
  using Mutex = std::recursive_timed_mutex;

  CallbackLock();
  CallbackLock(const CallbackLock&) = delete;
  CallbackLock& operator=(const CallbackLock&) = delete;
  ~CallbackLock();

  /// The lock of `fn`, shared while it is in use; `fn` must outlive it. A bound method is
  /// identified by its object and function, because each `object.method` creates a new Python
  /// object. Requires the GIL.
  static std::shared_ptr<CallbackLock> of(const py::object& fn);

  /// Waits for the lock without the GIL. Handles signals while waiting: throws PythonError with the
  /// exception of a handler (KeyboardInterrupt).
  [[nodiscard]] std::unique_lock<Mutex> lock();

 private:
  struct Owned;

  /// The lock of this process. After a fork, a thread that does not exist in the child may hold the
  /// lock of the parent, so the child creates a new one.
  [[nodiscard]] Mutex& mutex();

  std::atomic<Owned*> current_;
};

}  // namespace pyengine::bindings
