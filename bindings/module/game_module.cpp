/// The Python part of a module with a game: its attribute `__pyengine_game__` is a capsule for
/// pyengine, which pyengine.load_game() reads. Compiled into each such module.
#include <Python.h>

namespace pyengine {
struct GameCapsule;
}

extern "C" const pyengine::GameCapsule* pyengine_game_capsule(const char* python_abi);

namespace {

int add_capsule(PyObject* module) {
  const pyengine::GameCapsule* content = nullptr;
  try {
    content = pyengine_game_capsule(PYENGINE_PYTHON_ABI);
  } catch (...) {
    PyErr_NoMemory();
    return -1;
  }
  // The engine only reads it.
  PyObject* capsule =
      PyCapsule_New(const_cast<pyengine::GameCapsule*>(content), "pyengine.game", nullptr);
  if (capsule == nullptr) return -1;
  const int failed = PyModule_AddObjectRef(module, "__pyengine_game__", capsule);
  Py_DECREF(capsule);
  return failed;
}

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(&add_capsule)},
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

#define PYENGINE_TEXT(x) #x
#define PYENGINE_TEXT_OF(x) PYENGINE_TEXT(x)
#define PYENGINE_JOIN(a, b) a##b
#define PYENGINE_JOINED(a, b) PYENGINE_JOIN(a, b)

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          PYENGINE_TEXT_OF(PYENGINE_MODULE),
                          "A game for pyengine.",
                          0,
                          nullptr,
                          slots,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PYENGINE_JOINED(PyInit_, PYENGINE_MODULE)() { return PyModuleDef_Init(&definition); }
