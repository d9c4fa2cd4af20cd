#include "playout_random.h"

#include <pybind11/critical_section.h>

#include "bindings.h"

namespace pyengine::bindings {

/// Fisher and Yates. No code of the user runs meanwhile.
void PlayoutRandom::shuffle(const py::list& items) {
  const py::scoped_critical_section held(items);
  PyObject** const first = PySequence_Fast_ITEMS(items.ptr());
  for (Py_ssize_t left = PyList_GET_SIZE(items.ptr()); left > 1; --left) {
    std::swap(first[left - 1], first[rng_.below(static_cast<std::uint32_t>(left))]);
  }
}

void bind_playout_random(py::module_& m) {
  py::class_<PlayoutRandom>(
      m, "PlayoutRandom",
      "The random numbers of a playout: the methods of ``random.Random`` that a playout needs.\n\n"
      "The argument of ``play_out()`` of a user's state. Also ``PlayoutRandom(seed)``, for tests.")
      .def(py::init([](std::uint64_t seed) { return PlayoutRandom(Rng(seed)); }),
           py::arg("seed") = 0)
      .def("random", &PlayoutRandom::random, "Return a float in [0, 1).")
      .def("randrange", &PlayoutRandom::randrange, py::arg("stop"), py::pos_only(),
           "Return an int in 0..stop - 1; stop is at most 2**32 - 1.")
      .def("choice", &PlayoutRandom::choice, py::arg("items"), py::pos_only(),
           "Return an item of a sequence.")
      .def("shuffle", &PlayoutRandom::shuffle, py::arg("items"), py::pos_only(),
           "Shuffle a list in place.");
}

}  // namespace pyengine::bindings
