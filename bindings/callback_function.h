/// A Python function that evaluates batches: it is called under a lock, and its answer is checked.
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

/// What a call must return: policy [rows, policy], value [rows] or [rows, value].
struct AnswerShape {
  int rows = 0;
  int policy = 0;
  int value = 1;
};

/// Safe to hold and to drop without the GIL.
class CallbackFunction {
 public:
  /// The GIL must be held. Throws ConfigError when `fn` cannot be called.
  explicit CallbackFunction(py::object fn);

  /// All copies share one reference to the function: one bound object visits it (collected.h).
  [[nodiscard]] int traverse(const Visit& visit) const { return visit(fn_->object); }
  /// Drops the function; calls then throw EngineError.
  void clear() noexcept { drop(std::exchange(fn_->object, nullptr)); }

  /// Calls fn(make_argument()) with the GIL held and writes its answer as floats. What the function
  /// raises becomes the cause of an EvaluationError; KeyboardInterrupt and its like pass unchanged.
  template <class MakeArgument>
  void call(MakeArgument&& make_argument, const AnswerShape& shape, float* policy, float* value) {
    // The lock is taken before the GIL, since its holder may release the GIL and take it again.
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
  std::shared_ptr<CallbackLock> lock_;  ///< dropped before the function, by which it is found
};

}  // namespace pyengine::bindings
