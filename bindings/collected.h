/// Bound types as a part of Python's garbage collection.
///
/// The collector finds a cycle only where every reference in it is visited, and it counts: a
/// reference that is visited twice lets it free what is still used. So each has one visitor.
///
/// - What a C++ object holds alone (the state in a position, the game of an engine) is visited by
///   the bound object that owns the C++ object.
/// - What C++ objects share (the user's game, an evaluator's function) has one reference, visited
/// by
///   the bound object that was made with it. Whoever keeps the shared object from call to call also
///   keeps a reference to that bound object.
/// - What belongs to a call under way is visited by nobody. So it keeps all that it leads to, as
///   the arguments on the stack do.
///
/// What is visited changes only while the thread has the interpreter (the lock, or in a Python
/// without it, the right to run): the collector looks twice, and has to see the same.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>

namespace pyengine::bindings {

namespace py = pybind11;

/// Tells the collector of a reference. Returns what tp_traverse is to return at once unless 0.
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

/// The C++ object of `self`; null before it is made.
template <class T>
[[nodiscard]] T* value_of(PyObject* self) noexcept {
  if (!py::detail::is_holder_constructed(self)) return nullptr;
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  return static_cast<T*>(instance->get_value_and_holder().value_ptr());
}

/// While it lives, what a call changes is not visited. Made and destroyed with the interpreter
/// held.
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
/// them; null where a cycle always leads through an object that can drop its own.
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
