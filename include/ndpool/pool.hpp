// Pools with shapes known at run time: a geometry times a reducer, with its value and both derivatives.
//
//   auto pool = ndpool::max_pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
//   ndpool::Shape out = pool.output_shape({64, 112, 112});
//   pool.forward(ndpool::view(x, {64, 112, 112}), ndpool::view(y, out));
#pragma once

#include <ndpool/detail/windows.hpp>
#include <ndpool/reduction.hpp>

namespace ndpool {

template <class T>
class Plan;

namespace detail {

/// For the binding and the layers, which keep compiled implementations themselves.
struct PoolAccess;

}  // namespace detail

/// The name of ProgressCallback before 0.2.0.
using Watch [[deprecated("use ndpool::ProgressCallback; will be removed in 0.3.0")]] = ProgressCallback;

/// A pool: windows and a reducer, for arrays of any shape that the windows fit.
///
/// Every map checks all arguments before it writes, and throws `ndpool::Error` with a sentence that names the argument.
/// Inputs may have any strides, also negative ones and 0; outputs must not overlap inputs. Every map takes a
/// `ProgressCallback`, and returns false if that cancelled it, true otherwise.
///
/// Cost: a pool takes at most 512 bytes; a copy allocates nothing unless its windows have more than eight axes. A map
/// chooses its implementation in each call, which takes a few allocations; `plan` does that once. Maps of large arrays
/// use the threads of threads.hpp.
///
/// Thread-safety: immutable, so any number of threads may use one pool.
class Pool {
 public:
  /// Window, Adaptive or Global; or a geometry, for arrays of exactly its shape.
  using Description = detail::Windows::Description;
  /// One of the structs in `namespace reduction`.
  using Reduction = reduction::Any;

  /// Stores both; they are checked when a shape is known. The functions below (`max_pool`, ...) are shorter.
  Pool(const Description& description, const Reduction& reduction) : windows_(description), reduction_(reduction) {}

  /// The window, resolved for an array of `shape`; it answers every question about taps. About 5 KB, no allocation.
  /// Throws if the window does not fit.
  [[nodiscard]] Geometry geometry(const Shape& shape) const { return windows_.geometry(shape); }

  /// Shape of the result for an input of `shape`. Throws if the window does not fit.
  [[nodiscard]] Shape output_shape(const Shape& shape) const { return windows_.visible_shape(geometry(shape)); }

  /// The window as it was described.
  [[nodiscard]] const Description& description() const { return windows_.description(); }
  /// The reducer with its options.
  [[nodiscard]] const Reduction& reduction() const { return reduction_; }

  /// True of max and min, whose derivatives can be taken by indices.
  [[nodiscard]] bool has_indices() const {
    return std::holds_alternative<reduction::Max>(reduction_) || std::holds_alternative<reduction::Min>(reduction_);
  }

  /// True of sums and averages: their derivative is the same at every x.
  [[nodiscard]] bool is_linear() const {
    return std::holds_alternative<reduction::Sum>(reduction_) || std::holds_alternative<reduction::Average>(reduction_);
  }

  /// The reducer of this pool over a geometry, such as a part of its own (part.hpp). Drops no axes. Allocates a copy of
  /// the geometry.
  [[nodiscard]] Pool over(const Geometry& geometry) const {
    Pool pool = *this;
    pool.windows_ = detail::Windows(std::make_shared<const Geometry>(geometry));
    return pool;
  }

  /// This pool without compiled kernels: the reference runs every map, on the calling thread. What kernels are compared
  /// with.
  [[nodiscard]] Pool without_kernels() const {
    Pool pool = *this;
    pool.uses_kernels_ = false;
    return pool;
  }
  /// The name before 0.2.0.
  [[deprecated("use Pool::without_kernels(); will be removed in 0.3.0")]] Pool by_spec() const {
    return without_kernels();
  }

  /// False if the reference runs every map.
  [[nodiscard]] bool uses_kernels() const { return uses_kernels_; }

  /// y = R(x). The scalars of x and y may differ: y gets the value in its own type (docs/semantics.md, 20).
  template <class X, class Y>
  bool forward(const View<X>& x, const View<Y>& y, const ProgressCallback& progress = {}) const {
    return run<spec::WorkScalar<X, Y>>(x.shape(), [&](const Geometry& geometry, const auto& reducer) {
      const View<Y> all_y = windows_.with_all_axes(geometry, y, Argument::y);
      spec::check_forward(geometry, reducer, x, all_y);
      const auto maps = forward_maps<X, Y>(geometry, {x.strides(), all_y.strides(), x.strides(), all_y.strides()});
      if (maps.has(MapKind::forward)) return maps.forward(x.data(), y.data(), progress);
      return spec::run_forward<std::remove_const_t<X>>(geometry, reducer, x, all_y, progress);
    });
  }

  /// The same, and in `indices` the first extreme of each window, for max and min: its flat index over the unpadded
  /// pooled axes (`Index`), or the number of its tap in the window (`std::uint8_t` up to 255 taps, else
  /// `std::uint16_t`, `std::uint32_t`). Throws for other reducers.
  template <class X, class Y, spec::IndexScalar I>
  bool forward(const View<X>& x, const View<Y>& y, const View<I>& indices,
               const ProgressCallback& progress = {}) const {
    using Scalar = spec::WorkScalar<X, Y>;
    return run<Scalar>(x.shape(), [&](const Geometry& geometry, const auto& reducer) -> bool {
      using Reducer = std::remove_cvref_t<decltype(reducer)>;
      if constexpr (spec::Ordered<Scalar> &&
                    (std::same_as<Reducer, spec::Max<Scalar>> || std::same_as<Reducer, spec::Min<Scalar>>)) {
        if constexpr (!std::same_as<I, Index>) spec::detail::check_compact<I>(geometry);
        const View<Y> all_y = windows_.with_all_axes(geometry, y, Argument::y);
        const View<I> all_indices = windows_.with_all_axes(geometry, indices, Argument::indices);
        spec::check_forward(geometry, reducer, x, all_y, all_indices);
        const auto maps =
            compiled_maps<X, Y>(geometry, {x.strides(), all_y.strides(), x.strides(), all_indices.strides()});
        if (maps.has(MapKind::forward_with_indices))
          return maps.forward_with_indices(x.data(), y.data(), indices.data(), dtype_of<std::remove_const_t<I>>(),
                                           progress);
        return spec::run_forward<std::remove_const_t<X>>(geometry, reducer, x, all_y, all_indices, progress);
      } else {
        raise({Code::no_indices, Argument::indices, -1, {}});
      }
    });
  }

  /// dy = the tangent of each winner that `indices`, flat or compact, name; 0 where they name none. For max and min:
  /// their JVP with ties `first`, without x.
  template <class I, class DX, class DY>
  requires spec::IndexScalar<I>
  bool jvp_from_indices(const View<I>& indices, const View<DX>& dx, const View<DY>& dy,
                        const ProgressCallback& progress = {}) const {
    require_indices();
    const Geometry resolved = geometry(dx.shape());
    const View<I> all_indices = windows_.with_all_axes(resolved, indices, Argument::indices);
    const View<DY> all_dy = windows_.with_all_axes(resolved, dy, Argument::dy);
    spec::check_jvp_arrays(resolved, all_indices, dx, all_dy);
    if (const auto maps = index_maps<DX, DY>(resolved, all_indices, dx, all_dy)) {
      if (!maps.check_indices(indices.data(), dtype_of<std::remove_const_t<I>>()))
        spec::check_indices(resolved, all_indices);
      return maps.jvp_from_indices(indices.data(), dtype_of<std::remove_const_t<I>>(), dx.data(), dy.data(), progress);
    }
    return spec::run_jvp_from_indices<std::remove_const_t<I>, std::remove_const_t<DX>>(resolved, all_indices, dx,
                                                                                       all_dy, progress);
  }

  /// gx = the gradients of all outputs that each cell has won by `indices`, flat or compact. For max and min: their VJP
  /// with ties `first`, without x. Overwrites gx.
  template <class I, class GY, class GX>
  requires spec::IndexScalar<I>
  bool vjp_from_indices(const View<I>& indices, const View<GY>& gy, const View<GX>& gx,
                        const ProgressCallback& progress = {}) const {
    require_indices();
    const Geometry resolved = geometry(gx.shape());
    const View<I> all_indices = windows_.with_all_axes(resolved, indices, Argument::indices);
    const View<GY> all_gy = windows_.with_all_axes(resolved, gy, Argument::gy);
    spec::check_vjp_arrays(resolved, all_indices, all_gy, gx);
    if (const auto maps = index_maps<GX, GY>(resolved, all_indices, gx, all_gy)) {
      if (!maps.check_indices(indices.data(), dtype_of<std::remove_const_t<I>>()))
        spec::check_indices(resolved, all_indices);
      return maps.vjp_from_indices(indices.data(), dtype_of<std::remove_const_t<I>>(), gy.data(), gx.data(), progress);
    }
    return spec::run_vjp_from_indices<std::remove_const_t<I>, std::remove_const_t<GY>>(resolved, all_indices, all_gy,
                                                                                       gx, progress);
  }

  /// dy = (derivative of R at x) dx.
  template <class X, class DX, class DY>
  bool jvp(const View<X>& x, const View<DX>& dx, const View<DY>& dy, const ProgressCallback& progress = {}) const {
    return run_derivative<X, DX, DY>(
        x.shape(), Argument::dx, Argument::dy, [&](const Geometry& geometry, const auto& reducer) {
          const View<DY> all_dy = windows_.with_all_axes(geometry, dy, Argument::dy);
          spec::check_jvp(geometry, reducer, x, dx, all_dy);
          const auto maps =
              compiled_maps<X, DX, DY>(geometry, {x.strides(), all_dy.strides(), dx.strides(), all_dy.strides()});
          if (maps.has(MapKind::jvp)) return maps.jvp(x.data(), dx.data(), dy.data(), progress);
          return spec::run_jvp<std::remove_const_t<X>, std::remove_const_t<DX>>(geometry, reducer, x, dx, all_dy,
                                                                                progress);
        });
  }

  /// gx = (derivative of R at x)^T gy. Overwrites gx.
  template <class X, class GY, class GX>
  bool vjp(const View<X>& x, const View<GY>& gy, const View<GX>& gx, const ProgressCallback& progress = {}) const {
    return run_derivative<X, GY, GX>(
        x.shape(), Argument::gy, Argument::gx, [&](const Geometry& geometry, const auto& reducer) {
          const View<GY> all_gy = windows_.with_all_axes(geometry, gy, Argument::gy);
          spec::check_vjp(geometry, reducer, x, all_gy, gx);
          const auto maps =
              compiled_maps<X, GY, GX>(geometry, {x.strides(), all_gy.strides(), gx.strides(), all_gy.strides()});
          if (maps.has(MapKind::vjp)) return maps.vjp(x.data(), gy.data(), gx.data(), progress);
          return spec::run_vjp<std::remove_const_t<X>, std::remove_const_t<GY>>(geometry, reducer, x, all_gy, gx,
                                                                                progress);
        });
  }

  /// dy = the derivative of each output by beta, of smooth max only; overwrites dy, which has the shape of y. Runs the
  /// reference on the calling thread: the cost of about two exponentials per tap.
  template <class X, class DY>
  bool beta_derivative(const View<X>& x, const View<DY>& dy, const ProgressCallback& progress = {}) const {
    using Scalar = spec::WorkScalar<X, DY>;
    const reduction::SmoothMax* smooth_max = std::get_if<reduction::SmoothMax>(&reduction_);
    if (smooth_max == nullptr) raise({Code::no_beta, Argument::beta, -1, {}});
    const Geometry resolved = geometry(x.shape());
    bool finished = true;
    smooth_max->with<Scalar>([&](const auto& reducer) {
      if constexpr (std::integral<DY>) {
        raise({Code::no_derivative, Argument::dy, -1, {}});
      } else {
        const View<DY> all_dy = windows_.with_all_axes(resolved, dy, Argument::dy);
        spec::check_beta_derivative(resolved, reducer, x, all_dy);
        const spec::SmoothMaxBeta<Scalar> by_beta{reducer};
        finished = spec::run_forward<std::remove_const_t<X>>(resolved, by_beta, x, all_dy, progress);
      }
    });
    return finished;
  }

  /// A plan for inputs of `shape` with `strides` (in elements, packed if left empty), and for packed results: one
  /// implementation chosen for each map. Costs a few allocations and no threads. Throws `ndpool::Error` if the window
  /// does not fit or T lacks what the reducer needs, and std::invalid_argument if `options` name an implementation that
  /// does not accept the problem.
  template <class T>
  [[nodiscard]] Plan<T> plan(const Shape& shape, const Shape& strides = {}, const PlanOptions& options = {}) const;

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

  /// The compiled implementations for the scalar X, which all arrays must have; none for other scalars.
  template <class X, class... Others>
  detail::CompiledMaps compiled_maps(const Geometry& geometry, const detail::ArrayStrides& strides,
                                     const PlanOptions& options = {}) const {
    using Scalar = std::remove_const_t<X>;
    if constexpr (is_built_in<Scalar> && (std::same_as<Scalar, std::remove_const_t<Others>> && ...))
      if (uses_kernels_)
        return detail::CompiledMaps::make(reduction_, dtype_of<Scalar>(), dtype_of<Scalar>(), geometry, strides,
                                          options);
    return {};
  }

  /// The same for the forward map, whose result may have another built-in type.
  template <class X, class Y>
  detail::CompiledMaps forward_maps(const Geometry& geometry, const detail::ArrayStrides& strides) const {
    using From = std::remove_const_t<X>;
    if constexpr (is_built_in<From> && is_built_in<Y>)
      if (uses_kernels_)
        return detail::CompiledMaps::make(reduction_, dtype_of<From>(), dtype_of<Y>(), geometry, strides);
    return {};
  }

  /// The same for the maps by indices; `like_in` and `like_out` have the shapes of input and output.
  template <class X, class Y, class I>
  detail::CompiledMaps index_maps(const Geometry& geometry, const View<I>& indices, const View<X>& like_in,
                                  const View<Y>& like_out) const {
    using Scalar = std::remove_const_t<X>;
    if constexpr (is_built_in<Scalar> && std::same_as<Scalar, std::remove_const_t<Y>> && !std::is_integral_v<Scalar>)
      if (uses_kernels_)
        return detail::CompiledMaps::make_for_indices(
            dtype_of<Scalar>(), geometry,
            {like_in.strides(), indices.strides(), like_in.strides(), like_out.strides()});
    return {};
  }

  /// Throws unless the pool has indices.
  void require_indices() const {
    if (!has_indices()) raise({Code::no_indices, Argument::indices, -1, {}});
  }

  friend struct detail::PoolAccess;

  detail::Windows windows_;
  Reduction reduction_;
  bool uses_kernels_ = true;
};
static_assert(sizeof(Pool) <= 512);

namespace detail {

/// The compiled implementations of a pool for arrays with these strides, for callers that keep them for many runs,
/// after the map itself has found nothing wrong with such arrays. `out` and `tangent_out` are strides of the output
/// shape that the caller sees.
struct PoolAccess {
  template <class T>
  static CompiledMaps compiled_maps(const Pool& pool, const Shape& shape, const ArrayStrides& strides) {
    const Geometry geometry = pool.geometry(shape);
    const Shape out = pool.windows_.strides_of_all_axes(geometry, strides.out),
                tangent_out = pool.windows_.strides_of_all_axes(geometry, strides.tangent_out);
    return pool.compiled_maps<T>(geometry, {strides.in, out, strides.tangent_in, tangent_out});
  }
  /// The same for the maps of max and min by indices, which have the strides `out`.
  template <class T>
  static CompiledMaps compiled_index_maps(const Pool& pool, const Shape& shape, const ArrayStrides& strides) {
    if (!pool.uses_kernels_ || std::is_integral_v<T>) return {};
    const Geometry geometry = pool.geometry(shape);
    const Shape out = pool.windows_.strides_of_all_axes(geometry, strides.out),
                tangent_out = pool.windows_.strides_of_all_axes(geometry, strides.tangent_out);
    return CompiledMaps::make_for_indices(dtype_of<T>(), geometry, {strides.in, out, strides.tangent_in, tangent_out});
  }
  /// Strides of the output shape that the caller sees, with those of the axes that it does not see.
  static Shape strides_of_all_axes(const Pool& pool, const Geometry& geometry, const Shape& visible) {
    return pool.windows_.strides_of_all_axes(geometry, visible);
  }
};

}  // namespace detail

}  // namespace ndpool

// The functions that make pools.
#include <ndpool/pools.hpp>
