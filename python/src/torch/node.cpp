#include "node.hpp"

#include <ATen/EmptyTensor.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>

#include <mutex>

namespace ndpool::python {

namespace {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

/// The error of Python as an exception that autograd carries to its caller.
[[noreturn]] void throw_python_error() {
  python_error error;
  error.persist();
  throw error;
}

class PoolNode : public torch::autograd::Node {
 public:
  PoolNode(std::shared_ptr<const Call> call, bool is_private) : call_(std::move(call)), is_private_(is_private) {}

  void save(const at::Tensor& saved) { saved_ = SavedVariable(saved, false); }

  std::string name() const override {
    switch (call_->kind) {
      case CallKind::linear: return "NdpoolLinearBackward";
      case CallKind::extreme: return "NdpoolExtremeBackward";
      case CallKind::unpool: return "NdpoolUnpoolBackward";
      default: return "NdpoolCurvedBackward";
    }
  }

  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    saved_.reset_data();
  }

  variable_list apply(variable_list&& gradients) override {
    const at::Tensor& gy = gradients[0];
    if (!gy.defined()) return {at::Tensor()};
    at::Tensor saved;
    bool is_trusted = is_private_;
    if (call_->kind != CallKind::linear) {
      const std::lock_guard<std::mutex> lock(mutex_);
      saved = saved_.unpack();
      is_trusted = is_trusted && !saved_.has_hooks();
    }
    const pybind11::gil_scoped_acquire gil;
    at::Tensor gx;
    if (!serves(gy, saved) || !run(gy, saved, is_trusted, gx)) gx = ask_python(gy, saved);
    return {std::move(gx)};
  }

 private:
  /// True if the gradient can be computed here.
  bool serves(const at::Tensor& gy, const at::Tensor& saved) const {
    const auto is_simple = [](const at::Tensor& tensor) {
      return is_plain(tensor) && !torch::autograd::isFwGradDefined(tensor);
    };
    if (call_->kind == CallKind::unpool || !is_quiet() || !is_simple(gy) || (saved.defined() && !is_simple(saved)))
      return false;
    if (gy.sizes() != at::IntArrayRef(call_->shape)) return false;
    if (at::GradMode::is_enabled() && (gy.requires_grad() || (saved.defined() && saved.requires_grad()))) return false;
    return !call_->gradient_strides.empty() || gy.is_contiguous();
  }

  /// False for what the checked path must look at.
  bool run(const at::Tensor& gy, const at::Tensor& saved, bool is_trusted, at::Tensor& gx) const {
    gx = call_->gradient_strides.empty() ? at::Tensor(at::detail::empty_cpu(call_->x_shape, gy.scalar_type()))
                                         : new_tensor(call_->x_shape, call_->gradient_strides, gy.scalar_type());
    const TensorRef from = ref_of(gy), to = ref_of(gx);
    Outcome outcome = Outcome::declined;
    if (call_->kind == CallKind::extreme)
      outcome = maps->vjp_from_winners(call_->pool, ref_of(saved), from, to, is_trusted);
    else if (call_->kind == CallKind::curved)
      outcome = maps->vjp(call_->pool, ref_of(saved), from, to);
    else
      outcome = maps->vjp(call_->pool, {nullptr, from.dtype, to.rank, to.shape, to.strides}, from, to);
    if (outcome == Outcome::failed) throw_python_error();
    return outcome == Outcome::done;
  }

  at::Tensor ask_python(const at::Tensor& gy, const at::Tensor& saved) const {
    const auto object = [](const at::Tensor& tensor) {
      PyObject* wrapped = THPVariable_Wrap(tensor);
      if (wrapped == nullptr) throw_python_error();
      return pybind11::reinterpret_steal<pybind11::object>(wrapped);
    };
    const pybind11::object kept = saved.defined() ? object(saved) : pybind11::none();
    PyObject* answer = PyObject_CallFunctionObjArgs(call_->backward, kept.ptr(), object(gy).ptr(), nullptr);
    if (answer == nullptr) throw_python_error();
    const auto owner = pybind11::reinterpret_steal<pybind11::object>(answer);
    return THPVariable_Unpack(answer);
  }

  std::shared_ptr<const Call> call_;
  bool is_private_;  ///< nobody else has the winners
  SavedVariable saved_;
};

}  // namespace

void record(const std::shared_ptr<const Call>& call, const at::Tensor& x, const at::Tensor& y,
            const at::Tensor& winners, bool is_private) {
  auto node = c10::make_intrusive<PoolNode>(call, is_private);
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  if (call->kind != CallKind::linear) node->save(call->kind == CallKind::curved ? x : winners);
  torch::autograd::set_history(y, node);
}

}  // namespace ndpool::python
