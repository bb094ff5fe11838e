#include "access.hpp"

#include "node.hpp"

#include <ATen/EmptyTensor.h>
#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/functions/utils.h>

namespace ndpool::python {

namespace {

/// The dtypes that pools of torch and of ndpool share.
bool find_dtype(at::ScalarType type, Dtype& dtype) {
  switch (type) {
    case at::kFloat: dtype = Dtype::f32; return true;
    case at::kDouble: dtype = Dtype::f64; return true;
    case at::kHalf: dtype = Dtype::f16; return true;
    case at::kBFloat16: dtype = Dtype::bf16; return true;
    case at::kChar: dtype = Dtype::i8; return true;
    case at::kByte: dtype = Dtype::u8; return true;
    case at::kShort: dtype = Dtype::i16; return true;
    case at::kInt: dtype = Dtype::i32; return true;
    case at::kLong: dtype = Dtype::i64; return true;
    case at::kUInt16: dtype = Dtype::u16; return true;
    case at::kUInt32: dtype = Dtype::u32; return true;
    case at::kUInt64: dtype = Dtype::u64; return true;
    case at::kBool: dtype = Dtype::boolean; return true;
    default: return false;
  }
}

at::ScalarType winner_type(const Call& call, bool indexed) {
  if (indexed) return at::kLong;
  return call.winners == Dtype::u8 ? at::kByte : call.winners == Dtype::u16 ? at::kUInt16 : at::kUInt32;
}

bool is_short(at::ScalarType type) { return type == at::kHalf || type == at::kBFloat16; }

PyObject* none() { return Py_NewRef(Py_None); }

/// As `TorchTensors::run`.
PyObject* unpool(const std::shared_ptr<const Call>& call, const at::Tensor& y, const at::Tensor& indices,
                 const TensorRef* refs) {
  at::Tensor x = new_tensor(call->shape, call->strides, y.scalar_type());
  const Outcome outcome = maps->unpool(call->pool, refs[0], refs[1], ref_of(x));
  if (outcome == Outcome::failed) return nullptr;
  if (outcome == Outcome::declined) return none();
  if (y.requires_grad() && at::GradMode::is_enabled()) record(call, y, x, indices, false);
  return THPVariable_Wrap(std::move(x));
}

}  // namespace

bool is_plain(const at::Tensor& x) {
  // Bits, since the difference of key sets keeps the backends.
  static const std::uint64_t plain = at::detail::empty_cpu({0}, at::kFloat).key_set().raw_repr();
  return (x.key_set().raw_repr() & ~plain) == 0;
}

bool is_quiet() {
  const c10::impl::LocalDispatchKeySet local = c10::impl::tls_local_dispatch_key_set();
  const std::uint64_t more = local.included_.raw_repr() & ~c10::default_included_set.raw_repr();
  return more == 0 && !at::impl::torch_function_mode_enabled();
}

TensorRef ref_of(const at::Tensor& plain) {
  TensorRef ref{plain.data_ptr(), Dtype::f32, static_cast<int>(plain.dim()), plain.sizes().data(),
                plain.strides().data()};
  find_dtype(plain.scalar_type(), ref.dtype);
  return ref;
}

at::Tensor new_tensor(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
                      at::ScalarType dtype) {
  return at::detail::empty_strided_cpu(shape, strides, dtype);
}

bool TorchTensors::read(PyObject* object, TensorRef& ref) const {
  const at::Tensor& x = THPVariable_Unpack(object);
  if (!is_plain(x) || !find_dtype(x.scalar_type(), ref.dtype)) return false;
  ref.data = const_cast<void*>(x.const_data_ptr());
  ref.rank = static_cast<int>(x.dim());
  ref.shape = x.sizes().data();
  ref.strides = x.strides().data();
  return true;
}

PyObject* TorchTensors::run(const Calls<TorchTensors>& calls, const std::shared_ptr<const Call>& found,
                            PyObject* const* args, Py_ssize_t count, const TensorRef* refs) const {
  HANDLE_TH_ERRORS
  const std::shared_ptr<const Call> call = found;  // the cache may be emptied while the GIL is released
  const at::Tensor& x = THPVariable_Unpack(args[0]);
  if (!is_quiet() || torch::autograd::isFwGradDefined(x)) return none();
  if (calls.autocasts && is_short(x.scalar_type()) && at::autocast::is_autocast_enabled(at::kCPU)) return none();
  if (call->kind == CallKind::unpool) return unpool(call, x, THPVariable_Unpack(args[1]), refs);

  const bool is_recorded = x.requires_grad() && at::GradMode::is_enabled();
  if (is_recorded && call->is_recorded_in_torch)
    return PyObject_Vectorcall(calls.reference, args, static_cast<std::size_t>(count), nullptr);
  const bool has_winners = calls.indexed || (is_recorded && call->kind == CallKind::extreme);
  at::Tensor y = new_tensor(call->shape, is_recorded ? call->recorded_strides : call->strides, x.scalar_type());
  at::Tensor winners;
  TensorRef winners_ref{};
  if (has_winners) {
    winners = new_tensor(call->shape, call->recorded_strides, winner_type(*call, calls.indexed));
    winners_ref = ref_of(winners);
  }
  const Outcome outcome = maps->forward(call->pool, refs[0], ref_of(y), has_winners ? &winners_ref : nullptr);
  if (outcome == Outcome::failed) return nullptr;
  if (outcome == Outcome::declined) return none();
  if (is_recorded) record(call, x, y, winners, !calls.indexed);
  PyObject* values = THPVariable_Wrap(std::move(y));
  if (!calls.indexed || values == nullptr) return values;
  PyObject* indices = THPVariable_Wrap(std::move(winners));
  PyObject* pair = indices == nullptr ? nullptr : PyTuple_Pack(2, values, indices);
  Py_DECREF(values);
  Py_XDECREF(indices);
  return pair;
  END_HANDLE_TH_ERRORS
}

}  // namespace ndpool::python
