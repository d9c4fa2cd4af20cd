/// A State argument that is locked while a function runs. Without a GIL, threads may change a state
/// while others read it; with the GIL this does nothing. A user's game may release lock and GIL
/// while it runs, so its position is kept alive until the function ends.
#pragma once

#include <pybind11/critical_section.h>
#include <pybind11/pybind11.h>

#include <functional>
#include <utility>

#include "games/any/state.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// A Python State. Its C++ object is accessed only under the lock of the Python object.
class StateObject {
 public:
  StateObject() = default;
  explicit StateObject(py::handle object) : object_(object) {}

  [[nodiscard]] py::handle object() const noexcept { return object_; }
  /// Requires the lock of the object.
  [[nodiscard]] State& state() const { return object_.cast<State&>(); }

 private:
  py::handle object_;  ///< borrowed: the caller keeps the arguments alive
};

/// Returns a copy made under the lock.
[[nodiscard]] inline State copy_of(const py::handle& state) {
  const py::scoped_critical_section held(state);
  return State(state.cast<const State&>());
}

namespace detail {

template <class Function, class Result, class Self, class... Arguments>
auto locked(Function function, Result (*)(Self, Arguments...)) {
  return [function = std::move(function)](StateObject self, Arguments... arguments) -> Result {
    const py::scoped_critical_section held(self.object());
    const auto kept = self.state().kept_position();
    return function(self.state(), std::forward<Arguments>(arguments)...);
  };
}

}  // namespace detail

/// Wraps `function(State&, ...)` or a method of State as a Python method that holds the lock.
template <class Function>
auto locked(Function function) {
  using Signature = py::detail::function_signature_t<Function>;
  return detail::locked(std::move(function), static_cast<Signature*>(nullptr));
}
template <class Result, class... Arguments>
auto locked(Result (State::*method)(Arguments...)) {
  return locked([method](State& self, Arguments... arguments) -> Result {
    return (self.*method)(std::forward<Arguments>(arguments)...);
  });
}

}  // namespace pyengine::bindings

namespace pybind11::detail {

template <>
struct type_caster<pyengine::bindings::StateObject> {
  PYBIND11_TYPE_CASTER(pyengine::bindings::StateObject, make_caster<pyengine::State>::name);

  bool load(handle source, bool /*convert*/) {
    if (!isinstance<pyengine::State>(source)) return false;
    value = pyengine::bindings::StateObject(source);
    return true;
  }
};

}  // namespace pybind11::detail
