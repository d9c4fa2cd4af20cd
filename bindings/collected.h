/// Support of Python's garbage collector for bound types.
///
/// The collector finds a cycle only if every reference in it is visited, and visited once: a second
/// visit could free an object in use. So each reference has exactly one visitor.
///
/// - References held by a single C++ object (the state in a position, the game of an engine) are
/// visited by the bound object that owns the C++ object.
/// - References shared by C++ objects (a user's game, the function of an evaluator) are visited by
/// the bound object that was created with them. Every object that stores the shared one also keeps
/// a reference to that bound object.
/// - References of a running call are not visited. They keep their targets alive, like arguments on
/// the stack.
///
/// Visited references change only while the thread is attached to the interpreter, because the
/// collector visits twice and must see the same.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>

namespace pyengine::bindings {

namespace py = pybind11;

/// Reports a reference to the collector. A nonzero result must be returned from tp_traverse.
class Visit {
 public:
  Visit(visitproc visit, void* argument) noexcept : visit_(visit), argument_(argument) {}
  int operator()(PyObject* object) const {
    return object == nullptr ? 0 : visit_(object, argument_);
  }
  int operator()(const py::object& object) const { return (*this)(object.ptr()); }

 private:
  visitproc visit_;
  void* argument_;
};

/// The C++ object of `self`; nullptr before construction.
template <class T>
[[nodiscard]] T* value_of(PyObject* self) noexcept {
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  // The collector may run while pybind11 lays out the first object of a Python subclass.
  if (!instance->simple_layout && instance->nonsimple.status == nullptr) return nullptr;
  if (!py::detail::is_holder_constructed(self)) return nullptr;
  return static_cast<T*>(instance->get_value_and_holder().value_ptr());
}

/// Suspends visits to references that a call is changing. Created and destroyed with the GIL.
class CallUnderWay {
 public:
  explicit CallUnderWay(std::atomic<int>& calls) noexcept : calls_(calls) { ++calls_; }
  CallUnderWay(const CallUnderWay&) = delete;
  CallUnderWay& operator=(const CallUnderWay&) = delete;
  ~CallUnderWay() { --calls_; }

 private:
  std::atomic<int>& calls_;
};

/// For py::class_<T>: `traverse(const T&, const Visit&)` visits the references, `clear(T&)` drops
/// them. `clear` may be nullptr if every cycle contains another object that can drop its
/// references.
template <class T, int (*traverse)(const T&, const Visit&), void (*clear)(T&) = nullptr>
[[nodiscard]] py::custom_type_setup collected() {
  return py::custom_type_setup([](PyHeapTypeObject* heap_type) {
    PyTypeObject& type = heap_type->ht_type;
    type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type.tp_traverse = [](PyObject* self, visitproc visit, void* argument) {
      const Visit visitor(visit, argument);
      if (const int stop = visitor(reinterpret_cast<PyObject*>(Py_TYPE(self)))) return stop;
      const T* value = value_of<const T>(self);
      return value == nullptr ? 0 : traverse(*value, visitor);
    };
    if constexpr (clear != nullptr) {
      type.tp_clear = [](PyObject* self) {
        if (T* value = value_of<T>(self)) clear(*value);
        return 0;
      };
    }
  });
}

}  // namespace pyengine::bindings
