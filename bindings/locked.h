/// A State as the argument of a function, locked for as long as the function runs. Threads of a
/// Python without the GIL may play on a state while others read it; with the GIL this does nothing.
/// A user's game gives up lock and GIL while it runs: its position is kept until the function ends.
#pragma once

#include <pybind11/critical_section.h>
#include <pybind11/pybind11.h>

#include <functional>
#include <utility>

#include "games/any/state.h"

namespace pyengine::bindings {

namespace py = pybind11;

/// What Python knows as a State; its C++ object is read and written under the object's lock only.
class StateObject {
 public:
  StateObject() = default;
  explicit StateObject(py::handle object) : object_(object) {}

  [[nodiscard]] py::handle object() const noexcept { return object_; }
  /// The object's lock must be held.
  [[nodiscard]] State& state() const { return object_.cast<State&>(); }

 private:
  py::handle object_;  ///< borrowed: whoever calls keeps the arguments
};

/// A copy, made under the object's lock.
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

/// `function(State&, ...)` or a method of State as a method for Python that holds the lock.
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
