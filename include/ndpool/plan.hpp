// A pool prepared for one shape: validation and choices are made once, running allocates nothing.
//
//   const auto plan = ndpool::max_pool({.kernel = {2, 2}}).plan<float>({64, 112, 112});
//   plan.forward(x, y);
#pragma once

#include <ndpool/pool.hpp>

namespace ndpool {

/// Immutable, copied without allocation (about 5 KB), and safe to share between threads. `T` is the scalar of inputs
/// and results.
template <class T>
class Plan {
 public:
  const Shape& output_shape() const { return output_shape_; }

  /// Scratch that each thread keeps after its first run of this plan; 0 if the reference runs every map.
  std::size_t scratch_bytes() const { return kernels_ == nullptr ? 0 : kernels_->scratch_bytes(); }

  /// The name of the implementation that runs a map; "reference" if no compiled one accepts the problem.
  std::string_view implementation(MapKind map) const { return has(map) ? kernels_->implementation(map) : "reference"; }
  /// The names of all implementations that accept the problem, first choice first; the last is "reference". Each can be
  /// asked for by PlanOptions::implementation.
  std::vector<std::string_view> implementations(MapKind map) const {
    return kernels_ == nullptr ? std::vector<std::string_view>{"reference"} : kernels_->implementations(map);
  }

  /// Both, with the scratch and the tiles of the map.
  MapSummary summary(MapKind map) const { return has(map) ? kernels_->summary(map) : MapSummary{}; }

  /// The maps that this pool has on scalars of type T: derivatives of floats, and indices of max and min.
  std::vector<MapKind> maps() const {
    const bool has_indices = pool_.has_indices(), is_float = !std::is_integral_v<T>;
    std::vector<MapKind> result = {MapKind::forward};
    if (has_indices) result.push_back(MapKind::forward_with_indices);
    if (is_float) result.insert(result.end(), {MapKind::jvp, MapKind::vjp});
    if (is_float && has_indices) result.insert(result.end(), {MapKind::jvp_from_indices, MapKind::vjp_from_indices});
    return result;
  }

  /// y = R(x), for arrays with the shape and strides of the plan; y is packed. False if `watch` stopped the run; so in
  /// all maps. The arrays must not overlap.
  bool forward(const T* x, T* y, const Watch& watch = {}) const {
    if (!has(MapKind::forward)) return pool_.forward(in(x), out(y), watch);
    check_input(x, Argument::x);
    check_result(at_out(y), Argument::y, at_in(x));
    return kernels_->forward(x, y, watch);
  }

  /// The same, and the winner of each window; `indices` is packed. See Pool::forward.
  template <spec::IndexScalar I>
  bool forward(const T* x, T* y, I* indices, const Watch& watch = {}) const {
    if (!has(MapKind::forward_with_indices) || !kernels_->fits(index_kind<I>()))
      return pool_.forward(in(x), out(y), out(indices), watch);
    check_input(x, Argument::x);
    check_result(at_out(y), Argument::y, at_in(x));
    check_result(at_out(indices), Argument::indices, at_in(x), at_out(y));
    return kernels_->forward_with_indices(x, y, indices, index_kind<I>(), watch);
  }

  /// dy = (derivative of R at x) dx; dx has the strides of x, dy is packed.
  bool jvp(const T* x, const T* dx, T* dy, const Watch& watch = {}) const {
    if (!has(MapKind::jvp)) return pool_.jvp(in(x), in(dx), out(dy), watch);
    check_input(x, Argument::x);
    check_input(dx, Argument::dx);
    check_result(at_out(dy), Argument::dy, at_in(x), at_in(dx));
    return kernels_->jvp(x, dx, dy, watch);
  }

  /// gx = (derivative of R at x)^T gy; gy is packed, gx has the strides of x.
  bool vjp(const T* x, const T* gy, T* gx, const Watch& watch = {}) const {
    if (!has(MapKind::vjp)) return pool_.vjp(in(x), out(gy), in(gx), watch);
    check_input(x, Argument::x);
    require(at_out(gy).check(Argument::gy));
    check_result(at_in(gx), Argument::gx, at_in(x), at_out(gy));
    return kernels_->vjp(x, gy, gx, watch);
  }

  /// The same for sums and averages, whose derivative does not depend on x: for callers that have not kept it.
  /// Of other pools it says that x is missing.
  bool vjp_of_linear(const T* gy, T* gx, const Watch& watch = {}) const {
    if (!pool_.is_linear()) raise({Code::null_data, Argument::x, -1, {}});
    if (!has(MapKind::vjp)) {
      const T any(0);
      return pool_.vjp(View<const T>(&any, shape_, Shape::filled(shape_.size(), 0)), out(gy), in(gx), watch);
    }
    require(at_out(gy).check(Argument::gy));
    check_result(at_in(gx), Argument::gx, at_out(gy));
    return kernels_->vjp(gx, gy, gx, watch);  // x is not read
  }

  /// Derivatives of max and min from packed indices, flat or compact. See Pool::vjp_from_indices.
  template <spec::IndexScalar I>
  bool jvp_from_indices(const I* indices, const T* dx, T* dy, const Watch& watch = {}) const {
    if (!can_use(MapKind::jvp_from_indices, indices))
      return pool_.jvp_from_indices(out(indices), in(dx), out(dy), watch);
    check_input(dx, Argument::dx);
    check_result(at_out(dy), Argument::dy, at_in(dx), at_out(indices));
    return kernels_->jvp_from_indices(indices, index_kind<I>(), dx, dy, watch);
  }
  template <spec::IndexScalar I>
  bool vjp_from_indices(const I* indices, const T* gy, T* gx, const Watch& watch = {}) const {
    if (!can_use(MapKind::vjp_from_indices, indices))
      return pool_.vjp_from_indices(out(indices), out(gy), in(gx), watch);
    require(at_out(gy).check(Argument::gy));
    check_result(at_in(gx), Argument::gx, at_out(gy), at_out(indices));
    return kernels_->vjp_from_indices(indices, index_kind<I>(), gy, gx, watch);
  }

 private:
  friend class Pool;
  Plan(const Pool& pool, const Shape& shape, const Shape& strides, const Shape& output_shape,
       std::shared_ptr<const KernelPlan> kernels)
      : pool_(pool),
        shape_(shape),
        strides_(strides),
        output_shape_(output_shape),
        in_layout_(shape, strides),
        out_layout_(output_shape, packed_strides(output_shape)),
        kernels_(std::move(kernels)) {}

  bool has(MapKind map) const { return kernels_ != nullptr && kernels_->has(map); }
  /// True if the kernels can derive by these indices; if not, the pool can, or says what is wrong.
  template <class I>
  bool can_use(MapKind map, const I* indices) const {
    return !std::is_integral_v<T> && has(map) && kernels_->fits(index_kind<I>()) && indices != nullptr &&
           kernels_->check_indices(indices, index_kind<I>());
  }

  /// An array of the plan somewhere in memory.
  template <class E>
  struct Placed {
    E* data;
    const Layout& layout;
    Fault check(Argument argument) const { return layout.check(data, argument); }
    detail::ByteRange bytes() const { return layout.bytes(data); }
  };
  template <class E>
  Placed<E> at_in(E* data) const {
    return {data, in_layout_};
  }
  template <class E>
  Placed<E> at_out(E* data) const {
    return {data, out_layout_};
  }
  void check_input(const T* data, Argument argument) const { require(at_in(data).check(argument)); }
  template <class E, class... Inputs>
  static void check_result(const Placed<E>& output, Argument argument, const Inputs&... inputs) {
    require(output.check(argument));
    require(output.layout.check_stores(argument));
    (require(check_overlap(output.bytes(), inputs.bytes(), argument)), ...);
  }

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
  Layout in_layout_, out_layout_;
  std::shared_ptr<const KernelPlan> kernels_;
};

template <class T>
Plan<T> Pool::plan(const Shape& shape, const Shape& strides, const PlanOptions& options) const {
  const Geometry resolved = geometry(shape);
  const Shape in_strides = strides.empty() ? packed_strides(shape) : strides;
  require(detail::check_count(Argument::strides, in_strides.size(), shape.size()));
  run<T>(shape, [&](const Geometry&, const auto& reducer) {
    require(spec::core::check_value(resolved, reducer));
    return true;
  });
  const Shape out_strides = packed_strides(resolved.output_shape());
  return {*this, shape, in_strides, visible_shape(resolved),
          kernel_plan<T>(resolved, {in_strides, out_strides, in_strides, out_strides}, options)};
}

}  // namespace ndpool
