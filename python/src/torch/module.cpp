// Remembered calls on tensors of torch, read and recorded in C++. Built against one version of torch, and loaded with
// no other; `ndpool._core.TensorCalls` serves the others.
#include "../calls_type.hpp"
#include "access.hpp"

#ifndef NDPOOL_TORCH_MODULE
#error "the build names the module after the version of torch"
#endif
#define NDPOOL_JOIN(a, b) a##b
#define NDPOOL_INIT(name) NDPOOL_JOIN(PyInit_, name)

namespace ndpool::python {

const TensorMaps* maps = nullptr;

namespace {

bool prepare() {
  PyObject* module = PyImport_ImportModule("ndpool._core");
  if (module == nullptr) return false;
  PyObject* capsule = PyObject_GetAttrString(module, "tensor_maps");
  Py_DECREF(module);
  if (capsule == nullptr) return false;
  maps = static_cast<const TensorMaps*>(PyCapsule_GetPointer(capsule, TensorMaps::capsule));
  Py_DECREF(capsule);
  return maps != nullptr;
}

PyObject* make_module() {
  static PyModuleDef definition{};
  definition.m_base = PyModuleDef_HEAD_INIT;
  definition.m_name = "ndpool.torch._native";
  definition.m_doc = "Calls and autograd nodes of pools, for one version of torch.";
  definition.m_size = -1;
  if (!prepare()) return nullptr;
  PyObject* module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  PyObject* type = Calls<TorchTensors>::make_type("ndpool.torch._native.TensorCalls");
  if (type != nullptr && PyModule_AddObjectRef(module, "TensorCalls", type) == 0) {
    Py_DECREF(type);
    return module;
  }
  Py_XDECREF(type);
  Py_DECREF(module);
  return nullptr;
}

}  // namespace

}  // namespace ndpool::python

extern "C" __attribute__((visibility("default"))) PyObject* NDPOOL_INIT(NDPOOL_TORCH_MODULE)() {
  return ndpool::python::make_module();
}
