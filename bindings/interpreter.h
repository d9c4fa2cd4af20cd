/// The GIL. No other file takes or releases it.
///
/// An atexit hook marks the program as ending. From then on only the thread that ends the program
/// gets the GIL: the runs of other threads end, their requests for the GIL are refused, and the
/// hook waits until they have left C++. A thread that cannot leave (a callable that never returns)
/// stays blocked until the process exits.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <utility>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace pyengine::bindings {

namespace py = pybind11;

/// Ends a run, or a request for the GIL, of a thread other than the one that ends the program. In
/// Python it is SystemExit, which ends a thread without a message.
class ProgramEnds final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the program is ending"; }
};

/// Whether the atexit hook has started.
[[nodiscard]] bool program_ends() noexcept;
/// Whether this thread must end; false for the thread that ends the program.
[[nodiscard]] bool thread_ends() noexcept;
/// Throws ProgramEnds if this thread must end.
void throw_if_ending();

constexpr int kRefused = -2;

/// State of a thread that took the GIL with take_gil().
struct HeldGil {
  int depth = 0;
  int visit = 0;  ///< of the outermost call
};

/// Takes the GIL, even if this thread already holds it; kRefused if this thread must end. Pass the
/// result to give_gil().
[[nodiscard]] int take_gil() noexcept;
void give_gil(int token) noexcept;
/// Whether this thread took the GIL with take_gil().
[[nodiscard]] bool has_gil() noexcept;

/// Drops a reference, from any thread. If the interpreter is gone or this thread must end, the
/// object is leaked.
void drop(PyObject* object) noexcept;

/// Holds the GIL. Throws ProgramEnds if this thread must end.
class WithGil {
 public:
  WithGil() : token_(take_gil()) {
    if (token_ == kRefused) throw ProgramEnds();
  }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  ~WithGil() { give_gil(token_); }

 private:
  int token_;
};

/// Releases the GIL, which this thread must hold. Throws ProgramEnds if this thread must end.
class WithoutGil {
 public:
  WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil();

 private:
  HeldGil held_;  ///< the previous state
  int visit_ = 0;
  PyThreadState* state_ = nullptr;
};

/// Sleeps until the process exits.
[[noreturn]] void stay() noexcept;

/// Runs code that may wait for the GIL. Before Python 3.14 the interpreter ends a daemon thread
/// that requests the GIL too late by unwinding its stack. Our destructors would then drop Python
/// objects without the GIL, and a catch-all or noexcept function would abort the program. The
/// thread blocks here instead, as in Python 3.14.
template <class Verb>
decltype(auto) surviving_exit(Verb&& verb) {
#ifdef __GLIBCXX__
  try {
    return std::forward<Verb>(verb)();
  } catch (abi::__forced_unwind&) {
    stay();
  }
#else
  return std::forward<Verb>(verb)();
#endif
}

}  // namespace pyengine::bindings
