// Shapes, tensors and descriptions of windows as types, and what follows from them before the program runs.
#pragma once

#include <ndpool/geometry.hpp>
#include <ndpool/view.hpp>

#include <utility>

namespace ndpool::typed {

/// A shape as a type.
template <Index... Lengths>
struct Shape {
  /// The number of axes.
  static constexpr int rank = sizeof...(Lengths);
  /// The capacity of lists of axes: the rank, and at least 1.
  static constexpr int capacity = rank > 0 ? rank : 1;
  /// The lengths.
  static constexpr Extents<capacity> extents{Lengths...};
  /// The number of elements.
  static constexpr Index count = element_count(extents);
  static_assert(((Lengths >= 0) && ...), "ndpool: a shape has a negative length");
  static_assert(count >= 0, "ndpool: the number of elements of a shape does not fit in 64 bits");
};

/// An array of `S::count` elements in row-major order, held in place.
template <class T, class S>
struct Tensor {
  /// The type of the elements.
  using Scalar = T;
  /// The shape, as a type.
  using ShapeType = S;
  /// The elements, in row-major order.
  T data[S::count > 0 ? static_cast<unsigned long>(S::count) : 1]{};

  /// The number of elements.
  static constexpr Index size() { return S::count; }
  /// The first element.
  constexpr T* begin() { return data; }
  /// One past the last element.
  constexpr T* end() { return data + S::count; }
  /// The first element.
  constexpr const T* begin() const { return data; }
  /// One past the last element.
  constexpr const T* end() const { return data + S::count; }

  /// The element at a position, one number per axis. Not checked.
  template <class... At>
  constexpr T& operator()(At... at) {
    static_assert(sizeof...(At) == S::rank, "ndpool: as many positions as the tensor has axes");
    return view()[{static_cast<Index>(at)...}];
  }
  /// The element at a position, one number per axis. Not checked.
  template <class... At>
  constexpr const T& operator()(At... at) const {
    static_assert(sizeof...(At) == S::rank, "ndpool: as many positions as the tensor has axes");
    return view()[{static_cast<Index>(at)...}];
  }
  /// A view of all elements. Must not outlive the tensor.
  constexpr View<T, S::capacity> view() { return {data, S::extents}; }
  /// A view of all elements. Must not outlive the tensor.
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
  /// True if the result lacks the pooled axes.
  static constexpr bool drops_axes = false;
  /// The description as a value, for geometries of `Capacity` axes.
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
  /// True if the result lacks the pooled axes.
  static constexpr bool drops_axes = false;
  /// The description as a value, for geometries of `Capacity` axes.
  template <int Capacity>
  static constexpr auto describe() {
    return BasicAdaptive<Capacity>{.output_size = {Bins...}};
  }
};

/// The last `Axes` axes as one bin; dropped from the result ("flat") unless `KeepDims` keeps them as axes of length 1.
template <int Axes, bool KeepDims = false>
struct Global {
  /// True if the result lacks the pooled axes.
  static constexpr bool drops_axes = !KeepDims;
  /// The description as a value, for geometries of `Capacity` axes.
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
  /// The geometry, and what is wrong with it.
  struct Result {
    /// What is wrong.
    Fault fault;
    /// The resolved geometry.
    BasicGeometry<S::capacity> geometry;
  };
  /// The resolved geometry, or what is wrong.
  static constexpr Result result = [] {
    Result made{};
    made.fault = resolve(Description::template describe<S::capacity>(), S::extents, made.geometry);
    return made;
  }();
  /// The resolved geometry.
  static constexpr const BasicGeometry<S::capacity>& geometry = result.geometry;

  /// What is wrong; none if the description fits.
  static constexpr Code code = result.fault.code;
  /// The argument that is wrong.
  static constexpr Argument argument = result.fault.argument;
  /// True of this fault.
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
  /// True if the description fits the shape.
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

}  // namespace ndpool::typed
