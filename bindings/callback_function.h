/// A Python function that evaluates batches. It is called under a lock, and its outputs are
/// checked.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <utility>

#include "callback_lock.h"
#include "collected.h"
#include "interpreter.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// Expected shapes of the outputs: policy [rows, policy], value [rows] or [rows, value].
struct AnswerShape {
  int rows = 0;
  int policy = 0;
  int value = 1;
};

/// Can be copied and destroyed without the GIL.
class CallbackFunction {
 public:
  /// Requires the GIL. Throws ConfigError if `fn` is not callable.
  explicit CallbackFunction(py::object fn);

  /// All copies share one reference to the function, which one bound object visits (collected.h).
  [[nodiscard]] int traverse(const Visit& visit) const { return visit(fn_->object); }
  /// Drops the function. Later calls throw EngineError.
  void clear() noexcept { drop(std::exchange(fn_->object, nullptr)); }

  /// Calls fn(make_argument()) with the GIL and writes its outputs as floats. An exception of the
  /// function becomes the cause of an EvaluationError; KeyboardInterrupt and similar exceptions
  /// pass through.
  template <class MakeArgument>
  void call(MakeArgument&& make_argument, const AnswerShape& shape, float* policy, float* value) {
    // Takes the lock before the GIL, because the holder of the lock may release and reacquire the
    // GIL.
    std::optional<WithoutGil> released;
    if (has_gil()) released.emplace();
    const auto held = lock_->lock();
    const WithGil gil;
    call_locked(make_argument(), shape, policy, value);
  }

 private:
  void call_locked(const py::object& argument, const AnswerShape& shape, float* policy,
                   float* value) const;

  struct Held {
    explicit Held(PyObject* object) noexcept : object(object) {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { drop(object); }
    PyObject* object;
  };

  std::shared_ptr<Held> fn_;
  std::shared_ptr<CallbackLock> lock_;  ///< destroyed before the function, which is its key
};

}  // namespace pyengine::bindings
