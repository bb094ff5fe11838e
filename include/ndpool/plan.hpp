// A pool prepared for one shape: validation and choices are made once, running allocates nothing.
//
//   const auto plan = ndpool::max_pool({.kernel = {2, 2}}).plan<float>({64, 112, 112});
//   plan.forward(x, y);
#pragma once

#include <ndpool/pools.hpp>

namespace ndpool {

/// A pool prepared for inputs of one shape and one set of strides, with one implementation chosen for each map. `T` is
/// the scalar of inputs and results. Made by `Pool::plan`.
///
/// Every map takes pointers, or views, which are checked against the shape and strides of the plan. Results (y, dy, gy,
/// indices) are packed unless PlanOptions says otherwise; dx and gx have the strides of x. Every map checks its
/// arguments before it writes, and throws `ndpool::Error`; arrays must not overlap. Maps return false if their
/// `ProgressCallback` cancelled them, true otherwise.
///
/// Cost: a plan takes 16 bytes, and copies share what is behind them. Running allocates nothing once each thread has
/// its scratch (`scratch_bytes`); a map without a compiled implementation runs the reference, which may allocate.
///
/// Thread-safety: immutable, so any number of threads may run one plan.
template <class T>
class Plan {
 public:
  /// An empty plan: true of none of the questions below, and every map throws. So is a plan that was moved from.
  Plan() = default;

  /// False of an empty plan.
  [[nodiscard]] explicit operator bool() const { return state_ != nullptr; }

  /// Shape of the inputs.
  [[nodiscard]] const Shape& input_shape() const { return state().shape; }
  /// Strides of the inputs, in elements.
  [[nodiscard]] const Shape& strides() const { return state().strides; }
  /// Shape of the results.
  [[nodiscard]] const Shape& output_shape() const { return state().output_shape; }
  /// Strides of the results, in elements.
  [[nodiscard]] const Shape& result_strides() const { return state().result_strides; }

  /// Scratch that each thread keeps after its first run of this plan; 0 if the reference runs every map.
  [[nodiscard]] std::size_t scratch_bytes() const { return state().maps.scratch_bytes(); }

  /// The name of the implementation that runs a map; "reference" if no compiled one accepts the problem.
  [[nodiscard]] std::string_view implementation(MapKind map) const { return state().maps.implementation(map); }
  /// The names of all implementations that accept the problem, first choice first; the last is "reference". Each can be
  /// asked for by PlanOptions::implementation. Allocates the list.
  [[nodiscard]] std::vector<std::string_view> implementations(MapKind map) const {
    return state().maps.implementations(map);
  }

  /// Both, with the scratch and the tiles of the map. Allocates the list.
  [[nodiscard]] MapSummary summary(MapKind map) const {
    return state().maps.has(map) ? state().maps.summary(map) : MapSummary{};
  }

  /// The maps that this pool has on scalars of type T: derivatives of floats, and indices of max and min. Allocates the
  /// list.
  [[nodiscard]] std::vector<MapKind> maps() const {
    const bool has_indices = state().pool.has_indices(), is_float = !std::is_integral_v<T>;
    std::vector<MapKind> result = {MapKind::forward};
    if (has_indices) result.push_back(MapKind::forward_with_indices);
    if (is_float) result.insert(result.end(), {MapKind::jvp, MapKind::vjp});
    if (is_float && has_indices) result.insert(result.end(), {MapKind::jvp_from_indices, MapKind::vjp_from_indices});
    return result;
  }

  /// y = R(x).
  bool forward(const T* x, T* y, const ProgressCallback& progress = {}) const {
    const State& s = state();
    if (!s.maps.has(MapKind::forward)) return s.pool.forward(s.in(x), s.out(y), progress);
    check_input(x, Argument::x);
    check_result(at_out(y), Argument::y, at_in(x));
    return s.maps.forward(x, y, progress);
  }
  /// The same, on views.
  bool forward(const View<const T>& x, const View<T>& y, const ProgressCallback& progress = {}) const {
    return forward(data_in(x, Argument::x), data_out(y, Argument::y), progress);
  }

  /// The same, and the index of the first extreme of each window. See Pool::forward.
  template <spec::IndexScalar I>
  bool forward(const T* x, T* y, I* indices, const ProgressCallback& progress = {}) const {
    const State& s = state();
    if (!s.maps.has(MapKind::forward_with_indices) || !s.maps.fits(dtype_of<I>()))
      return s.pool.forward(s.in(x), s.out(y), s.out(indices), progress);
    check_input(x, Argument::x);
    check_result(at_out(y), Argument::y, at_in(x));
    check_result(at_out(indices), Argument::indices, at_in(x), at_out(y));
    return s.maps.forward_with_indices(x, y, indices, dtype_of<I>(), progress);
  }
  /// The same, on views.
  template <spec::IndexScalar I>
  bool forward(const View<const T>& x, const View<T>& y, const View<I>& indices,
               const ProgressCallback& progress = {}) const {
    return forward(data_in(x, Argument::x), data_out(y, Argument::y), data_out(indices, Argument::indices), progress);
  }

  /// dy = (derivative of R at x) dx.
  bool jvp(const T* x, const T* dx, T* dy, const ProgressCallback& progress = {}) const {
    const State& s = state();
    if (!s.maps.has(MapKind::jvp)) return s.pool.jvp(s.in(x), s.in(dx), s.out(dy), progress);
    check_input(x, Argument::x);
    check_input(dx, Argument::dx);
    check_result(at_out(dy), Argument::dy, at_in(x), at_in(dx));
    return s.maps.jvp(x, dx, dy, progress);
  }
  /// The same, on views.
  bool jvp(const View<const T>& x, const View<const T>& dx, const View<T>& dy,
           const ProgressCallback& progress = {}) const {
    return jvp(data_in(x, Argument::x), data_in(dx, Argument::dx), data_out(dy, Argument::dy), progress);
  }

  /// gx = (derivative of R at x)^T gy. Overwrites gx.
  bool vjp(const T* x, const T* gy, T* gx, const ProgressCallback& progress = {}) const {
    const State& s = state();
    if (!s.maps.has(MapKind::vjp)) return s.pool.vjp(s.in(x), s.out(gy), s.in(gx), progress);
    check_input(x, Argument::x);
    require(at_out(gy).check(Argument::gy));
    check_result(at_in(gx), Argument::gx, at_in(x), at_out(gy));
    return s.maps.vjp(x, gy, gx, progress);
  }
  /// The same, on views.
  bool vjp(const View<const T>& x, const View<const T>& gy, const View<T>& gx,
           const ProgressCallback& progress = {}) const {
    return vjp(data_in(x, Argument::x), data_out(gy, Argument::gy), data_in(gx, Argument::gx), progress);
  }

  /// The same for sums and averages, whose derivative does not depend on x: for callers that have not kept it. Of other
  /// pools it says that x is missing.
  bool vjp_of_linear(const T* gy, T* gx, const ProgressCallback& progress = {}) const {
    const State& s = state();
    if (!s.pool.is_linear()) raise({Code::null_data, Argument::x, -1, {}});
    if (!s.maps.has(MapKind::vjp)) {
      const T any(0);
      return s.pool.vjp(View<const T>(&any, s.shape, Shape::filled(s.shape.size(), 0)), s.out(gy), s.in(gx), progress);
    }
    require(at_out(gy).check(Argument::gy));
    check_result(at_in(gx), Argument::gx, at_out(gy));
    return s.maps.vjp(gx, gy, gx, progress);  // x is not read
  }
  /// The same, on views.
  bool vjp_of_linear(const View<const T>& gy, const View<T>& gx, const ProgressCallback& progress = {}) const {
    return vjp_of_linear(data_out(gy, Argument::gy), data_in(gx, Argument::gx), progress);
  }

  /// The JVP of max and min by packed indices, flat or compact. See Pool::jvp_from_indices.
  template <spec::IndexScalar I>
  bool jvp_from_indices(const I* indices, const T* dx, T* dy, const ProgressCallback& progress = {}) const {
    const State& s = state();
    if (!can_use(MapKind::jvp_from_indices, indices))
      return s.pool.jvp_from_indices(s.out(indices), s.in(dx), s.out(dy), progress);
    check_input(dx, Argument::dx);
    check_result(at_out(dy), Argument::dy, at_in(dx), at_out(indices));
    return s.maps.jvp_from_indices(indices, dtype_of<I>(), dx, dy, progress);
  }
  /// The same, on views.
  template <class I>
  requires spec::IndexScalar<I>
  bool jvp_from_indices(const View<I>& indices, const View<const T>& dx, const View<T>& dy,
                        const ProgressCallback& progress = {}) const {
    return jvp_from_indices(as_const(data_out(indices, Argument::indices)), data_in(dx, Argument::dx),
                            data_out(dy, Argument::dy), progress);
  }

  /// The VJP of max and min by packed indices, flat or compact. See Pool::vjp_from_indices.
  template <spec::IndexScalar I>
  bool vjp_from_indices(const I* indices, const T* gy, T* gx, const ProgressCallback& progress = {}) const {
    const State& s = state();
    if (!can_use(MapKind::vjp_from_indices, indices))
      return s.pool.vjp_from_indices(s.out(indices), s.out(gy), s.in(gx), progress);
    require(at_out(gy).check(Argument::gy));
    check_result(at_in(gx), Argument::gx, at_out(gy), at_out(indices));
    return s.maps.vjp_from_indices(indices, dtype_of<I>(), gy, gx, progress);
  }
  /// The same, on views.
  template <class I>
  requires spec::IndexScalar<I>
  bool vjp_from_indices(const View<I>& indices, const View<const T>& gy, const View<T>& gx,
                        const ProgressCallback& progress = {}) const {
    return vjp_from_indices(as_const(data_out(indices, Argument::indices)), data_out(gy, Argument::gy),
                            data_in(gx, Argument::gx), progress);
  }

 private:
  friend class Pool;

  struct State {
    Pool pool;
    Shape shape, strides, output_shape, result_strides;
    detail::CheckedLayout in_layout, out_layout;
    detail::CompiledMaps maps;

    State(const Pool& its_pool, const Shape& its_shape, const Shape& its_strides, const Shape& result_shape,
          const Shape& its_result_strides, detail::CompiledMaps its_maps)
        : pool(its_pool),
          shape(its_shape),
          strides(its_strides),
          output_shape(result_shape),
          result_strides(its_result_strides),
          in_layout(shape, strides),
          out_layout(output_shape, result_strides),
          maps(std::move(its_maps)) {}

    template <class E>
    View<E> in(E* data) const {
      return {data, shape, strides};
    }
    template <class E>
    View<E> out(E* data) const {
      return {data, output_shape, result_strides};
    }
  };

  explicit Plan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  const State& state() const {
    if (state_ == nullptr) raise({Code::empty_plan, Argument::none, -1, {}});
    return *state_;
  }

  template <class I>
  static const I* as_const(I* indices) {
    return indices;
  }

  /// True if the kernels can derive by these indices; if not, the pool can, or says what is wrong.
  template <class I>
  bool can_use(MapKind map, const I* indices) const {
    const State& s = state();
    return !std::is_integral_v<T> && s.maps.has(map) && s.maps.fits(dtype_of<I>()) && indices != nullptr &&
           s.maps.check_indices(indices, dtype_of<I>());
  }

  // The address of a view that has the shape and strides of the plan's inputs or results.
  template <class E>
  E* data_in(const View<E>& view, Argument argument) const {
    require(check_layout(view, state().shape, state().strides, argument));
    return view.data();
  }
  template <class E>
  E* data_out(const View<E>& view, Argument argument) const {
    require(check_layout(view, state().output_shape, state().result_strides, argument));
    return view.data();
  }
  template <class E>
  static Fault check_layout(const View<E>& view, const Shape& shape, const Shape& strides, Argument argument) {
    if (Fault fault = check_view(view, shape, argument)) return fault;
    for (int a = 0; a < shape.size(); ++a)
      if (shape[a] > 1 && view.strides()[a] != strides[a])
        return {Code::stride_mismatch, argument, a, {view.strides()[a], strides[a]}};
    return {};
  }

  /// An array of the plan somewhere in memory.
  template <class E>
  struct Placed {
    E* data;
    const detail::CheckedLayout& layout;
    Fault check(Argument argument) const { return layout.check(data, argument); }
    detail::ByteRange bytes() const { return layout.bytes(data); }
  };
  template <class E>
  Placed<E> at_in(E* data) const {
    return {data, state_->in_layout};
  }
  template <class E>
  Placed<E> at_out(E* data) const {
    return {data, state_->out_layout};
  }
  void check_input(const T* data, Argument argument) const { require(at_in(data).check(argument)); }
  template <class E, class... Inputs>
  static void check_result(const Placed<E>& output, Argument argument, const Inputs&... inputs) {
    require(output.check(argument));
    require(output.layout.check_stores(argument));
    (require(check_overlap(output.bytes(), inputs.bytes(), argument)), ...);
  }

  std::shared_ptr<const State> state_;
};
static_assert(sizeof(Plan<float>) <= 16);

template <class T>
Plan<T> Pool::plan(const Shape& shape, const Shape& strides, const PlanOptions& options) const {
  const Geometry resolved = geometry(shape);
  const Shape in_strides = strides.empty() ? packed_strides(shape) : strides;
  require(detail::check_count(Argument::strides, in_strides.size(), shape.size()));
  run<T>(shape, [&](const Geometry&, const auto& reducer) {
    require(spec::core::check_value(resolved, reducer));
    return true;
  });
  const Shape out_shape = windows_.visible_shape(resolved);
  const Shape out_strides = options.result_strides.empty() ? packed_strides(out_shape) : options.result_strides;
  require(detail::check_count(Argument::strides, out_strides.size(), out_shape.size()));
  const Shape all_strides = options.result_strides.empty() ? packed_strides(resolved.output_shape())
                                                           : windows_.strides_of_all_axes(resolved, out_strides);
  const Pool& runs_the_rest = options.implementation == "reference" ? without_kernels() : *this;
  return Plan<T>(std::make_shared<const typename Plan<T>::State>(
      runs_the_rest, shape, in_strides, out_shape, out_strides,
      compiled_maps<T>(resolved, {in_strides, all_strides, in_strides, all_strides}, options)));
}

}  // namespace ndpool
