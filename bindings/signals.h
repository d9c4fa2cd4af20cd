/// Ctrl-C during C++ code: long computations check for signals regularly.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>

#include "interpreter.h"
#include "python_error.h"

namespace pyengine::bindings {

/// Signals are handled only on the main thread. Requires the GIL.
[[nodiscard]] inline bool is_main_thread() {
  const py::module_ threading = py::module_::import("threading");
  return threading.attr("main_thread")().is(threading.attr("current_thread")());
}

/// Throws the exception of a signal handler. Requires the GIL.
inline void raise_signals() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

/// Whether a call continues after on_progress returned `answer`: only False ends it. Requires the
/// GIL.
[[nodiscard]] inline bool goes_on(const py::object& answer) { return answer.ptr() != Py_False; }

/// Lets other threads take the GIL during a long call that holds it.
class OthersTurns {
 public:
  /// Call every few milliseconds. Releases the GIL every 10 ms, not more often: CPython hands the
  /// GIL to a thread that has waited for a full switch interval (5 ms), and each release restarts
  /// that interval.
  void give() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_ || !has_gil()) return;
    {
      const WithoutGil turn;
    }
    next_ = now + std::chrono::milliseconds(10);
  }

 private:
  std::chrono::steady_clock::time_point next_{};
};

/// Polls of a call that has released the GIL. Created while holding the GIL.
class SignalWatch {
 public:
  /// Throws the exception of a handler as a PythonError.
  void look() const {
    throw_if_ending();
    if (!on_main_thread_) return;
    const WithGil gil;
    calling_python([] { raise_signals(); });
  }
  /// May be called at any rate; checks every 5 ms.
  void look_now_and_then() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(5);
    look();
  }

 private:
  bool on_main_thread_ = is_main_thread();
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace pyengine::bindings
