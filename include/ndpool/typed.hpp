// Pools with compile-time shapes: no heap, usable in constant expressions and without an operating system. Results have
// computed types, and what does not fit does not compile.
//
//   using namespace ndpool::typed;
//   Tensor<float, Shape<3, 32, 32>> x;
//   auto y  = max_pool<Window<Kernel<3, 3>, Stride<2, 2>, Padding<1, 1>>>(x);        // Tensor<float, Shape<3, 16, 16>>
//   auto gx = max_pool<Window<Kernel<3, 3>, Stride<2, 2>, Padding<1, 1>>>.vjp(x, y);
//
// The last axes are pooled; what stands before them (channels, batch) is pooled independently. So one function serves
// single images, channels-first tensors and volumes.
#pragma once

#include <ndpool/spec/average.hpp>
#include <ndpool/spec/core.hpp>
#include <ndpool/spec/fixed.hpp>
#include <ndpool/spec/lp.hpp>
#include <ndpool/spec/max.hpp>
#include <ndpool/spec/min.hpp>
#include <ndpool/spec/smooth_max.hpp>
#include <ndpool/spec/sum.hpp>
#include <ndpool/typed_geometry.hpp>

namespace ndpool::typed {

namespace detail {

/// A reducer with options: `Reducer::Options` is the type of its member `options`.
template <class Reducer>
requires requires(Reducer reducer, const typename Reducer::Options& options) { reducer.options = options; }
constexpr Reducer with_options(const typename Reducer::Options& options) {
  Reducer reducer;
  reducer.options = options;
  return reducer;
}

}  // namespace detail

/// A pool: a geometry times a reducer. `Reducer` is one of the reference's, such as spec::Max, or one of your own.
///
/// Every map takes the reducer's options last, as `{.ties = Ties::split}`, or the reducer itself, as
/// `{.p = 3}` for Lp. What the standard options rule out does not compile. Options given in the call are checked when
/// they are known: they throw, or in a constant expression do not compile; a freestanding program must get them right.
///
/// Cost: no heap and no threads; tensors are returned by value, and a VJP keeps one accumulator per input element on
/// the stack. Thread-safety: a pool has no state.
template <class Description, template <class> class Reducer>
struct Pool {
  /// The result of pooling a tensor with elements T and shape S.
  template <class T, class S>
  using Output = Tensor<T, OutputShape<Description, S>>;
  /// The options of the reducer for elements T, if it has any.
  template <class T>
  using Options = typename Reducer<T>::Options;

  /// y = R(x).
  template <class T, class S>
  constexpr Output<T, S> operator()(const Tensor<T, S>& x, const Reducer<T>& reducer = {}) const {
    Output<T, S> y;
    const Reducer<T> used = checked<T, S>(reducer);
    if constexpr (spec::detail::fixed::can_walk(geometry<S>))
      spec::detail::fixed::forward<Resolved<Description, S>>(used, x.data, y.data);
    else
      spec::core::forward(geometry<S>, used, x.view(), full_view<S>(y), [](const auto&, const auto&) {});
    return y;
  }
  /// The same, with options.
  template <class T, class S>
  constexpr Output<T, S> operator()(const Tensor<T, S>& x, const Options<T>& options) const {
    return (*this)(x, detail::with_options<Reducer<T>>(options));
  }

  /// The flat index, over the pooled axes, of the first extreme of each window; for max and min.
  template <class T, class S>
  constexpr Output<Index, S> indices(const Tensor<T, S>& x, const Reducer<T>& reducer = {}) const {
    Output<Index, S> indices;
    Output<T, S> y;
    const Reducer<T> used = checked<T, S>(reducer);
    const auto indices_view = full_view<S>(indices);
    spec::core::forward(geometry<S>, used, x.view(), full_view<S>(y), [&](const auto& output, const auto& summary) {
      indices_view[output] = spec::core::winner_index(geometry<S>, used, summary, output);
    });
    return indices;
  }
  /// The same, with options.
  template <class T, class S>
  constexpr Output<Index, S> indices(const Tensor<T, S>& x, const Options<T>& options) const {
    return indices(x, detail::with_options<Reducer<T>>(options));
  }

  /// dy = (derivative of R at x) dx.
  template <class T, class S, class D, class DS>
  constexpr Output<D, S> jvp(const Tensor<T, S>& x, const Tensor<D, DS>& dx, const Reducer<T>& reducer = {}) const {
    static_assert(spec::Differentiable<T>, "ndpool: this scalar type has no derivatives");
    static_assert(std::same_as<DS, S>, "ndpool: the tangent must have the shape of the input");
    Output<D, S> dy;
    spec::core::jvp(geometry<S>, checked<T, S>(reducer), x.view(), dx.view(), full_view<S>(dy));
    return dy;
  }
  /// The same, with options.
  template <class T, class S, class D, class DS>
  constexpr Output<D, S> jvp(const Tensor<T, S>& x, const Tensor<D, DS>& dx, const Options<T>& options) const {
    return jvp(x, dx, detail::with_options<Reducer<T>>(options));
  }

  /// The derivative of each output by beta; for smooth max.
  template <class T, class S>
  constexpr Output<T, S> beta_derivative(const Tensor<T, S>& x, const Reducer<T>& reducer = {}) const {
    static_assert(std::same_as<Reducer<T>, spec::SmoothMax<T>>, "ndpool: only smooth max has a beta");
    Output<T, S> dy;
    spec::core::forward(geometry<S>, spec::SmoothMaxBeta<T>{checked<T, S>(reducer)}, x.view(), full_view<S>(dy),
                        [](const auto&, const auto&) {});
    return dy;
  }
  /// The same, with options.
  template <class T, class S>
  constexpr Output<T, S> beta_derivative(const Tensor<T, S>& x, const Options<T>& options) const {
    return beta_derivative(x, detail::with_options<Reducer<T>>(options));
  }

  /// gx = (derivative of R at x)^T gy.
  template <class T, class S, class D, class GS>
  constexpr Tensor<D, S> vjp(const Tensor<T, S>& x, const Tensor<D, GS>& gy, const Reducer<T>& reducer = {}) const {
    static_assert(spec::Differentiable<T>, "ndpool: this scalar type has no derivatives");
    static_assert(std::same_as<GS, OutputShape<Description, S>>,
                  "ndpool: the gradient must have the shape of the output");
    using Number = spec::Accumulator<D>;
    Tensor<Number, S> sums;
    for (Number& sum : sums) sum = Number(0);
    spec::core::add_vjp(geometry<S>, checked<T, S>(reducer), x.view(), full_view<S>(gy), sums.view());
    Tensor<D, S> gx;
    for (Index i = 0; i < S::count; ++i) gx.data[i] = spec::narrow<D>(sums.data[i]);
    return gx;
  }
  /// The same, with options.
  template <class T, class S, class D, class GS>
  constexpr Tensor<D, S> vjp(const Tensor<T, S>& x, const Tensor<D, GS>& gy, const Options<T>& options) const {
    return vjp(x, gy, detail::with_options<Reducer<T>>(options));
  }

  /// True of every tensor that compiles: what the standard options rule out is an assertion with a sentence.
  template <class T, class S>
  [[nodiscard]] static consteval bool accepts() {
    static_assert(Resolved<Description, S>::valid);
    static_assert(!rejects_empty_windows<Reducer<T>>() || !geometry<S>.empty_window(),
                  "ndpool: the padding leaves a window without an input element");
    return true;
  }

 private:
  template <class S>
  static constexpr const BasicGeometry<S::capacity>& geometry = Resolved<Description, S>::geometry;

  /// The reducer with its standard ties: global pools give their derivative to every extreme unless told otherwise.
  template <class T, class S>
  static constexpr Reducer<T> checked(Reducer<T> reducer) {
    static_assert(accepts<T, S>());
#if __STDC_HOSTED__
    require(spec::core::check_value(geometry<S>, reducer));
#endif
    constexpr bool is_global = requires { Description::template describe<1>().keepdims; };
    if constexpr (is_global && requires {
                    reducer.options.ties;
                    reducer.winner({});
                  })
      if (reducer.options.ties == Ties::standard) reducer.options.ties = Ties::all;
    return reducer;
  }

  /// True if the standard options of a reducer rule out empty windows. Reducers that hold a number which is no
  /// constant, such as the beta of a dual number, are checked when they run.
  template <class R>
  static consteval bool rejects_empty_windows() {
    if constexpr (requires { typename std::bool_constant<R{}.rejects_empty_windows()>; })
      return R{}.rejects_empty_windows();
    else
      return false;
  }

  /// The tensor with the axes that the result drops put back as axes of length 1.
  template <class S, class AnyTensor>
  static constexpr auto full_view(AnyTensor& tensor) {
    return View<std::remove_reference_t<decltype(*tensor.data)>, S::capacity>(tensor.data, geometry<S>.output_shape());
  }
};

/// Left fold of `f(state, element)` over each window in row-major order, starting from `init`.
template <class Description, class T, class S, class State, class F>
constexpr Tensor<State, OutputShape<Description, S>> fold(const Tensor<T, S>& x, const State& init, F f) {
  constexpr auto& geometry = Resolved<Description, S>::geometry;
  Tensor<State, OutputShape<Description, S>> states;
  const View<State, S::capacity> view(states.data, geometry.output_shape());
  spec::for_each_position(geometry.output_shape(), [&](const Extents<S::capacity>& output) {
    State state = init;
    spec::for_each_tap(spec::WindowAt<S::capacity>(geometry, output),
                       [&](const auto& tap) { state = f(state, x.view()[tap.position]); });
    view[output] = state;
  });
  return states;
}

namespace detail {

template <class Image, class S>
consteval bool is_last_axes() {
  for (int a = 0; a < Image::rank; ++a)
    if (Image::rank > S::rank || Image::extents[a] != S::extents[S::rank - Image::rank + a]) return false;
  return true;
}

/// What a function of images may return: a number, or the same as a tensor without axes.
template <class R>
constexpr const R& scalar_of(const R& scalar) {
  return scalar;
}
template <class R>
constexpr const R& scalar_of(const Tensor<R, Shape<>>& scalar) {
  return scalar.data[0];
}

}  // namespace detail

/// Global pooling by any function of an image: `global_pool<Shape<4, 5>>(x, f)` calls f(Tensor<T, Shape<4, 5>>) once
/// for each image that the last axes of x hold, in row-major order. f returns a number of any type, or a tensor without
/// axes. The axes of the image are dropped; `global_pool<Shape<4, 5>, true>(x, f)` keeps them with length 1. Copies
/// each image.
template <class Image, bool KeepDims = false, class T, class S, class F>
constexpr auto global_pool(const Tensor<T, S>& x, F f) {
  static_assert(detail::is_last_axes<Image, S>(), "ndpool: the image must have the last axes of the tensor");
  static_assert(
      requires(const Tensor<T, Image>& image) { f(image); },
      "ndpool: the function must take an image: a tensor of the shape that global_pool names");
  using Result = std::remove_cvref_t<decltype(detail::scalar_of(f(std::declval<const Tensor<T, Image>&>())))>;
  Tensor<Result, OutputShape<Global<Image::rank, KeepDims>, S>> y;
  Tensor<T, Image> image;
  for (Index i = 0; i < y.size(); ++i) {
    for (Index cell = 0; cell < Image::count; ++cell) image.data[cell] = x.data[i * Image::count + cell];
    y.data[i] = detail::scalar_of(f(static_cast<const Tensor<T, Image>&>(image)));
  }
  return y;
}

/// Max over windows.
template <class W>
inline constexpr Pool<W, spec::Max> max_pool{};
/// Min over windows.
template <class W>
inline constexpr Pool<W, spec::Min> min_pool{};
/// Sum over windows.
template <class W>
inline constexpr Pool<W, spec::Sum> sum_pool{};
/// Average over windows.
template <class W>
inline constexpr Pool<W, spec::Average> avg_pool{};
/// Smooth max over windows.
template <class W>
inline constexpr Pool<W, spec::SmoothMax> smooth_max_pool{};
/// Lp over windows, for finite p: `lp_pool<W>(x, {.p = 3})`.
template <class W>
inline constexpr Pool<W, spec::Lp> lp_pool{};
/// Lp over windows, for p = infinity.
template <class W>
inline constexpr Pool<W, spec::LargestMagnitude> largest_magnitude_pool{};

/// `max_pool` over bins of nearly equal length.
template <Index... Bins>
inline constexpr auto adaptive_max_pool = max_pool<Adaptive<Bins...>>;
/// `min_pool` over bins of nearly equal length.
template <Index... Bins>
inline constexpr auto adaptive_min_pool = min_pool<Adaptive<Bins...>>;
/// `sum_pool` over bins of nearly equal length.
template <Index... Bins>
inline constexpr auto adaptive_sum_pool = sum_pool<Adaptive<Bins...>>;
/// `avg_pool` over bins of nearly equal length.
template <Index... Bins>
inline constexpr auto adaptive_avg_pool = avg_pool<Adaptive<Bins...>>;
/// `smooth_max_pool` over bins of nearly equal length.
template <Index... Bins>
inline constexpr auto adaptive_smooth_max_pool = smooth_max_pool<Adaptive<Bins...>>;
/// `lp_pool` over bins of nearly equal length.
template <Index... Bins>
inline constexpr auto adaptive_lp_pool = lp_pool<Adaptive<Bins...>>;

// `global_max_pool<2>(x)` drops the two pooled axes; `global_max_pool<2, true>(x)` keeps them with length 1.
/// `max_pool` over the last `Axes` axes.
template <int Axes, bool KeepDims = false>
inline constexpr auto global_max_pool = max_pool<Global<Axes, KeepDims>>;
/// `min_pool` over the last `Axes` axes.
template <int Axes, bool KeepDims = false>
inline constexpr auto global_min_pool = min_pool<Global<Axes, KeepDims>>;
/// `sum_pool` over the last `Axes` axes.
template <int Axes, bool KeepDims = false>
inline constexpr auto global_sum_pool = sum_pool<Global<Axes, KeepDims>>;
/// `avg_pool` over the last `Axes` axes.
template <int Axes, bool KeepDims = false>
inline constexpr auto global_avg_pool = avg_pool<Global<Axes, KeepDims>>;
/// `smooth_max_pool` over the last `Axes` axes.
template <int Axes, bool KeepDims = false>
inline constexpr auto global_smooth_max_pool = smooth_max_pool<Global<Axes, KeepDims>>;
/// `lp_pool` over the last `Axes` axes.
template <int Axes, bool KeepDims = false>
inline constexpr auto global_lp_pool = lp_pool<Global<Axes, KeepDims>>;

}  // namespace ndpool::typed
