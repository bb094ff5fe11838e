// What Python's limited API has only as functions: one wheel then serves Python 3.12 and all later versions.
#pragma once

#include <nanobind/nanobind.h>

namespace ndpool::python {

/// object.name(), as PyObject_CallMethodNoArgs.
inline PyObject* call_method(PyObject* object, PyObject* name) {
  return PyObject_VectorcallMethod(name, &object, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}

}  // namespace ndpool::python
