// Pooling layers for microcontrollers: shapes are template arguments, memory belongs to the caller, and what does not
// fit does not compile. No heap, no exceptions, no RTTI, no operating system, no mathematical library.
//
//   using namespace ndpool::tiny;
//   using Pool = MaxPool1D<Shape<1, 8, 64>, 2, 2, training>;            // batch, channels, length; kernel, stride
//   Pool::Input x;  Pool::Output y;  Pool::Memory memory;               // one byte per output
//   Pool::forward(x, y, memory);
//   Pool::backward(memory, gy, gx);
//
// The layers of ndpool/layers.hpp, but for smooth max, which needs a mathematical library (typed::smooth_max_pool).
#pragma once

#include <ndpool/edges.hpp>
#include <ndpool/spec/quantised.hpp>
#include <ndpool/typed.hpp>

#include <cstdint>

namespace ndpool::tiny {

using typed::Adaptive;
using typed::CeilMode;
using typed::Dilation;
using typed::Global;
using typed::Kernel;
using typed::Padding;
using typed::Pads;
using typed::Shape;
using typed::Stride;
using typed::Tensor;
using typed::Window;

/// What a layer can be told.
struct Settings {
  bool training = false;
  Edges edges = Edges::drop;
  bool count_include_pad = true;  ///< averages divide by the taps on input and padding, else by those on input
  int zero_point = 0;             ///< what the number 0 is stored as, in layers of integers
};
inline constexpr Settings inference{};
inline constexpr Settings training{.training = true};
/// Layers of integers as TensorFlow Lite has them: padding is not counted. The scale is not needed, since input and
/// output share it.
constexpr Settings quantised(int zero_point) { return {.count_include_pad = false, .zero_point = zero_point}; }

/// Max: in training mode it keeps the number of each winner's tap, in one byte up to 255 taps.
template <class G, class Output, class T, Settings settings>
struct Max {
  static constexpr spec::Max<T> reducer{};
  static_assert(G::geometry.tap_count() <= 0xFFFF, "ndpool: a window of a tiny layer has more than 65535 taps");
  using Memory = Tensor<std::conditional_t<G::geometry.tap_count() <= 0xFF, std::uint8_t, std::uint16_t>, Output>;

  static constexpr void forward(const T* x, T* y, Memory& memory) {
    spec::fixed::forward<G>(reducer, x, y, memory.data);
  }
  static constexpr void backward(const Memory& memory, const T* gy, T* gx) {
    spec::fixed::vjp_from_taps<G>(memory.data, gy, gx);
  }
};

/// Average: keeps nothing. Integers are quantised numbers.
template <class G, class Output, class T, Settings settings>
struct Average {
  static constexpr auto reducer = [] {
    if constexpr (std::integral<T>)
      return spec::QuantisedAverage<T>{settings.zero_point, settings.count_include_pad};
    else
      return spec::Average<T>{{}, {.count_include_pad = settings.count_include_pad}};
  }();
  struct Memory {};

  static constexpr void forward(const T* x, T* y, Memory&) { spec::fixed::forward<G>(reducer, x, y); }
  static constexpr void backward(const Memory&, const T* gy, T* gx) { spec::fixed::vjp_of_sum<G>(reducer, gy, gx); }
};

/// A layer: a reduction of the windows that `Description` makes of arrays of shape `In`.
template <template <class, class, class, Settings> class Reduction, class Description, class In, Settings settings,
          class T>
struct Layer {
  using InputShape = In;
  using OutputShape = typed::OutputShape<Description, In>;
  using Input = Tensor<T, InputShape>;
  using Output = Tensor<T, OutputShape>;

 private:
  using Resolved = typed::Resolved<Description, In>;
  using Of = Reduction<Resolved, OutputShape, T, settings>;

 public:
  /// What `forward` keeps for `backward`; nothing of it exists in a layer for inference.
  using Memory = typename Of::Memory;

  /// y = R(x).
  template <class X, class Y>
  static constexpr void forward(const X& x, Y& y) {
    check_arrays<X, Y>();
    spec::fixed::forward<Resolved>(Of::reducer, x.data, y.data);
  }

  /// The same in training mode, where `memory` keeps what the way back needs.
  template <class X, class Y>
  static constexpr void forward(const X& x, Y& y, Memory& memory) {
    check_arrays<X, Y>();
    check_training();
    Of::forward(x.data, y.data, memory);
  }

  /// The gradient of the input of the `forward` that filled `memory`.
  template <class GY, class GX>
  static constexpr void backward(const Memory& memory, const GY& gy, GX& gx) {
    static_assert(std::same_as<GY, Output>, "ndpool: the gradient must have the scalar and the shape of the output");
    static_assert(std::same_as<GX, Input>,
                  "ndpool: the result of backward must have the scalar and the shape of the input");
    check_training();
    Of::backward(memory, gy.data, gx.data);
  }

 private:
  template <class X, class Y>
  static constexpr void check_arrays() {
    static_assert(std::same_as<X, Input>, "ndpool: the input must have the scalar and the shape of the layer");
    static_assert(std::same_as<Y, Output>, "ndpool: the result must have the scalar and the shape of the output");
  }
  static constexpr void check_training() {
    static_assert(settings.training, "ndpool: a layer for inference has no way back: give it the setting `training`");
    static_assert(std::same_as<spec::Accumulator<T>, T> && spec::Differentiable<T>,
                  "ndpool: layers of this scalar have no backward");
  }

  static constexpr const auto& geometry = Resolved::geometry;
  static_assert(!spec::core::check_reducer(geometry, Of::reducer),
                "ndpool: the padding leaves a window without an input element");
  static_assert(spec::fixed::can_walk(geometry), "ndpool: the arrays or windows of a tiny layer are too large");
  static_assert(settings.edges != Edges::error || !check_edges(geometry),
                "ndpool: the windows lose elements at the end of an axis: pad it, or say Edges::drop or Edges::ceil");
};

namespace detail {

template <class In, int spatial_axes>
struct CheckedRank {
  static_assert(In::rank == 2 + spatial_axes,
                "ndpool: the input of a layer has a batch axis, a channel axis and the pooled axes");
  using type = In;
};
template <class In, int spatial_axes>
using Ranked = typename CheckedRank<In, spatial_axes>::type;

/// The window with one more at the end if the edges ask for it.
template <Settings settings, class... Parts>
using WithEdges = std::conditional_t<settings.edges == Edges::ceil, Window<Parts..., CeilMode<true>>, Window<Parts...>>;

template <class W, Settings settings>
struct Edged;
template <class... Parts, Settings settings>
struct Edged<Window<Parts...>, settings> {
  using type = WithEdges<settings, Parts...>;
};

/// The stride of -1 means the kernel.
constexpr Index stride_or_kernel(Index stride, Index kernel) { return stride == -1 ? kernel : stride; }

}  // namespace detail

/// Windows over the last axes: `MaxPoolND<Shape<1, 3, 8, 8>, Window<Kernel<3, 3>, Stride<2, 2>, Padding<1, 1>>>`.
template <class In, class W, Settings settings = inference, class T = float>
using MaxPoolND = Layer<Max, typename detail::Edged<W, settings>::type, In, settings, T>;
template <class In, class W, Settings settings = inference, class T = float>
using AvgPoolND = Layer<Average, typename detail::Edged<W, settings>::type, In, settings, T>;

/// [batch, channels, length]; the stride is the kernel unless it is given.
template <class In, Index K, Index S = -1, Settings settings = inference, class T = float>
using MaxPool1D =
    MaxPoolND<detail::Ranked<In, 1>, Window<Kernel<K>, Stride<detail::stride_or_kernel(S, K)>>, settings, T>;
template <class In, Index K, Index S = -1, Settings settings = inference, class T = float>
using AvgPool1D =
    AvgPoolND<detail::Ranked<In, 1>, Window<Kernel<K>, Stride<detail::stride_or_kernel(S, K)>>, settings, T>;

/// [batch, channels, height, width].
template <class In, Index kH, Index kW, Index sH = -1, Index sW = -1, Settings settings = inference, class T = float>
using MaxPool2D =
    MaxPoolND<detail::Ranked<In, 2>,
              Window<Kernel<kH, kW>, Stride<detail::stride_or_kernel(sH, kH), detail::stride_or_kernel(sW, kW)>>,
              settings, T>;
template <class In, Index kH, Index kW, Index sH = -1, Index sW = -1, Settings settings = inference, class T = float>
using AvgPool2D =
    AvgPoolND<detail::Ranked<In, 2>,
              Window<Kernel<kH, kW>, Stride<detail::stride_or_kernel(sH, kH), detail::stride_or_kernel(sW, kW)>>,
              settings, T>;

/// Bins of nearly equal length: `AdaptiveAvgPoolND<Shape<1, 3, 9, 9>, Adaptive<4, 4>>`.
template <class In, class Bins, Settings settings = inference, class T = float>
using AdaptiveMaxPoolND = Layer<Max, Bins, In, settings, T>;
template <class In, class Bins, Settings settings = inference, class T = float>
using AdaptiveAvgPoolND = Layer<Average, Bins, In, settings, T>;

/// One bin for all axes behind batch and channels, which are dropped: [batch, channels].
template <class In, Settings settings = inference, class T = float>
using GlobalMaxPool = Layer<Max, Global<In::rank - 2, false>, In, settings, T>;
template <class In, Settings settings = inference, class T = float>
using GlobalAvgPool = Layer<Average, Global<In::rank - 2, false>, In, settings, T>;

}  // namespace ndpool::tiny
