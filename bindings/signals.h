/// Ctrl-C while C++ works: whoever works for long looks for signals now and then.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>

#include "interpreter.h"
#include "python_error.h"

namespace pyengine::bindings {

/// Signals are handled on the main thread alone. The GIL must be held.
[[nodiscard]] inline bool is_main_thread() {
  const py::module_ threading = py::module_::import("threading");
  return threading.attr("main_thread")().is(threading.attr("current_thread")());
}

/// Throws what a handler of a signal raised. The GIL must be held.
inline void raise_signals() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

/// Whether a call goes on after what its on_progress answered: False ends it. The GIL must be held.
[[nodiscard]] inline bool goes_on(const py::object& answer) { return answer.ptr() != Py_False; }

/// Turns for threads that wait for the GIL, of a call that holds it for long.
class OthersTurns {
 public:
  /// To be called every few milliseconds. Lets go every 10 ms and not more often: CPython passes
  /// the GIL on to a thread that has waited for a whole switch interval (5 ms), and each release
  /// begins that wait anew.
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

/// The polls of a call that has let go of the GIL. Made while it is held.
class SignalWatch {
 public:
  /// Throws what a handler raised, as a PythonError.
  void look() const {
    throw_if_ending();
    if (!on_main_thread_) return;
    const WithGil gil;
    calling_python([] { raise_signals(); });
  }
  /// To be called as often as one likes: looks every 5 ms.
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
