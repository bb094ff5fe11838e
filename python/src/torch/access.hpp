// Tensors of torch, by torch's own headers.
#pragma once

#include "../calls_type.hpp"

#include <torch/csrc/autograd/python_variable.h>

namespace ndpool::python {

/// The maps of `ndpool._core`.
extern const TensorMaps* maps;

/// False unless x is nothing but memory of the CPU: no view to negate, no batch of a transformation, no subclass.
bool is_plain(const at::Tensor& x);
/// False while a mode or a transformation wants to see what is called.
bool is_quiet();
TensorRef ref_of(const at::Tensor& plain);
at::Tensor new_tensor(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
                      at::ScalarType dtype);

class TorchTensors {
 public:
  bool init(PyObject*) { return true; }
  bool is_tensor(PyObject* object) const { return THPVariable_CheckExact(object); }
  bool read(PyObject* object, TensorRef& ref) const;
  PyObject* run(const Calls<TorchTensors>& calls, const std::shared_ptr<const Call>& call, PyObject* const* args,
                Py_ssize_t count, const TensorRef* refs) const;
};

}  // namespace ndpool::python
