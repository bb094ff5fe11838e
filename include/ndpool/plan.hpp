// A pool prepared for one shape: validation and choices are made once, running allocates nothing.
//
//   const auto plan = ndpool::max_pool({.kernel = {2, 2}}).plan<float>({64, 112, 112});
//   plan.forward(x, y);
#pragma once

#include <ndpool/pool.hpp>

namespace ndpool {

/// Immutable, cheap to copy, and safe to share between threads. `T` is the scalar of inputs and results.
template <class T>
class Plan {
 public:
  const Shape& output_shape() const { return output_shape_; }

  /// Scratch that each thread keeps after its first run of this plan; 0 if the spec runs it.
  std::size_t scratch_bytes() const { return kernels_ == nullptr ? 0 : kernels_->scratch_bytes(); }

  /// True if compiled kernels run the plan, false if the spec does.
  bool has_kernels() const { return kernels_ != nullptr; }

  /// y = R(x), for arrays with the shape and strides of the plan; y is packed. False if `watch` stopped the run. The
  /// arrays must not overlap.
  bool forward(const T* x, T* y, const Watch& watch = {}) const {
    const View<const T> from = in(x);
    const View<T> to = out(y);
    require(check_view(from, shape_, Argument::x));
    require(check_output(to, output_shape_, Argument::y));
    require(check_overlap(to, from, Argument::y));
    if (kernels_ != nullptr) return kernels_->forward(x, y, watch);
    pool_.forward(from, to);
    if (watch.keep_going != nullptr) watch.keep_going(watch.context, 1);
    return true;
  }

  /// The same, and the winner of each window; `indices` is packed. See Pool::forward.
  template <spec::IndexScalar I>
  void forward(const T* x, T* y, I* indices) const {
    pool_.forward(in(x), out(y), out(indices));
  }

  /// dy = (derivative of R at x) dx; dx has the strides of x, dy is packed.
  void jvp(const T* x, const T* dx, T* dy) const { pool_.jvp(in(x), in(dx), out(dy)); }

  /// gx = (derivative of R at x)^T gy; gy is packed, gx has the strides of x.
  void vjp(const T* x, const T* gy, T* gx) const { pool_.vjp(in(x), out(gy), in(gx)); }

  /// Derivatives of max and min from packed indices, flat or compact. See Pool::vjp_from_indices.
  template <spec::IndexScalar I>
  void jvp_from_indices(const I* indices, const T* dx, T* dy) const {
    pool_.jvp_from_indices(out(indices), in(dx), out(dy));
  }
  template <spec::IndexScalar I>
  void vjp_from_indices(const I* indices, const T* gy, T* gx) const {
    pool_.vjp_from_indices(out(indices), out(gy), in(gx));
  }

 private:
  friend class Pool;
  Plan(const Pool& pool, const Shape& shape, const Shape& strides, const Shape& output_shape,
       std::shared_ptr<const KernelPlan> kernels)
      : pool_(pool), shape_(shape), strides_(strides), output_shape_(output_shape), kernels_(std::move(kernels)) {}

  template <class E>
  View<E> in(E* data) const {
    return {data, shape_, strides_};
  }
  template <class E>
  View<E> out(E* data) const {
    return {data, output_shape_};
  }

  Pool pool_;
  Shape shape_, strides_, output_shape_;
  std::shared_ptr<const KernelPlan> kernels_;
};

template <class T>
Plan<T> Pool::plan(const Shape& shape, const Shape& strides) const {
  const Geometry resolved = geometry(shape);
  const Shape in_strides = strides.empty() ? packed_strides(shape) : strides;
  require(detail::check_count(Argument::strides, in_strides.size(), shape.size()));
  run<T>(shape, [&](const Geometry&, const auto& reducer) { require(spec::core::check_value(resolved, reducer)); });
  const Shape out_strides = packed_strides(resolved.output_shape());
  return {*this, shape, in_strides, visible_shape(resolved),
          kernel_plan<T>(resolved, {in_strides, out_strides, in_strides, out_strides})};
}

}  // namespace ndpool
