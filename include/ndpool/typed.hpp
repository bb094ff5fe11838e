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

#include <utility>

namespace ndpool::typed {

/// A shape as a type.
template <Index... Lengths>
struct Shape {
  static constexpr int rank = sizeof...(Lengths);
  static constexpr int capacity = rank > 0 ? rank : 1;
  static constexpr Extents<capacity> extents{Lengths...};
  static constexpr Index count = element_count(extents);
  static_assert(((Lengths >= 0) && ...), "ndpool: a shape has a negative length");
  static_assert(count >= 0, "ndpool: the number of elements of a shape does not fit in 64 bits");
};

/// An array of `S::count` elements in row-major order, held in place.
template <class T, class S>
struct Tensor {
  using Scalar = T;
  using ShapeType = S;
  T data[S::count > 0 ? static_cast<unsigned long>(S::count) : 1]{};

  static constexpr Index size() { return S::count; }
  constexpr T* begin() { return data; }
  constexpr T* end() { return data + S::count; }
  constexpr const T* begin() const { return data; }
  constexpr const T* end() const { return data + S::count; }

  template <class... At>
  constexpr T& operator()(At... at) {
    static_assert(sizeof...(At) == S::rank, "ndpool: as many positions as the tensor has axes");
    return view()[{static_cast<Index>(at)...}];
  }
  template <class... At>
  constexpr const T& operator()(At... at) const {
    static_assert(sizeof...(At) == S::rank, "ndpool: as many positions as the tensor has axes");
    return view()[{static_cast<Index>(at)...}];
  }
  constexpr View<T, S::capacity> view() { return {data, S::extents}; }
  constexpr View<const T, S::capacity> view() const { return {data, S::extents}; }

  friend constexpr bool operator==(const Tensor& a, const Tensor& b) {
    for (Index i = 0; i < S::count; ++i)
      if (!(a.data[i] == b.data[i])) return false;
    return true;
  }
};

// The parts of a window; one number per pooled axis. `Pads` has two numbers per axis, before and after.
template <Index... Values>
struct Kernel {};
template <Index... Values>
struct Stride {};
template <Index... Values>
struct Padding {};
template <Index... Values>
struct Pads {};
template <Index... Values>
struct Dilation {};
template <bool Mode>
struct CeilMode {};
struct SameUpper {};
struct SameLower {};

namespace detail {

template <class W, Index... V>
constexpr void apply(W& window, Kernel<V...>) {
  window.kernel = {V...};
}
template <class W, Index... V>
constexpr void apply(W& window, Stride<V...>) {
  window.stride = {V...};
}
template <class W, Index... V>
constexpr void apply(W& window, Padding<V...>) {
  window.padding = {Pad(V)...};
}
template <class W, Index... V>
constexpr void apply(W& window, Pads<V...>) {
  static_assert(sizeof...(V) % 2 == 0, "ndpool: Pads needs two numbers per pooled axis, before and after");
  const Index values[] = {V...};
  for (unsigned i = 0; i < sizeof...(V); i += 2) window.padding.push_back({values[i], values[i + 1]});
}
template <class W, Index... V>
constexpr void apply(W& window, Dilation<V...>) {
  window.dilation = {V...};
}
template <class W, bool Mode>
constexpr void apply(W& window, CeilMode<Mode>) {
  window.ceil_mode = Mode;
}
template <class W>
constexpr void apply(W& window, SameUpper) {
  window.padding = PaddingRule::same_upper;
}
template <class W>
constexpr void apply(W& window, SameLower) {
  window.padding = PaddingRule::same_lower;
}

}  // namespace detail

/// A sliding window from its parts, in any order: `Window<Kernel<3, 3>, Stride<2, 2>, Padding<1, 1>>`.
template <class... Parts>
struct Window {
  static constexpr bool drops_axes = false;
  template <int Capacity>
  static constexpr auto describe() {
    BasicWindow<Capacity> window;
    (detail::apply(window, Parts{}), ...);
    return window;
  }
};

/// Bins, one number per pooled axis: `Adaptive<7, 7>`.
template <Index... Bins>
struct Adaptive {
  static constexpr bool drops_axes = false;
  template <int Capacity>
  static constexpr auto describe() {
    return BasicAdaptive<Capacity>{.output_size = {Bins...}};
  }
};

/// The last `Axes` axes as one bin, kept as axes of length 1 or dropped ("flat").
template <int Axes, bool Keep = true>
struct Global {
  static constexpr bool drops_axes = !Keep;
  template <int Capacity>
  static constexpr auto describe() {
    BasicGlobal<Capacity> global;
    for (int a = Axes; a > 0; --a) global.axes.push_back(-a);
    return global;
  }
};
/// A description resolved for a shape at compile time. Each way in which it can fail has a sentence of its own.
template <class Description, class S>
struct Resolved {
  struct Result {
    Fault fault;
    BasicGeometry<S::capacity> geometry;
  };
  static constexpr Result result = [] {
    Result made{};
    made.fault = resolve(Description::template describe<S::capacity>(), S::extents, made.geometry);
    return made;
  }();
  static constexpr const BasicGeometry<S::capacity>& geometry = result.geometry;

  static constexpr Code code = result.fault.code;
  static constexpr Argument argument = result.fault.argument;
  static constexpr bool is(Code c, Argument a) { return code == c && argument == a; }
  static_assert(!is(Code::not_positive, Argument::kernel), "ndpool: every kernel length must be at least 1");
  static_assert(!is(Code::not_positive, Argument::stride), "ndpool: every stride must be at least 1");
  static_assert(!is(Code::not_positive, Argument::dilation), "ndpool: every dilation must be at least 1");
  static_assert(!is(Code::not_positive, Argument::output_size), "ndpool: every number of bins must be at least 1");
  static_assert(!is(Code::negative, Argument::padding), "ndpool: padding must not be negative");
  static_assert(code != Code::kernel_exceeds_input, "ndpool: the kernel is larger than the padded input");
  static_assert(code != Code::zero_length, "ndpool: a pooled axis has length 0");
  static_assert(code != Code::nothing_to_pool, "ndpool: no axis to pool: the window needs a Kernel");
  static_assert(code != Code::too_many_axes && code != Code::rank_too_large && code != Code::axis_out_of_range,
                "ndpool: more pooled axes than the tensor has");
  static_assert(code != Code::wrong_count, "ndpool: Stride, Padding and Dilation need one number per pooled axis");
  static_assert(code != Code::overflow, "ndpool: a number of elements does not fit in 64 bits");
  static constexpr bool valid = code == Code::none;
};

namespace detail {

template <class Description, class S>
consteval auto output_extents() {
  constexpr auto& geometry = Resolved<Description, S>::geometry;
  return Description::drops_axes ? drop_pooled_axes(geometry) : geometry.output_shape();
}

template <class Description, class S, int... Axis>
consteval auto shape_of_output(std::integer_sequence<int, Axis...>) {
  return Shape<output_extents<Description, S>()[Axis]...>{};
}

}  // namespace detail

/// Shape of the result of pooling a tensor of shape S.
template <class Description, class S>
using OutputShape = decltype(detail::shape_of_output<Description, S>(
    std::make_integer_sequence<int, detail::output_extents<Description, S>().size()>{}));

/// A pool: a geometry times a reducer. `Reducer` is a spec such as spec::Max, or one of the user's own; its options
/// come last in every call. What the standard options rule out does not compile. Options given in the call are checked
/// when they are known: they throw, or in a constant expression do not compile; a freestanding program must get them
/// right.
template <class Description, template <class> class Reducer>
struct Pool {
  template <class T, class S>
  using Output = Tensor<T, OutputShape<Description, S>>;

  /// y = R(x).
  template <class T, class S>
  constexpr Output<T, S> operator()(const Tensor<T, S>& x, const Reducer<T>& reducer = {}) const {
    Output<T, S> y;
    const Reducer<T> used = checked<T, S>(reducer);
    if constexpr (spec::fixed::can_walk(geometry<S>))
      spec::fixed::forward<Resolved<Description, S>>(used, x.data, y.data);
    else
      spec::core::forward(geometry<S>, used, x.view(), full_view<S>(y), [](const auto&, const auto&) {});
    return y;
  }

  /// The flat index, over the pooled axes, of each winner; for max and min.
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

  /// dy = (derivative of R at x) dx.
  template <class T, class S, class D, class DS>
  constexpr Output<D, S> jvp(const Tensor<T, S>& x, const Tensor<D, DS>& dx, const Reducer<T>& reducer = {}) const {
    static_assert(spec::Differentiable<T>, "ndpool: this scalar type has no derivatives");
    static_assert(std::same_as<DS, S>, "ndpool: the tangent must have the shape of the input");
    Output<D, S> dy;
    spec::core::jvp(geometry<S>, checked<T, S>(reducer), x.view(), dx.view(), full_view<S>(dy));
    return dy;
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

  /// True of every tensor that compiles: what the standard options rule out is an assertion with a sentence.
  template <class T, class S>
  static consteval bool accepts() {
    static_assert(Resolved<Description, S>::valid);
    static_assert(!spec::core::check_reducer(geometry<S>, Reducer<T>{}),
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

template <class W>
inline constexpr Pool<W, spec::Max> max_pool{};
template <class W>
inline constexpr Pool<W, spec::Min> min_pool{};
template <class W>
inline constexpr Pool<W, spec::Sum> sum_pool{};
template <class W>
inline constexpr Pool<W, spec::Average> avg_pool{};
template <class W>
inline constexpr Pool<W, spec::SmoothMax> smooth_max_pool{};
template <class W>
inline constexpr Pool<W, spec::Lp> lp_pool{};
template <class W>
inline constexpr Pool<W, spec::LargestMagnitude> largest_magnitude_pool{};

template <Index... Bins>
inline constexpr auto adaptive_max_pool = max_pool<Adaptive<Bins...>>;
template <Index... Bins>
inline constexpr auto adaptive_min_pool = min_pool<Adaptive<Bins...>>;
template <Index... Bins>
inline constexpr auto adaptive_sum_pool = sum_pool<Adaptive<Bins...>>;
template <Index... Bins>
inline constexpr auto adaptive_avg_pool = avg_pool<Adaptive<Bins...>>;
template <Index... Bins>
inline constexpr auto adaptive_smooth_max_pool = smooth_max_pool<Adaptive<Bins...>>;
template <Index... Bins>
inline constexpr auto adaptive_lp_pool = lp_pool<Adaptive<Bins...>>;

// `global_max_pool<2>(x)` keeps the two pooled axes with length 1; `global_max_pool<2, false>(x)` drops them.
template <int Axes, bool Keep = true>
inline constexpr auto global_max_pool = max_pool<Global<Axes, Keep>>;
template <int Axes, bool Keep = true>
inline constexpr auto global_min_pool = min_pool<Global<Axes, Keep>>;
template <int Axes, bool Keep = true>
inline constexpr auto global_sum_pool = sum_pool<Global<Axes, Keep>>;
template <int Axes, bool Keep = true>
inline constexpr auto global_avg_pool = avg_pool<Global<Axes, Keep>>;
template <int Axes, bool Keep = true>
inline constexpr auto global_smooth_max_pool = smooth_max_pool<Global<Axes, Keep>>;
template <int Axes, bool Keep = true>
inline constexpr auto global_lp_pool = lp_pool<Global<Axes, Keep>>;

}  // namespace ndpool::typed
