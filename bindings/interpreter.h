/// The interpreter's lock (the GIL). No other file takes or releases it.
///
/// A hook at exit says that the program is ending. From then on only the thread that ends it gets
/// the lock: runs of other threads end, their calls for the lock are refused, and the hook waits
/// until they have left C++. A thread that cannot leave (a callable that never returns) stays where
/// it is until the process is gone.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <utility>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace pyengine::bindings {

namespace py = pybind11;

/// Ends a run, or a call for the lock, of a thread that is not the one that ends the program. In
/// Python it is SystemExit, which ends a thread without a message.
class ProgramEnds final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the program is ending"; }
};

/// Whether the hook at exit has begun.
[[nodiscard]] bool program_ends() noexcept;
/// Whether this thread is to end with the program: not the one that ends it.
[[nodiscard]] bool thread_ends() noexcept;
/// Throws ProgramEnds if this thread is to end with the program.
void throw_if_ending();

constexpr int kRefused = -2;

/// How a thread has the lock by take_gil().
struct HeldGil {
  int depth = 0;
  int visit = 0;  ///< of the outermost
};

/// Takes the lock, also where this thread has it already; kRefused if this thread is to end. The
/// answer is given to give_gil().
[[nodiscard]] int take_gil() noexcept;
void give_gil(int token) noexcept;
/// Whether this thread has the lock by take_gil().
[[nodiscard]] bool has_gil() noexcept;

/// Drops a reference, from any thread. When the interpreter is gone, or this thread is to end, the
/// object stays, since its memory is not needed any more.
void drop(PyObject* object) noexcept;

/// Holds the lock. Throws ProgramEnds if this thread is to end.
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

/// Lets go of the lock, which this thread has. Throws ProgramEnds if this thread is to end.
class WithoutGil {
 public:
  WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil();

 private:
  HeldGil held_;  ///< before
  int visit_ = 0;
  PyThreadState* state_ = nullptr;
};

/// Sleeps until the process is gone.
[[noreturn]] void stay() noexcept;

/// Runs code that may wait for the lock. Before Python 3.14 the interpreter ends a daemon thread
/// that asks for it too late by unwinding the stack: our destructors would drop Python's objects
/// without the lock, and whatever catches everything, or throws nothing, would abort the program.
/// The thread stays here instead, which is what Python 3.14 does.
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
