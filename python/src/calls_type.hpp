// The Python type of remembered calls: `calls(x, *arguments)` gives the result, or None where Python has to serve the
// call; `calls.add(entry, x, *arguments)` remembers one, `calls.reads(x, *arguments)` says if it can. `Access` reads
// and makes the tensors.
#pragma once

#include "calls.hpp"

#include <structmember.h>

#include <exception>

namespace ndpool::python {

/// What `Access` must have, beside a constructor that needs nothing:
///   bool init(PyObject* given)                    reads the last argument of the type
///   bool read(PyObject* object, TensorRef& ref)   false unless it is plain memory of the CPU
///   bool is_tensor(PyObject* object)              may be true for more than `read` takes
///   PyObject* run(calls, call, args, count, refs)  the result, null for an error, or Py_None (new) for Python
template <class Access>
struct Calls {
  struct Head {
    PyObject_HEAD vectorcallfunc vectorcall;
  };
  Head head;
  CallCache cache;
  PyObject* reference;  ///< torch's function
  bool autocasts;       ///< autocast makes torch pool short floats in float32
  bool indexed;         ///< the result is a pair of values and flat indices
  Access access;

  static constexpr int max_tensors = 2;

  static PyObject* make_type(const char* name) {
    static PyMethodDef methods[] = {{"add", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&add)),
                                     METH_FASTCALL, "Remembers a call: add(entry, x, *arguments). True if it could."},
                                    {"reads", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&reads)),
                                     METH_FASTCALL, "True if calls(x, *arguments) can be remembered."},
                                    {"find", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&find)),
                                     METH_FASTCALL, "The entry of a call, or None: find(x, *arguments)."},
                                    {nullptr, nullptr, 0, nullptr}};
    static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Head, vectorcall), READONLY, nullptr},
                                    {nullptr, 0, 0, 0, nullptr}};
    static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(&create)},
                                  {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
                                  {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                                  {Py_tp_methods, methods},
                                  {Py_tp_members, members},
                                  {0, nullptr}};
    static PyType_Spec spec = {name, sizeof(Calls), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, slots};
    return PyType_FromSpec(&spec);
  }

 private:
  static PyObject* create(PyTypeObject* type, PyObject* args, PyObject*) {
    PyObject *reference, *given = Py_None;
    int autocasts, indexed;
    if (PyArg_ParseTuple(args, "Opp|O", &reference, &autocasts, &indexed, &given) == 0) return nullptr;
    Calls* self = reinterpret_cast<Calls*>(PyType_GenericAlloc(type, 0));
    if (self == nullptr) return nullptr;
    new (&self->cache) CallCache();
    new (&self->access) Access();
    self->head.vectorcall = &call;
    self->reference = Py_NewRef(reference);
    self->autocasts = autocasts != 0;
    self->indexed = indexed != 0;
    PyObject* object = reinterpret_cast<PyObject*>(self);
    if (self->access.init(given)) return object;
    Py_DECREF(object);
    return nullptr;
  }

  static void destroy(PyObject* object) {
    Calls* self = reinterpret_cast<Calls*>(object);
    PyTypeObject* type = Py_TYPE(object);
    self->access.~Access();
    self->cache.~CallCache();
    Py_DECREF(self->reference);
    PyObject_Free(object);
    Py_DECREF(reinterpret_cast<PyObject*>(type));
  }

  /// Reads the tensors of a call into `refs`. False if the call cannot be known by value.
  static bool read(Calls* self, PyObject* const* args, Py_ssize_t count, CallKey& key, TensorRef* refs) {
    int tensors = 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!self->access.is_tensor(args[i])) {
        if (!key.add(args[i])) return false;
        continue;
      }
      if (tensors == max_tensors || !self->access.read(args[i], refs[tensors])) return false;
      key.add(refs[tensors++]);
    }
    return tensors > 0 && key.fits();
  }

  static PyObject* call(PyObject* object, PyObject* const* args, std::size_t flagged_count, PyObject* names) {
    Calls* self = reinterpret_cast<Calls*>(object);
    const Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
    CallKey key;
    TensorRef refs[max_tensors];
    if (names != nullptr || count == 0 || !read(self, args, count, key, refs)) Py_RETURN_NONE;
    const std::shared_ptr<const Call>* found = self->cache.find(key);
    if (found == nullptr) Py_RETURN_NONE;
    if ((*found)->kind == CallKind::torch) return PyObject_Vectorcall(self->reference, args, flagged_count, nullptr);
    return self->access.run(*self, *found, args, count, refs);
  }

  static PyObject* reads(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    CallKey key;
    TensorRef refs[max_tensors];
    return PyBool_FromLong(read(reinterpret_cast<Calls*>(object), args, count, key, refs));
  }

  static PyObject* find(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    Calls* self = reinterpret_cast<Calls*>(object);
    CallKey key;
    TensorRef refs[max_tensors];
    const std::shared_ptr<const Call>* found = read(self, args, count, key, refs) ? self->cache.find(key) : nullptr;
    return Py_NewRef(found == nullptr ? Py_None : (*found)->entry);
  }

  static PyObject* add(PyObject* object, PyObject* const* args, Py_ssize_t count) {
    Calls* self = reinterpret_cast<Calls*>(object);
    CallKey key;
    TensorRef refs[max_tensors];
    if (count < 2 || !read(self, args + 1, count - 1, key, refs)) Py_RETURN_FALSE;
    auto call = std::make_shared<Call>();
    if (!read_entry(args[0], *call)) return nullptr;
    call->x_shape.assign(refs[0].shape, refs[0].shape + refs[0].rank);
    self->cache.insert(key, std::move(call));
    Py_RETURN_TRUE;
  }

  static bool read_numbers(PyObject* tuple, std::vector<std::int64_t>& numbers) {
    if (!PyTuple_Check(tuple)) {
      PyErr_SetString(PyExc_TypeError, "shapes and strides must be tuples");
      return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i)
      numbers.push_back(PyLong_AsLongLong(PyTuple_GetItem(tuple, i)));
    return PyErr_Occurred() == nullptr;
  }

  /// The fields of `Entry` in python/ndpool/torch/_calls.py.
  static bool read_entry(PyObject* entry, Call& call) {
    int kind, winner_bytes, is_recorded_in_torch;
    PyObject *recorded, *gradient;
    if (PyArg_ParseTuple(entry, "iOOOOOiOp", &kind, &call.pool, &call.shape_tuple, &call.strides_tuple, &recorded,
                         &gradient, &winner_bytes, &call.backward, &is_recorded_in_torch) == 0)
      return false;
    call.entry = Py_NewRef(entry);
    call.is_recorded_in_torch = is_recorded_in_torch != 0;
    call.kind = static_cast<CallKind>(kind);
    call.winners = winner_bytes == 1 ? Dtype::u8 : winner_bytes == 2 ? Dtype::u16 : Dtype::u32;
    return read_numbers(call.shape_tuple, call.shape) && read_numbers(call.strides_tuple, call.strides) &&
           read_numbers(recorded, call.recorded_strides) && read_numbers(gradient, call.gradient_strides);
  }
};

}  // namespace ndpool::python
