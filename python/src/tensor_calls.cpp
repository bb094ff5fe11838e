// Remembered calls on tensors of torch, which are read through DLPack: with every version of torch.
#include "array.hpp"
#include "calls_type.hpp"
#include "limited_api.hpp"
#include "maps.hpp"

namespace ndpool::python {

namespace {

/// True or false, or an error of Python (-1), which `take` raises.
bool is_true(PyObject* answer) {
  if (answer == nullptr) throw nb::python_error();
  const bool truth = answer == Py_True || (answer != Py_False && answer != Py_None && PyObject_IsTrue(answer) == 1);
  Py_DECREF(answer);
  return truth;
}

/// What torch answers about itself and its tensors, asked through Python.
class DlpackTensors {
 public:
  bool init(PyObject* given) {
    PyObject *type, *questions;
    if (!PyTuple_Check(given) || PyArg_ParseTuple(given, "OO!OOOO", &type, &PyTuple_Type, &questions, &forward_ad_,
                                                  &is_grad_enabled_, &is_autocast_enabled_, &int64_) == 0) {
      if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_TypeError, "a tuple is needed");
      return false;
    }
    given_ = nb::borrow(given);
    questions_ = questions;
    type_ = reinterpret_cast<PyTypeObject*>(type);
    return true;
  }

  bool is_tensor(PyObject* object) const { return Py_TYPE(object) == type_; }
  bool read(PyObject* object, TensorRef& ref) const {
    // Whatever is no plain memory of the CPU is an error to DLPack.
    Array array;
    if (!read_plain(object, array)) return false;
    ref = {array.data, array.scalar, array.rank, array.extents, array.strides};
    return ref.strides != nullptr;
  }

  PyObject* run(const Calls<DlpackTensors>& calls, const std::shared_ptr<const Call>& found, PyObject* const* args,
                Py_ssize_t, const TensorRef* refs) const {
    const std::shared_ptr<const Call> call = found;  // the cache may be emptied by what Python does
    try {
      if (is_watched(calls, args, call->kind == CallKind::unpool ? 2 : 1, refs)) Py_RETURN_NONE;
      const nb::object y = new_tensor(args[0], *call, false);
      const nb::object indices = calls.indexed ? new_tensor(args[0], *call, true) : nb::object();
      TensorRef to, at;
      if (!read(y.ptr(), to) || (calls.indexed && !read(indices.ptr(), at))) Py_RETURN_NONE;
      const Outcome outcome = call->kind == CallKind::unpool
                                  ? tensor_maps.unpool(call->pool, refs[0], refs[1], to)
                                  : tensor_maps.forward(call->pool, refs[0], to, calls.indexed ? &at : nullptr);
      if (outcome == Outcome::failed) return nullptr;
      if (outcome == Outcome::declined) Py_RETURN_NONE;
      return calls.indexed ? PyTuple_Pack(2, y.ptr(), indices.ptr()) : nb::object(y).release().ptr();
    } catch (nb::python_error& error) {
      error.restore();
      return nullptr;
    }
  }

 private:
  /// True if the result must be recorded, or is asked for by a transformation or a mode.
  bool is_watched(const Calls<DlpackTensors>& calls, PyObject* const* args, int arrays, const TensorRef* refs) const {
    static PyObject* const requires_grad = PyUnicode_InternFromString("requires_grad");
    static PyObject* const is_neg = PyUnicode_InternFromString("is_neg");
    static PyObject* const is_zerotensor = PyUnicode_InternFromString("_is_zerotensor");
    static PyObject* const current_level = PyUnicode_InternFromString("_current_level");
    for (Py_ssize_t i = 0; i < PyTuple_Size(questions_); ++i)
      if (is_true(PyObject_CallNoArgs(PyTuple_GetItem(questions_, i)))) return true;
    if (const nb::object level = nb::steal(PyObject_GetAttr(forward_ad_, current_level));
        !level.is_valid() || PyLong_AsLong(level.ptr()) >= 0)
      return true;
    const bool is_short = refs[0].dtype == Dtype::f16 || refs[0].dtype == Dtype::bf16;
    if (calls.autocasts && is_short && is_true(PyObject_CallNoArgs(is_autocast_enabled_))) return true;
    for (int i = 0; i < arrays; ++i) {
      if (is_true(PyObject_GetAttr(args[i], requires_grad)) && is_true(PyObject_CallNoArgs(is_grad_enabled_)))
        return true;
      if (is_true(call_method(args[i], is_neg))) return true;
      if (is_true(call_method(args[i], is_zerotensor))) return true;
    }
    return false;
  }

  nb::object new_tensor(PyObject* x, const Call& call, bool of_indices) const {
    static PyObject* const new_empty_strided = PyUnicode_InternFromString("new_empty_strided");
    static PyObject* const names = PyTuple_Pack(1, nb::str("dtype").ptr());
    PyObject* const args[] = {x, call.shape_tuple, call.strides_tuple, int64_};
    PyObject* made = PyObject_VectorcallMethod(new_empty_strided, args, 3, of_indices ? names : nullptr);
    if (made == nullptr) throw nb::python_error();
    return nb::steal(made);
  }

  nb::object given_;  // owns the rest
  PyTypeObject* type_ = nullptr;
  PyObject *questions_ = nullptr, *forward_ad_ = nullptr, *is_grad_enabled_ = nullptr;
  PyObject *is_autocast_enabled_ = nullptr, *int64_ = nullptr;
};

}  // namespace

void add_tensor_calls(nb::module_& module) {
  PyObject* type = Calls<DlpackTensors>::make_type("ndpool._core.TensorCalls");
  if (type == nullptr) throw nb::python_error();
  module.attr("TensorCalls") = nb::steal(type);
  module.attr("tensor_maps") = nb::capsule(&tensor_maps, TensorMaps::capsule);
}

}  // namespace ndpool::python
