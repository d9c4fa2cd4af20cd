#include "interpreter.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "bindings.h"

#ifndef _WIN32
#include <pthread.h>
#include <unistd.h>
#endif

namespace pyengine::bindings {
namespace {

using std::chrono::milliseconds;

constexpr int kNested = -1;  ///< result of take_gil() if the thread already holds the GIL
constexpr milliseconds kPatience{2000};  ///< how long the hook waits for other threads
constexpr milliseconds kLookAgain{1};

std::atomic<bool> g_ending{false};       ///< the hook has started
std::atomic<bool> g_over{false};         ///< the hook no longer waits
std::atomic<std::thread::id> g_ender{};  ///< the thread that runs the hook
std::atomic<int> g_visitors{0};          ///< threads that must take the GIL once more
std::atomic<int> g_forks{0};  ///< detects a child, which has none of its parent's visitors
thread_local HeldGil t_held;

bool is_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

/// Registers this thread as one that needs the GIL; refused if it could never get it.
bool begin_visit(int& visit) noexcept {
  g_visitors.fetch_add(
      1);  // before reading g_ending: the hook sets g_ending before it reads the count
  visit = g_forks.load();
  if (!thread_ends()) return true;
  g_visitors.fetch_sub(1);
  return false;
}

void end_visit(int visit) noexcept {
  if (visit == g_forks.load()) g_visitors.fetch_sub(1);
}

#ifdef __GLIBC__
/// Without this, destructors of static objects would run while threads are active.
void leave_at_once(int status, void* /*unused*/) {
  std::fflush(nullptr);
  _exit(status);
}
#endif

void end_runs() {
  g_ender.store(std::this_thread::get_id());
  g_ending.store(true);
  PyThreadState* state = PyEval_SaveThread();
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (g_visitors.load() > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kLookAgain);
  }
  g_over.store(true);
#ifdef __GLIBC__
  if (g_visitors.load() > 0) on_exit(&leave_at_once, nullptr);
#endif
  PyEval_RestoreThread(state);
}

void count_forks() {
#ifndef _WIN32
  pthread_atfork(nullptr, nullptr, [] {
    g_visitors.store(0);
    g_forks.fetch_add(1);
  });
#endif
}

}  // namespace

void stay() noexcept {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

bool program_ends() noexcept { return g_ending.load(); }

bool thread_ends() noexcept {
  if (g_ending.load()) return g_ender.load() != std::this_thread::get_id();
  return is_finalizing() && PyGILState_Check() == 0;  // if the hook was removed
}

void throw_if_ending() {
  if (thread_ends()) throw ProgramEnds();
}

bool has_gil() noexcept { return t_held.depth > 0; }

int take_gil() noexcept {
  if (t_held.depth > 0) {
    ++t_held.depth;
    return kNested;
  }
  if (!begin_visit(t_held.visit)) return kRefused;
  const auto state = surviving_exit([] { return PyGILState_Ensure(); });
  ++t_held.depth;
  return static_cast<int>(state);
}

void give_gil(int token) noexcept {
  if (token == kRefused) return;
  --t_held.depth;
  if (token == kNested) return;
  PyGILState_Release(static_cast<PyGILState_STATE>(token));
  end_visit(t_held.visit);
}

void drop(PyObject* object) noexcept {
  if (object == nullptr || Py_IsInitialized() == 0) return;
  const int token = take_gil();
  if (token == kRefused) return;
  surviving_exit([&] { Py_DECREF(object); });
  give_gil(token);
}

WithoutGil::WithoutGil() {
  if (!begin_visit(visit_)) throw ProgramEnds();
  held_ = std::exchange(t_held, {});
  state_ = PyEval_SaveThread();
}

WithoutGil::~WithoutGil() {
  if (g_over.load() && thread_ends()) stay();
  surviving_exit([&] { PyEval_RestoreThread(state_); });
  t_held = held_;
  end_visit(visit_);
}

void bind_exit(py::module_& m) {
  count_forks();
  m.def("program_ends", &program_ends,
        "Return whether the program is ending, which ends searches of other threads.");
  m.def(
      "throw_at_exit",
      [] {
        if (program_ends()) throw ProgramEnds();
      },
      "Raise SystemExit if the program is ending, or EngineError in the thread that ends it.");
  py::module_::import("atexit").attr("register")(py::cpp_function(&end_runs));
}

}  // namespace pyengine::bindings
