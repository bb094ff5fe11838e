// Max unpooling: the way back from a max pool with its indices.
#pragma once

#include <ndpool/detail/compiled_maps.hpp>
#include <ndpool/spec/cancellable.hpp>
#include <ndpool/spec/unpool.hpp>

namespace ndpool {

/// Max unpooling to an output size: the way back from a max pool with its indices.
///
/// Every map checks all arguments before it writes, and throws `ndpool::Error` with a sentence that names the argument;
/// indices outside the output are an error. Maps of built-in floats use the threads of threads.hpp. Every map returns
/// false if its `ProgressCallback` cancelled it, true otherwise. Immutable, so any number of threads may use one.
class Unpool {
 public:
  /// `size.output_size` has the lengths of the result on the axes `size.axes`, the last ones if those are left empty.
  explicit Unpool(const Adaptive& size) : size_(size) {}

  /// Shape of the result for values of `shape`. Throws if the size does not fit.
  [[nodiscard]] Shape output_shape(const Shape& shape) const {
    return spec::unpool_geometry(size_, shape).input_shape();
  }

  /// x = values placed at the cells that `indices` name, 0 elsewhere; -1 is skipped, the last of equal indices wins.
  template <class Y, class Indices, class X>
  bool forward(const View<Y>& values, const View<Indices>& indices, const View<X>& x,
               const ProgressCallback& progress = {}) const {
    return place(values, indices, x, Argument::y, Argument::x, progress);
  }

  /// Unpooling is linear in the values: its JVP places their tangents.
  template <class DY, class Indices, class DX>
  bool jvp(const View<DY>& tangents, const View<Indices>& indices, const View<DX>& dx,
           const ProgressCallback& progress = {}) const {
    return place(tangents, indices, dx, Argument::dy, Argument::dx, progress);
  }

  /// gy = the gradient of each value that was placed and not overwritten; 0 for the others. Arguments are in the order
  /// of `forward` and `jvp`: what is read, its indices, the result.
  template <class GX, class GY>
  bool vjp(const View<GX>& gx, const View<const Index>& indices, const View<GY>& gy,
           const ProgressCallback& progress = {}) const {
    const Geometry geometry = spec::unpool_geometry(size_, indices.shape());
    spec::check_unpool_vjp_arrays(geometry, indices, gx, gy);
    if (const auto maps = compiled_maps(geometry, indices, gx, gy)) {
      if (!maps.check_indices(indices.data(), Dtype::i64)) spec::detail::check_indices(geometry, indices);
      return maps.unpool_vjp(gx.data(), indices.data(), gy.data(), progress);
    }
    return spec::count_steps(progress, spec::index_steps(geometry),
                             [&](auto tick) { spec::unpool_vjp(geometry, indices, gx, gy, tick); });
  }
  /// The order of arguments before 0.2.0.
  template <class Indices, class GX, class GY>
  requires(std::same_as<std::remove_const_t<Indices>, Index> && !std::same_as<std::remove_const_t<GX>, Index>)
      [[deprecated("use vjp(gx, indices, gy); this order will be removed in 0.3.0")]] bool vjp(
          const View<Indices>& indices, const View<GX>& gx, const View<GY>& gy,
          const ProgressCallback& progress = {}) const {
    return vjp(gx, View<const Index>(indices), gy, progress);
  }

  /// This map without compiled kernels: the reference runs it, on the calling thread. What kernels are compared with.
  [[nodiscard]] Unpool without_kernels() const {
    Unpool unpool = *this;
    unpool.uses_kernels_ = false;
    return unpool;
  }
  /// The name before 0.2.0.
  [[deprecated("use Unpool::without_kernels(); will be removed in 0.3.0")]] Unpool by_spec() const {
    return without_kernels();
  }

 private:
  template <class Y, class Indices, class X>
  bool place(const View<Y>& values, const View<Indices>& indices, const View<X>& x, Argument values_argument,
             Argument x_argument, const ProgressCallback& progress) const {
    const Geometry geometry = spec::unpool_geometry(size_, values.shape());
    spec::check_unpool_arrays(geometry, values, indices, x, values_argument, x_argument);
    if (const auto maps = compiled_maps(geometry, indices, x, values)) {
      if (!maps.check_indices(indices.data(), Dtype::i64)) spec::detail::check_indices(geometry, indices);
      return maps.unpool(values.data(), indices.data(), x.data(), progress);
    }
    return spec::count_steps(progress, spec::index_steps(geometry), [&](auto tick) {
      spec::unpool(geometry, values, indices, x, values_argument, x_argument, tick);
    });
  }

  /// The compiled implementations for these scalars, if there are any.
  template <class X, class Y, class Indices>
  detail::CompiledMaps compiled_maps(const Geometry& geometry, const View<Indices>& indices, const View<X>& cells,
                                     const View<Y>& values) const {
    using Scalar = std::remove_const_t<X>;
    if constexpr (is_built_in<Scalar> && std::same_as<Scalar, std::remove_const_t<Y>> &&
                  std::same_as<std::remove_const_t<Indices>, Index>)
      if (uses_kernels_)
        return detail::CompiledMaps::make_for_indices(
            dtype_of<Scalar>(), geometry, {cells.strides(), indices.strides(), cells.strides(), values.strides()});
    return {};
  }

  bool uses_kernels_ = true;
  Adaptive size_;
};

/// Max unpooling to `size`. Allocates nothing for up to eight axes; sizes are checked when a shape is known.
[[nodiscard]] inline Unpool max_unpool(const Adaptive& size) { return Unpool(size); }

}  // namespace ndpool
