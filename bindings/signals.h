/// Ctrl-C while C++ works: whoever works for long looks for signals now and then.
#pragma once

#include <pybind11/pybind11.h>

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

 private:
  bool on_main_thread_ = is_main_thread();
};

}  // namespace pyengine::bindings
