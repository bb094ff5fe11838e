// Pools with shapes known at run time: a geometry times a reducer, with its value and both derivatives.
//
//   auto pool = ndpool::max_pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
//   ndpool::Shape out = pool.output_shape({64, 112, 112});
//   pool.forward(ndpool::view(x, {64, 112, 112}), ndpool::view(y, out));
#pragma once

#include <ndpool/geometry.hpp>
#include <ndpool/kernel_plan.hpp>
#include <ndpool/part.hpp>
#include <ndpool/reducer.hpp>
#include <ndpool/spec/run.hpp>
#include <ndpool/spec/unpool.hpp>

#include <limits>
#include <variant>

namespace ndpool {

/// A reducer and its options, before the scalar type is known. `with<T>(f)` calls f with the spec of the reducer for
/// T, or throws if T lacks what the reducer needs.
namespace reduction {

inline constexpr Fault no_order{Code::no_order, Argument::x, -1, {}};
inline constexpr Fault no_transcendentals{Code::no_transcendentals, Argument::x, -1, {}};

struct Max {
  ExtremeOptions options = {};
  KernelChoice kernel() const { return {.combine = Combine::max, .ties = options.ties, .nan = options.nan}; }
  template <class T, class F>
  void with(F f) const {
    if constexpr (spec::Ordered<T> || spec::Joined<T>)
      f(spec::Max<T>{{options}});
    else
      raise(no_order);
  }
};

struct Min {
  ExtremeOptions options = {};
  KernelChoice kernel() const { return {.combine = Combine::min, .ties = options.ties, .nan = options.nan}; }
  template <class T, class F>
  void with(F f) const {
    if constexpr (spec::Ordered<T> || spec::Joined<T>)
      f(spec::Min<T>{{options}});
    else
      raise(no_order);
  }
};

struct Sum {
  KernelChoice kernel() const { return {.combine = Combine::sum}; }
  template <class T, class F>
  void with(F f) const {
    f(spec::Sum<T>{});
  }
};

struct Average {
  AverageOptions options = {};
  KernelChoice kernel() const { return {.combine = Combine::sum, .averages = true, .average = options}; }
  template <class T, class F>
  void with(F f) const {
    f(spec::Average<T>{{}, options});
  }
};

struct SmoothMax {
  SmoothMaxOptions options = {};
  KernelChoice kernel() const {
    return {.combine = Combine::smooth_max, .parameter = options.beta, .pad_mode = options.pad_mode};
  }
  template <class T, class F>
  void with(F f) const {
    if constexpr (spec::AnalyticField<spec::Accumulator<T>>) {
      const spec::SmoothMax<T> reducer{options};
      if (Fault fault = reducer.fault()) {
        fault.real = options.beta;  // as it was given: 1e39 is finite, but not as a float
        raise(fault);
      }
      f(reducer);
    } else {
      raise(no_transcendentals);
    }
  }
};

struct Lp {
  double p = 2;
  LpOptions options = {};
  KernelChoice kernel() const { return {.combine = Combine::lp, .ties = options.ties, .parameter = p}; }
  template <class T, class F>
  void with(F f) const {
    if constexpr (spec::AnalyticField<spec::Accumulator<T>>) {
      if (p == std::numeric_limits<double>::infinity())
        f(spec::LargestMagnitude<T>{{{{.ties = options.ties, .empty = options.empty}}}});
      else
        f(spec::Lp<T>{p, options});
    } else {
      raise(no_transcendentals);
    }
  }
};

}  // namespace reduction

template <class T>
class Plan;

/// A pool. Immutable, copied without allocation (about 3 KB), and safe to share between threads; it holds no array and
/// no shape. All maps check their arguments before they write and throw `ndpool::Error`. Inputs may have any strides;
/// outputs must not overlap inputs. All take a progress callback `watch` and return false if it cancelled them.
class Pool {
 public:
  using Description = std::variant<Window, Adaptive, Global, std::shared_ptr<const Geometry>>;
  using Reduction = std::variant<reduction::Max, reduction::Min, reduction::Sum, reduction::Average,
                                 reduction::SmoothMax, reduction::Lp>;

  Pool(const Description& description, const Reduction& reduction) : description_(description), reduction_(reduction) {}

  /// The window, resolved for an array of `shape`; it answers every question about taps.
  Geometry geometry(const Shape& shape) const {
    return std::visit(
        [&]<class D>(const D& description) {
          if constexpr (std::same_as<D, std::shared_ptr<const Geometry>>)
            return spec::make_geometry(*description, shape);
          else
            return spec::make_geometry(description, shape);
        },
        description_);
  }

  /// Shape of the result for an input of `shape`. Throws if the window does not fit.
  Shape output_shape(const Shape& shape) const { return visible_shape(geometry(shape)); }

  /// The window as it was described, and the reducer with its options.
  const Description& description() const { return description_; }
  const Reduction& reduction() const { return reduction_; }

  /// True of max and min, whose derivatives can be taken by indices.
  bool has_indices() const {
    return std::holds_alternative<reduction::Max>(reduction_) || std::holds_alternative<reduction::Min>(reduction_);
  }

  /// True of sums and averages: their derivative is the same at every x.
  bool is_linear() const {
    return std::holds_alternative<reduction::Sum>(reduction_) || std::holds_alternative<reduction::Average>(reduction_);
  }

  /// The reducer of this pool over a geometry, such as a part of its own (part.hpp). Drops no axes.
  Pool over(const Geometry& geometry) const {
    Pool pool = *this;
    pool.description_ = std::make_shared<const Geometry>(geometry);
    return pool;
  }

  /// This pool without compiled kernels: every map by the spec. What kernels are compared with.
  Pool by_spec() const {
    Pool pool = *this;
    pool.uses_kernels_ = false;
    return pool;
  }

  bool uses_kernels() const { return uses_kernels_; }

  /// y = R(x). The scalars of x and y may differ: y gets the value in its own type (docs/semantics.md, 20).
  template <class X, class Y>
  bool forward(const View<X>& x, const View<Y>& y, const Watch& watch = {}) const {
    return run<spec::WorkScalar<X, Y>>(x.shape(), [&](const Geometry& geometry, const auto& reducer) {
      const View<Y> all_y = with_all_axes(geometry, y, Argument::y);
      spec::check_forward(geometry, reducer, x, all_y);
      const KernelPlan::ArrayStrides strides = {x.strides(), all_y.strides(), x.strides(), all_y.strides()};
      const auto plan = forward_plan<X, Y>(geometry, strides);
      if (plan != nullptr && plan->has(MapKind::forward)) return plan->forward(x.data(), y.data(), watch);
      return spec::run_forward<std::remove_const_t<X>>(geometry, reducer, x, all_y, watch);
    });
  }

  /// The same, and in `indices` the winner of each window, for max and min: its flat index over the unpadded pooled
  /// axes
  /// (`Index`), or the number of its tap in the window (`std::uint8_t` up to 255 taps, else `std::uint16_t`,
  /// `std::uint32_t`).
  template <class X, class Y, spec::IndexScalar I>
  bool forward(const View<X>& x, const View<Y>& y, const View<I>& indices, const Watch& watch = {}) const {
    using Scalar = spec::WorkScalar<X, Y>;
    return run<Scalar>(x.shape(), [&](const Geometry& geometry, const auto& reducer) -> bool {
      using Reducer = std::remove_cvref_t<decltype(reducer)>;
      if constexpr (spec::Ordered<Scalar> &&
                    (std::same_as<Reducer, spec::Max<Scalar>> || std::same_as<Reducer, spec::Min<Scalar>>)) {
        if constexpr (!std::same_as<I, Index>) spec::detail::check_compact<I>(geometry);
        const View<Y> all_y = with_all_axes(geometry, y, Argument::y);
        const View<I> all_indices = with_all_axes(geometry, indices, Argument::indices);
        spec::check_forward(geometry, reducer, x, all_y, all_indices);
        const auto plan =
            kernel_plan<X, Y>(geometry, {x.strides(), all_y.strides(), x.strides(), all_indices.strides()});
        if (plan != nullptr && plan->has(MapKind::forward_with_indices))
          return plan->forward_with_indices(x.data(), y.data(), indices.data(), index_kind<I>(), watch);
        return spec::run_forward<std::remove_const_t<X>>(geometry, reducer, x, all_y, all_indices, watch);
      } else {
        raise({Code::no_indices, Argument::indices, -1, {}});
      }
    });
  }

  /// dy = the tangent of each winner that `indices`, flat or compact, name; 0 where they name none. For max and min:
  /// their JVP with ties `first`, without x.
  template <class I, class DX, class DY>
  requires spec::IndexScalar<I>
  bool jvp_from_indices(const View<I>& indices, const View<DX>& dx, const View<DY>& dy, const Watch& watch = {}) const {
    require_winners();
    const Geometry resolved = geometry(dx.shape());
    const View<I> all_indices = with_all_axes(resolved, indices, Argument::indices);
    const View<DY> all_dy = with_all_axes(resolved, dy, Argument::dy);
    spec::check_jvp_arrays(resolved, all_indices, dx, all_dy);
    if (const auto plan = index_plan<DX, DY>(resolved, all_indices, dx, all_dy)) {
      if (!plan->check_indices(indices.data(), index_kind<I>())) spec::check_indices(resolved, all_indices);
      return plan->jvp_from_indices(indices.data(), index_kind<I>(), dx.data(), dy.data(), watch);
    }
    return spec::run_jvp_from_indices<std::remove_const_t<I>, std::remove_const_t<DX>>(resolved, all_indices, dx,
                                                                                       all_dy, watch);
  }

  /// gx = the gradients of all outputs that each cell has won by `indices`, flat or compact. For max and min: their VJP
  /// with ties `first`, without x. Overwrites gx.
  template <class I, class GY, class GX>
  requires spec::IndexScalar<I>
  bool vjp_from_indices(const View<I>& indices, const View<GY>& gy, const View<GX>& gx, const Watch& watch = {}) const {
    require_winners();
    const Geometry resolved = geometry(gx.shape());
    const View<I> all_indices = with_all_axes(resolved, indices, Argument::indices);
    const View<GY> all_gy = with_all_axes(resolved, gy, Argument::gy);
    spec::check_vjp_arrays(resolved, all_indices, all_gy, gx);
    if (const auto plan = index_plan<GX, GY>(resolved, all_indices, gx, all_gy)) {
      if (!plan->check_indices(indices.data(), index_kind<I>())) spec::check_indices(resolved, all_indices);
      return plan->vjp_from_indices(indices.data(), index_kind<I>(), gy.data(), gx.data(), watch);
    }
    return spec::run_vjp_from_indices<std::remove_const_t<I>, std::remove_const_t<GY>>(resolved, all_indices, all_gy,
                                                                                       gx, watch);
  }

  /// dy = (derivative of R at x) dx.
  template <class X, class DX, class DY>
  bool jvp(const View<X>& x, const View<DX>& dx, const View<DY>& dy, const Watch& watch = {}) const {
    return run_derivative<X, DX, DY>(
        x.shape(), Argument::dx, Argument::dy, [&](const Geometry& geometry, const auto& reducer) {
          const View<DY> all_dy = with_all_axes(geometry, dy, Argument::dy);
          spec::check_jvp(geometry, reducer, x, dx, all_dy);
          const auto plan =
              kernel_plan<X, DX, DY>(geometry, {x.strides(), all_dy.strides(), dx.strides(), all_dy.strides()});
          if (plan != nullptr && plan->has(MapKind::jvp)) return plan->jvp(x.data(), dx.data(), dy.data(), watch);
          return spec::run_jvp<std::remove_const_t<X>, std::remove_const_t<DX>>(geometry, reducer, x, dx, all_dy,
                                                                                watch);
        });
  }

  /// gx = (derivative of R at x)^T gy. Overwrites gx.
  template <class X, class GY, class GX>
  bool vjp(const View<X>& x, const View<GY>& gy, const View<GX>& gx, const Watch& watch = {}) const {
    return run_derivative<X, GY, GX>(
        x.shape(), Argument::gy, Argument::gx, [&](const Geometry& geometry, const auto& reducer) {
          const View<GY> all_gy = with_all_axes(geometry, gy, Argument::gy);
          spec::check_vjp(geometry, reducer, x, all_gy, gx);
          const auto plan =
              kernel_plan<X, GY, GX>(geometry, {x.strides(), all_gy.strides(), gx.strides(), all_gy.strides()});
          if (plan != nullptr && plan->has(MapKind::vjp)) return plan->vjp(x.data(), gy.data(), gx.data(), watch);
          return spec::run_vjp<std::remove_const_t<X>, std::remove_const_t<GY>>(geometry, reducer, x, all_gy, gx,
                                                                                watch);
        });
  }

  /// dy = the derivative of each output by beta, of smooth max only; overwrites dy, which has the shape of y. Runs the
  /// reference on the calling thread: the cost of about two exponentials per tap.
  template <class X, class DY>
  bool beta_derivative(const View<X>& x, const View<DY>& dy, const Watch& watch = {}) const {
    using Scalar = spec::WorkScalar<X, DY>;
    const reduction::SmoothMax* smooth_max = std::get_if<reduction::SmoothMax>(&reduction_);
    if (smooth_max == nullptr) raise({Code::no_beta, Argument::beta, -1, {}});
    const Geometry resolved = geometry(x.shape());
    bool finished = true;
    smooth_max->with<Scalar>([&](const auto& reducer) {
      if constexpr (std::integral<DY>) {
        raise({Code::no_derivative, Argument::dy, -1, {}});
      } else {
        const View<DY> all_dy = with_all_axes(resolved, dy, Argument::dy);
        spec::check_beta_derivative(resolved, reducer, x, all_dy);
        const spec::SmoothMaxBeta<Scalar> by_beta{reducer};
        finished = spec::run_forward<std::remove_const_t<X>>(resolved, by_beta, x, all_dy, watch);
      }
    });
    return finished;
  }

  /// The kernels that run the maps of arrays with these strides, null where the spec does. For callers that keep them
  /// for many runs, after the map itself has found nothing wrong with such arrays. `out` and `tangent_out` are strides
  /// of the output shape that the caller sees.
  template <class T>
  std::shared_ptr<const KernelPlan> kernels(const Shape& shape, const KernelPlan::ArrayStrides& strides) const {
    const Geometry resolved = geometry(shape);
    const Shape out = strides_of_all_axes(resolved, strides.out),
                tangent_out = strides_of_all_axes(resolved, strides.tangent_out);
    return kernel_plan<T>(resolved, {strides.in, out, strides.tangent_in, tangent_out});
  }
  /// The same for the maps of max and min by indices, which have the strides `out`.
  template <class T>
  std::shared_ptr<const KernelPlan> kernels_for_indices(const Shape& shape,
                                                        const KernelPlan::ArrayStrides& strides) const {
    const Geometry resolved = geometry(shape);
    const Shape out = strides_of_all_axes(resolved, strides.out),
                tangent_out = strides_of_all_axes(resolved, strides.tangent_out);
    if (!uses_kernels_ || std::is_integral_v<T>) return nullptr;
    return KernelPlan::make_for_indices(kind_of<T>(), resolved, {strides.in, out, strides.tangent_in, tangent_out});
  }

  /// A plan for arrays of `shape`, whose strides (in elements) are packed unless they are given; results are packed.
  /// Throws std::invalid_argument if `options` name an implementation that does not accept the problem.
  template <class T>
  Plan<T> plan(const Shape& shape, const Shape& strides = {}, const PlanOptions& options = {}) const;

 private:
  template <class T, class F>
  bool run(const Shape& shape, F f) const {
    const Geometry resolved = geometry(shape);
    bool finished = true;
    std::visit(
        [&](const auto& reduction) {
          reduction.template with<T>([&](const auto& reducer) { finished = f(resolved, reducer); });
        },
        reduction_);
    return finished;
  }

  /// The same for a derivative at x, which integers and intervals do not have; neither have tangents that are integers.
  template <class X, class From, class To, class F>
  bool run_derivative(const Shape& shape, Argument from, Argument to, F f) const {
    using Scalar = std::remove_const_t<X>;
    return run<spec::DerivativeScalar<X, From, To>>(shape, [&](const Geometry& geometry, const auto& reducer) -> bool {
      if constexpr (!spec::Differentiable<Scalar>)
        raise({Code::no_derivative, Argument::x, -1, {}});
      else if constexpr (std::integral<std::remove_const_t<From>>)
        raise({Code::no_derivative, from, -1, {}});
      else if constexpr (std::integral<To>)
        raise({Code::no_derivative, to, -1, {}});
      else
        return f(geometry, reducer);
    });
  }

  /// A plan if there are kernels for the scalar X, which all arrays must have.
  template <class X, class... Others>
  std::shared_ptr<const KernelPlan> kernel_plan(const Geometry& geometry, const KernelPlan::ArrayStrides& strides,
                                                const PlanOptions& options = {}) const {
    using Scalar = std::remove_const_t<X>;
    if (!uses_kernels_ || !(std::same_as<Scalar, std::remove_const_t<Others>> && ...)) return nullptr;
    return KernelPlan::make(kind_of<Scalar>(), kernel_choice(), geometry, strides, options);
  }

  /// The same for the forward map, whose result may have another built-in type.
  template <class X, class Y>
  std::shared_ptr<const KernelPlan> forward_plan(const Geometry& geometry,
                                                 const KernelPlan::ArrayStrides& strides) const {
    constexpr ScalarKind kind = kind_of<std::remove_const_t<X>>(), result = kind_of<std::remove_const_t<Y>>();
    if (!uses_kernels_ || kind == ScalarKind::none || result == ScalarKind::none) return nullptr;
    return KernelPlan::make(kind, kernel_choice(), geometry, strides, {}, result);
  }

  /// A plan for maps by indices; `like_in` and `like_out` have the shapes of input and output.
  template <class X, class Y, class I>
  std::shared_ptr<const KernelPlan> index_plan(const Geometry& geometry, const View<I>& indices, const View<X>& like_in,
                                               const View<Y>& like_out) const {
    using Scalar = std::remove_const_t<X>;
    if constexpr (!std::same_as<Scalar, std::remove_const_t<Y>> || std::is_integral_v<Scalar>) return nullptr;
    if (!uses_kernels_) return nullptr;
    return KernelPlan::make_for_indices(kind_of<Scalar>(), geometry,
                                        {like_in.strides(), indices.strides(), like_in.strides(), like_out.strides()});
  }

  /// Throws unless the pool has winners.
  void require_winners() const {
    if (!std::holds_alternative<reduction::Max>(reduction_) && !std::holds_alternative<reduction::Min>(reduction_))
      raise({Code::no_indices, Argument::indices, -1, {}});
  }

  KernelChoice kernel_choice() const {
    return std::visit([](const auto& reduction) { return reduction.kernel(); }, reduction_);
  }

  bool drops_axes() const {
    const Global* global = std::get_if<Global>(&description_);
    return global != nullptr && !global->keepdims;
  }
  Shape visible_shape(const Geometry& geometry) const {
    return drops_axes() ? drop_pooled_axes(geometry) : geometry.output_shape();
  }

  /// A view of the visible output shape with the dropped axes put back as axes of length 1.
  template <class T>
  View<T> with_all_axes(const Geometry& geometry, const View<T>& view, Argument argument) const {
    if (!drops_axes()) return view;
    require(check_view(view, visible_shape(geometry), argument));
    return {view.data(), geometry.output_shape(), strides_of_all_axes(geometry, view.strides())};
  }
  Shape strides_of_all_axes(const Geometry& geometry, const Shape& visible) const {
    if (!drops_axes()) return visible;
    Shape strides;
    for (int a = 0, next = 0; a < geometry.rank; ++a) strides.push_back(geometry.axes[a].pooled ? 1 : visible[next++]);
    return strides;
  }

  Description description_;
  Reduction reduction_;
  bool uses_kernels_ = true;
};

/// Makes pools of one reducer over one kind of geometry: `max_pool(window, options)`. The options may be left out.
template <class Description, class Reduction>
struct PoolFamily {
  using Options = decltype(Reduction::options);
  Pool operator()(const Description& description, Options options = {}) const {
    return {description, Reduction{resolve_ties(options)}};
  }

 protected:
  /// Global pools give their derivative to every extreme unless told otherwise.
  static Options resolve_ties(Options options) {
    if constexpr (std::same_as<Description, Global> && requires { options.ties; })
      if (options.ties == Ties::standard) options.ties = Ties::all;
    return options;
  }
};

template <class Description>
struct PoolFamily<Description, reduction::Sum> {
  Pool operator()(const Description& description) const { return {description, reduction::Sum{}}; }
};

/// Lp has its p in front: `lp_pool(2, window)`.
template <class Description>
struct LpFamily {
  Pool operator()(double p, const Description& description, LpOptions options = {}) const {
    // A finite p has no extremes, and ties asked of it must stay visible as the error they are.
    if (std::same_as<Description, Global> && p == std::numeric_limits<double>::infinity() &&
        options.ties == Ties::standard)
      options.ties = Ties::all;
    return {description, reduction::Lp{p, options}};
  }
};

inline constexpr PoolFamily<Window, reduction::Max> max_pool;
inline constexpr PoolFamily<Window, reduction::Min> min_pool;
inline constexpr PoolFamily<Window, reduction::Sum> sum_pool;
inline constexpr PoolFamily<Window, reduction::Average> avg_pool;
inline constexpr PoolFamily<Window, reduction::SmoothMax> smooth_max_pool;
inline constexpr LpFamily<Window> lp_pool;

inline constexpr PoolFamily<Adaptive, reduction::Max> adaptive_max_pool;
inline constexpr PoolFamily<Adaptive, reduction::Min> adaptive_min_pool;
inline constexpr PoolFamily<Adaptive, reduction::Sum> adaptive_sum_pool;
inline constexpr PoolFamily<Adaptive, reduction::Average> adaptive_avg_pool;
inline constexpr PoolFamily<Adaptive, reduction::SmoothMax> adaptive_smooth_max_pool;
inline constexpr LpFamily<Adaptive> adaptive_lp_pool;

inline constexpr PoolFamily<Global, reduction::Max> global_max_pool;
inline constexpr PoolFamily<Global, reduction::Min> global_min_pool;
inline constexpr PoolFamily<Global, reduction::Sum> global_sum_pool;
inline constexpr PoolFamily<Global, reduction::Average> global_avg_pool;
inline constexpr PoolFamily<Global, reduction::SmoothMax> global_smooth_max_pool;
inline constexpr LpFamily<Global> global_lp_pool;

/// Max unpooling to `output_size`: the way back from a max pool with its indices.
class Unpool {
 public:
  explicit Unpool(const Adaptive& size) : size_(size) {}

  /// Shape of the result for values of `shape`.
  Shape output_shape(const Shape& shape) const { return spec::unpool_geometry(size_, shape).input_shape(); }

  /// x = values placed at the cells that `indices` name, 0 elsewhere; -1 is skipped, the last of equal indices wins.
  template <class Y, class Indices, class X>
  bool forward(const View<Y>& values, const View<Indices>& indices, const View<X>& x, const Watch& watch = {}) const {
    return place(values, indices, x, Argument::y, Argument::x, watch);
  }

  /// Unpooling is linear in the values: its JVP places their tangents.
  template <class DY, class Indices, class DX>
  bool jvp(const View<DY>& tangents, const View<Indices>& indices, const View<DX>& dx, const Watch& watch = {}) const {
    return place(tangents, indices, dx, Argument::dy, Argument::dx, watch);
  }

  /// gy = the gradient of each value that was placed and not overwritten; 0 for the others.
  template <class Indices, class GX, class GY>
  bool vjp(const View<Indices>& indices, const View<GX>& gx, const View<GY>& gy, const Watch& watch = {}) const {
    const Geometry geometry = spec::unpool_geometry(size_, indices.shape());
    spec::check_unpool_vjp_arrays(geometry, indices, gx, gy);
    if (const auto plan = kernel_plan(geometry, indices, gx, gy)) {
      if (!plan->check_indices(indices.data(), IndexKind::flat)) spec::detail::check_indices(geometry, indices);
      return plan->place_vjp(indices.data(), gx.data(), gy.data(), watch);
    }
    return spec::watched(watch, spec::index_steps(geometry),
                         [&](auto tick) { spec::unpool_vjp(geometry, indices, gx, gy, tick); });
  }

  /// This map without compiled kernels. What kernels are compared with.
  Unpool by_spec() const {
    Unpool unpool = *this;
    unpool.uses_kernels_ = false;
    return unpool;
  }

 private:
  template <class Y, class Indices, class X>
  bool place(const View<Y>& values, const View<Indices>& indices, const View<X>& x, Argument values_argument,
             Argument x_argument, const Watch& watch) const {
    const Geometry geometry = spec::unpool_geometry(size_, values.shape());
    spec::check_unpool_arrays(geometry, values, indices, x, values_argument, x_argument);
    if (const auto plan = kernel_plan(geometry, indices, x, values)) {
      if (!plan->check_indices(indices.data(), IndexKind::flat)) spec::detail::check_indices(geometry, indices);
      return plan->place(indices.data(), values.data(), x.data(), watch);
    }
    return spec::watched(watch, spec::index_steps(geometry), [&](auto tick) {
      spec::unpool(geometry, values, indices, x, values_argument, x_argument, tick);
    });
  }

  /// A plan if there are kernels for these scalars.
  template <class X, class Y, class Indices>
  std::shared_ptr<const KernelPlan> kernel_plan(const Geometry& geometry, const View<Indices>& indices,
                                                const View<X>& cells, const View<Y>& values) const {
    using Scalar = std::remove_const_t<X>;
    if (!uses_kernels_ || !std::same_as<Scalar, std::remove_const_t<Y>> ||
        !std::same_as<std::remove_const_t<Indices>, Index>)
      return nullptr;
    return KernelPlan::make_for_indices(kind_of<Scalar>(), geometry,
                                        {cells.strides(), indices.strides(), cells.strides(), values.strides()});
  }

  bool uses_kernels_ = true;
  Adaptive size_;
};

inline Unpool max_unpool(const Adaptive& size) { return Unpool(size); }

}  // namespace ndpool
