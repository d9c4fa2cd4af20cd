#include "foreign_calls.h"

#include "interpreter.h"

namespace pyengine::bindings {
namespace {

const Names* g_names = nullptr;

/// The value of an int. Reads small ones in place, since a call for each takes longer than the rest
/// of a playout's ply.
long long value_of(PyObject* number, int& overflows) {
#if PY_VERSION_HEX >= 0x030C0000
  const auto* value = reinterpret_cast<const PyLongObject*>(number);
  if (PyUnstable_Long_IsCompact(value) != 0) return PyUnstable_Long_CompactValue(value);
#else
  if (Py_SIZE(number) == 0) return 0;
  if (Py_SIZE(number) == 1) return reinterpret_cast<const PyLongObject*>(number)->ob_digit[0];
#endif
  return PyLong_AsLongLongAndOverflow(number, &overflows);
}

}  // namespace

void prepare_names() { g_names = new Names; }

const Names& names() { return *g_names; }

CallGuard next_call() {
  CallGuard::check();
  return CallGuard(nullptr);
}

py::object call(const py::object& object, const py::object& method) {
  const CallGuard free = next_call();
  PyObject* answer =
      surviving_exit([&] { return PyObject_CallMethodNoArgs(object.ptr(), method.ptr()); });
  if (answer == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(answer);
}

py::object call(const py::object& object, const py::object& method, const py::object& argument) {
  const CallGuard free = next_call();
  PyObject* answer = surviving_exit(
      [&] { return PyObject_CallMethodOneArg(object.ptr(), method.ptr(), argument.ptr()); });
  if (answer == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(answer);
}

py::object call(const py::object& object, const py::object& method, Action action) {
  return call(object, method, py::int_(action));
}

bool append_ints(const py::object& answer, std::vector<long long>& numbers) {
  if (!PyList_CheckExact(answer.ptr()) && !PyTuple_CheckExact(answer.ptr())) return false;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(answer.ptr());
  PyObject* const* items = PySequence_Fast_ITEMS(answer.ptr());
  numbers.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!PyLong_CheckExact(items[i])) return false;
    int overflows = 0;
    numbers.push_back(value_of(items[i], overflows));
    if (overflows != 0) return false;
  }
  return true;
}

}  // namespace pyengine::bindings
