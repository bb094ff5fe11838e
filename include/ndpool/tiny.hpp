// Pooling layers for microcontrollers: shapes are template arguments, memory belongs to the caller, and what does not
// fit does not compile. No heap, no exceptions, no RTTI, no operating system, no mathematical library.
//
//   using namespace ndpool::tiny;
//   using Pool = MaxPool1D<Shape<1, 8, 64>, 2, 2, training>;            // batch, channels, length; kernel, stride
//   Pool::Input x;  Pool::Output y;  Pool::Memory memory;               // one byte per output
//   Pool::forward(x, y, memory);
//   Pool::backward(memory, gy, gx);
//
// The layers of ndpool/layers.hpp, but for smooth max, which needs a mathematical library (typed::smooth_max_pool), and
// the convolution that stands between them (tiny/conv.hpp). Arrays of one call must not overlap.
#pragma once

#include <ndpool/spec/extreme_bits.hpp>
#include <ndpool/spec/quantised.hpp>
#include <ndpool/tiny/conv.hpp>
#include <ndpool/tiny/settings.hpp>

namespace ndpool::tiny {

/// Max: in training mode it keeps 1 + the number of each winner's tap, in 1 byte up to 255 taps, 2 up to 65535, then 4.
template <class G, class Output, class T, Settings settings>
struct Max {
  static_assert(settings.ties == Ties::standard || settings.ties == Ties::first,
                "ndpool: ties all and split are for GlobalMaxPool: other layers keep one winner per output");
  /// The reference that the layer runs.
  static constexpr spec::Max<T> reducer{};
  /// Taps of a window.
  static constexpr Index taps = G::geometry.tap_count();
  /// What the forward map keeps for the backward map.
  using Memory = Tensor<
      std::conditional_t<taps <= 0xFF, std::uint8_t, std::conditional_t<taps <= 0xFFFF, std::uint16_t, std::uint32_t>>,
      Output>;

  /// y = R(x); fills the memory.
  static constexpr void forward(const T* x, T* y, Memory& memory) {
    spec::detail::fixed::forward<G>(reducer, x, y, memory.data);
  }
  /// gx = the VJP of gy, by what the forward map has kept.
  template <class Number>
  static constexpr void backward(const Memory& memory, const Number* gy, Number* gx) {
    spec::detail::fixed::vjp_from_winners<G>(memory.data, gy, gx);
  }
  /// Calls `visit(does it exist, its offset in the input)` for the winner of every output in row-major order.
  template <class Visit>
  static constexpr void for_each_winner(const Memory& memory, Visit visit) {
    spec::detail::fixed::for_each_winner<G>(memory.data, visit);
  }
};

/// Max of all axes behind batch and channels with ties `all` or `split`: keeps one bit per input element.
template <class G, class Output, class T, Settings settings>
struct MarkedMax {
  /// The reference that the layer runs.
  static constexpr spec::Max<T> reducer{};
  static constexpr int planes = static_cast<int>(Output::count);            ///< of batch and channels
  static constexpr int cells = static_cast<int>(G::geometry.cell_count());  ///< of each plane
  /// What the forward map keeps for the backward map.
  using Memory = Tensor<std::uint8_t, Shape<spec::bytes_of_bits(planes* cells)>>;

  /// y = R(x); fills the memory.
  static constexpr void forward(const T* x, T* y, Memory& memory) {
    spec::detail::fixed::forward<G>(reducer, x, y);
    spec::mark_extremes(reducer, planes, cells, x, y, memory.data);
  }
  /// gx = the VJP of gy, by what the forward map has kept.
  template <class Number>
  static constexpr void backward(const Memory& memory, const Number* gy, Number* gx) {
    spec::vjp_from_bits(settings.ties, planes, cells, memory.data, gy, gx);
  }
  /// Calls `visit(does it exist, its offset in the input)` for the first extreme of every output in row-major order.
  template <class Visit>
  static constexpr void for_each_winner(const Memory& memory, Visit visit) {
    for (int plane = 0; plane < planes; ++plane) {
      const int cell = spec::first_extreme(memory.data, plane, cells);
      visit(cell >= 0, plane * cells + cell);
    }
  }
};

template <class G, class Output, class T, Settings settings>
struct GlobalMax
    : std::conditional_t<settings.ties == Ties::first, Max<G, Output, T, settings>, MarkedMax<G, Output, T, settings>> {
};

/// Average: keeps nothing. Integers are quantised numbers.
template <class G, class Output, class T, Settings settings>
struct Average {
  static_assert(settings.ties == Ties::standard, "ndpool: averages have no ties");
  /// The reference that the layer runs.
  static constexpr auto reducer = [] {
    if constexpr (std::integral<T>)
      return spec::QuantisedAverage<T>{settings.zero_point, settings.count_include_pad};
    else
      return spec::Average<T>{{}, {.count_include_pad = settings.count_include_pad}};
  }();
  struct Memory {};

  /// y = R(x); fills the memory.
  static constexpr void forward(const T* x, T* y, Memory&) { spec::detail::fixed::forward<G>(reducer, x, y); }
  /// gx = the VJP of gy, by what the forward map has kept.
  template <class Number>
  static constexpr void backward(const Memory&, const Number* gy, Number* gx) {
    spec::detail::fixed::vjp_of_sum<G>(spec::Average<Number>{{}, {.count_include_pad = settings.count_include_pad}}, gy,
                                       gx);
  }
};

namespace detail {

template <int times, Index... Lengths, int... Axis>
auto lengthen(Shape<Lengths...>, std::integer_sequence<int, Axis...>)
    -> Shape<(Axis + 1 == sizeof...(Lengths) ? times * Lengths : Lengths)...>;
/// A shape with its last axis `times` as long.
template <class S, int times>
using Lengthened = decltype(lengthen<times>(S{}, std::make_integer_sequence<int, S::rank>{}));

/// The stride of -1 means the kernel.
constexpr Index stride_or_kernel(Index stride, Index kernel) { return stride == -1 ? kernel : stride; }

}  // namespace detail

/// A layer: a reduction of the windows that `Description` makes of arrays of shape `In`.
template <template <class, class, class, Settings> class Reduction, class Description, class In, Settings settings,
          class T>
struct Layer {
  /// True if the layer has a backward map.
  static constexpr bool trains = settings.training;
  /// Shape of the input.
  using InputShape = In;
  /// Shape of the result.
  using OutputShape = typed::OutputShape<Description, In>;
  /// The input, and its gradient.
  using Input = Tensor<T, InputShape>;
  /// The result, and its gradient.
  using Output = Tensor<T, OutputShape>;
  /// As Input and Output, but of floats for layers of integers.
  using InputGradient = Tensor<GradientOf<T>, InputShape>;
  /// The gradient of the result: of floats for layers of integers.
  using OutputGradient = Tensor<GradientOf<T>, OutputShape>;

 private:
  using Resolved = typed::Resolved<Description, In>;
  using Of = Reduction<Resolved, OutputShape, T, settings>;
  static constexpr const auto& geometry = Resolved::geometry;
  static constexpr int pooled_axes = [] {
    int count = 0;
    for (int a = 0; a < geometry.rank; ++a) count += geometry.axes[a].pooled;
    return count;
  }();
  static constexpr int first_pooled = geometry.rank - pooled_axes;
  static constexpr bool has_long_axes = [] {
    for (int a = 0; a < geometry.rank; ++a)
      if (geometry.axes[a].input > 0xFFFF) return true;
    return false;
  }();

 public:
  /// What `forward` keeps for `backward`; nothing of it exists in a layer for inference. Until a forward has filled it,
  /// it has no winners: gradients through it are 0.
  using Memory = typename Of::Memory;

  /// Where the maximum of each output is: its position on every pooled axis, counted without padding. `[B, C, L]`;
  /// `[B, C, OH, OW * 2]` with pairs (ih, iw); in general as many numbers per output as axes are pooled.
  using Mask = Tensor<std::conditional_t<has_long_axes, std::uint32_t, std::uint16_t>,
                      detail::Lengthened<OutputShape, pooled_axes>>;

  /// y = R(x).
  template <class X, class Y>
  static constexpr void forward(const X& x, Y& y) {
    check_arrays<X, Y>();
    spec::detail::fixed::forward<Resolved>(Of::reducer, x.data, y.data);
  }

  /// The same in training mode, where `memory` keeps what the way back needs.
  template <class X, class Y>
  static constexpr void forward(const X& x, Y& y, Memory& memory) {
    check_arrays<X, Y>();
    detail::check_training<T, settings>();
    Of::forward(x.data, y.data, memory);
  }

  /// The gradient of the input of the `forward` that filled `memory`.
  template <class GY, class GX>
  static constexpr void backward(const Memory& memory, const GY& gy, GX& gx) {
    static_assert(std::same_as<GY, OutputGradient>,
                  "ndpool: the gradient must have the scalar and the shape of the output (floats for integers)");
    static_assert(
        std::same_as<GX, InputGradient>,
        "ndpool: the result of backward must have the scalar and the shape of the input (floats for integers)");
    detail::check_training<T, settings>();
    Of::backward(memory, gy.data, gx.data);
  }

  /// The mask of the `forward` that filled `memory`, of max alone; of equal maxima the first. False, with all bits of
  /// the mask set, if there was none.
  template <class M>
  [[nodiscard]] static constexpr bool mask(const Memory& memory, M& mask) {
    static_assert(settings.training, "ndpool: a layer for inference keeps no mask: give it the setting `training`");
    static_assert(
        requires { Of::for_each_winner(memory, [](bool, int) {}); }, "ndpool: averages have no mask");
    static_assert(std::same_as<M, Mask>, "ndpool: the mask must have the type Mask of the layer");
    auto* entry = mask.data;
    bool filled = true;
    Of::for_each_winner(memory, [&](bool exists, int offset) {
      filled = filled && exists;
      [&]<int... I>(std::integer_sequence<int, I...>) {
        ((*entry++ = static_cast<typename Mask::Scalar>(exists ? position<first_pooled + I>(offset) : -1)), ...);
      }
      (std::make_integer_sequence<int, pooled_axes>{});
    });
    return filled;
  }

 private:
  /// Where an element of the packed input is on an axis.
  template <int A>
  static constexpr int position(int offset) {
    return offset / spec::detail::fixed::AxisOf<Resolved, A>::cell_stride % static_cast<int>(geometry.axes[A].input);
  }
  template <class X, class Y>
  static constexpr void check_arrays() {
    static_assert(std::same_as<X, Input>, "ndpool: the input must have the scalar and the shape of the layer");
    static_assert(std::same_as<Y, Output>, "ndpool: the result must have the scalar and the shape of the output");
  }

  static_assert(!spec::core::check_reducer(geometry, Of::reducer),
                "ndpool: the padding leaves a window without an input element");
  static_assert(In::count == 0 || spec::detail::fixed::can_walk(geometry),
                "ndpool: the arrays or windows of a tiny layer are too large");
  static_assert(settings.edges != Edges::error || !check_edges(geometry),
                "ndpool: the windows leave cells at the end of an axis: pad it, or say Edges::drop or Edges::ceil");
  static_assert(settings.zero_of_output() == settings.zero_point,
                "ndpool: the output of a pool has the zero point of its input");
  static_assert((detail::check_layer<In, T, settings>(), true));
};

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

/// One bin for all axes behind batch and channels, which are dropped: [batch, channels]. Which of equal maxima get the
/// gradient is a setting, `ties`: `all` in full unless it is given (for n elements per output, training keeps n / 8
/// bytes per output), the `first` (1, 2 or 4 bytes), or all in equal parts, `split` (n / 8 bytes).
template <class In, Settings settings = inference, class T = float>
using GlobalMaxPool = Layer<GlobalMax, Global<In::rank - 2>, In, settings, T>;
template <class In, Settings settings = inference, class T = float>
using GlobalAvgPool = Layer<Average, Global<In::rank - 2>, In, settings, T>;

}  // namespace ndpool::tiny
