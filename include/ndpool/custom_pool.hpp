// Pools with a reducer of the caller's own, and shapes known at run time.
//
//   auto ones = ndpool::pool(ndpool::Window{.kernel = {3, 3}}, CountNonzero<float>{});
//   ones.forward(ndpool::view(x, {64, 64}), ndpool::view(y, ones.output_shape({64, 64})));
#pragma once

#include <ndpool/detail/windows.hpp>
#include <ndpool/spec/indices.hpp>
#include <ndpool/spec/run.hpp>

namespace ndpool {

/// A pool with a reducer of the caller's own; the head of spec/core.hpp lists what a reducer needs. Its maps are those
/// of Pool: value, JVP and VJP, which follow from the reducer's weights.
///
/// Every map checks all arguments before it writes and throws `ndpool::Error`. The reference runs it, on the calling
/// thread; a VJP allocates one accumulator per input element. Every map returns false if its `ProgressCallback`
/// cancelled it, true otherwise. Thread-safety: as safe to share as the reducer is.
template <class Reducer>
class CustomPool {
 public:
  /// Window, Adaptive or Global; or a geometry, for arrays of exactly its shape.
  using Description = detail::Windows::Description;

  /// Copies both; they are checked when a shape is known.
  CustomPool(const Description& description, const Reducer& reducer) : windows_(description), reducer_(reducer) {}

  /// The window, resolved for an array of `shape`. Throws if it does not fit.
  [[nodiscard]] Geometry geometry(const Shape& shape) const { return windows_.geometry(shape); }
  /// Shape of the result for an input of `shape`. Throws if the window does not fit.
  [[nodiscard]] Shape output_shape(const Shape& shape) const { return windows_.visible_shape(geometry(shape)); }
  /// The reducer.
  [[nodiscard]] const Reducer& reducer() const { return reducer_; }

  /// y = R(x).
  template <class X, class Y>
  bool forward(const View<X>& x, const View<Y>& y, const ProgressCallback& progress = {}) const {
    const Geometry geometry = windows_.geometry(x.shape());
    const View<Y> all_y = windows_.with_all_axes(geometry, y, Argument::y);
    spec::check_forward(geometry, reducer_, x, all_y);
    return spec::run_forward<std::remove_const_t<X>>(geometry, reducer_, x, all_y, progress);
  }

  /// The same, and the flat index of each window's winner, for reducers that have `winner(summary)`.
  template <class X, class Y>
  requires requires(const Reducer& reducer, const typename Reducer::Summary& summary) { reducer.winner(summary); }
  bool forward(const View<X>& x, const View<Y>& y, const View<Index>& indices,
               const ProgressCallback& progress = {}) const {
    const Geometry geometry = windows_.geometry(x.shape());
    const View<Y> all_y = windows_.with_all_axes(geometry, y, Argument::y);
    const View<Index> all_indices = windows_.with_all_axes(geometry, indices, Argument::indices);
    spec::check_forward(geometry, reducer_, x, all_y, all_indices);
    return spec::run_forward<std::remove_const_t<X>>(geometry, reducer_, x, all_y, all_indices, progress);
  }

  /// dy = (derivative of R at x) dx.
  template <class X, class DX, class DY>
  bool jvp(const View<X>& x, const View<DX>& dx, const View<DY>& dy, const ProgressCallback& progress = {}) const {
    static_assert(spec::Differentiable<std::remove_const_t<X>>, "ndpool: this scalar type has no derivatives");
    const Geometry geometry = windows_.geometry(x.shape());
    const View<DY> all_dy = windows_.with_all_axes(geometry, dy, Argument::dy);
    spec::check_jvp(geometry, reducer_, x, dx, all_dy);
    return spec::run_jvp<std::remove_const_t<X>, std::remove_const_t<DX>>(geometry, reducer_, x, dx, all_dy, progress);
  }

  /// gx = (derivative of R at x)^T gy. Overwrites gx.
  template <class X, class GY, class GX>
  bool vjp(const View<X>& x, const View<GY>& gy, const View<GX>& gx, const ProgressCallback& progress = {}) const {
    static_assert(spec::Differentiable<std::remove_const_t<X>>, "ndpool: this scalar type has no derivatives");
    const Geometry geometry = windows_.geometry(x.shape());
    const View<GY> all_gy = windows_.with_all_axes(geometry, gy, Argument::gy);
    spec::check_vjp(geometry, reducer_, x, all_gy, gx);
    return spec::run_vjp<std::remove_const_t<X>, std::remove_const_t<GY>>(geometry, reducer_, x, all_gy, gx, progress);
  }

 private:
  detail::Windows windows_;
  Reducer reducer_;
};

/// A pool of your own reducer over a Window, Adaptive or Global: `pool(Window{.kernel = {3, 3}}, my_reducer)`. Copies
/// both.
template <class Reducer>
[[nodiscard]] CustomPool<Reducer> pool(const detail::Windows::Description& description, const Reducer& reducer) {
  return {description, reducer};
}

}  // namespace ndpool
