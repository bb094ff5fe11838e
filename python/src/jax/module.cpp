// The compiled module `ndpool.jax._native`: the handlers as capsules, by the names of their maps.
#define PY_SSIZE_T_CLEAN
#include "handlers.hpp"

#include <Python.h>

namespace {

int add_handlers(PyObject* module) {
  PyObject* capsules = PyDict_New();
  if (capsules == nullptr) return -1;
  for (const ndpool::python::jax::Handler& handler : ndpool::python::jax::handlers()) {
    PyObject* capsule = PyCapsule_New(reinterpret_cast<void*>(handler.call), nullptr, nullptr);
    const int failed = capsule == nullptr ? -1 : PyDict_SetItemString(capsules, handler.map, capsule);
    Py_XDECREF(capsule);
    if (failed != 0) {
      Py_DECREF(capsules);
      return -1;
    }
  }
  const int failed = PyModule_AddObjectRef(module, "handlers", capsules);
  Py_DECREF(capsules);
  return failed;
}

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(&add_handlers)}, {0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Handlers of XLA.", 0, nullptr, slots, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__native() { return PyModuleDef_Init(&definition); }
