#include "callback_lock.h"

#include <chrono>
#include <map>
#include <utility>

#include "base/process.h"
#include "interpreter.h"
#include "python_error.h"

namespace pyengine::bindings {
namespace {

constexpr std::chrono::milliseconds kSignalPeriod{10};

/// An object and its method, or a callable and nullptr.
using Identity = std::pair<PyObject*, PyObject*>;

Identity identity_of(const py::object& fn) {
  if (PyMethod_Check(fn.ptr()) == 0) return {fn.ptr(), nullptr};
  return {PyMethod_GET_SELF(fn.ptr()), PyMethod_GET_FUNCTION(fn.ptr())};
}

/// Without a GIL, several threads may create evaluators concurrently.
struct KnownLocks {
  std::mutex mutex;
  std::map<Identity, std::weak_ptr<CallbackLock>> locks;
};

}  // namespace

struct CallbackLock::Owned {
  long process = process_id();
  Mutex mutex;
};

CallbackLock::CallbackLock() : current_(new Owned) {}

CallbackLock::~CallbackLock() {
  const Owned* owned = current_.load();
  if (owned->process == process_id()) delete owned;  // otherwise it may be locked
}

std::shared_ptr<CallbackLock> CallbackLock::of(const py::object& fn) {
  const Identity identity = identity_of(fn);
  // Never destroyed, because functions may outlive it.
  static auto& known = *new KnownLocks;
  // The code below does not call Python. The holder of the lock therefore never waits for the GIL,
  // and the lock is free during a fork, for which the interpreter stops its threads.
  const std::lock_guard held(known.mutex);
  auto& locks = known.locks;
  if (const auto entry = locks.find(identity); entry != locks.end()) {
    if (auto lock = entry->second.lock()) return lock;
  }
  std::erase_if(locks, [](const auto& entry) { return entry.second.expired(); });
  auto lock = std::make_shared<CallbackLock>();
  locks.emplace(identity, lock);
  return lock;
}

CallbackLock::Mutex& CallbackLock::mutex() {
  Owned* current = current_.load();
  if (current->process != process_id()) {
    auto mine = std::make_unique<Owned>();
    if (current_.compare_exchange_strong(current, mine.get())) current = mine.release();
  }
  return current->mutex;
}

std::unique_lock<CallbackLock::Mutex> CallbackLock::lock() {
  std::unique_lock held(mutex(), std::try_to_lock);
  while (!held.owns_lock() && !held.try_lock_for(kSignalPeriod)) {
    if (program_ends()) throw ProgramEnds();  // the holder may never release it
    const WithGil gil;
    if (PyErr_CheckSignals() != 0) throw PythonError(py::error_already_set());
  }
  return held;
}

}  // namespace pyengine::bindings
