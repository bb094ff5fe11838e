// Convolution over the length of [batch, channels, length] for microcontrollers: what stands between the pools of a
// small network. Shapes are template arguments, all memory is the caller's.
//
//   using Conv = Conv1D<Shape<1, 4, 64>, 8, Window<Kernel<5>, Padding<2>>, training>;        // 4 channels in, 8 out
//   Conv::Parameters parameters, gradient;                                                    // weight and bias
//   Conv::forward(x, parameters, y);
//   Conv::backward(x, parameters, gy, gx, gradient);
//
//   y[b, o, l] = bias[o] + sum over channels i and taps k of weight[o, i, k] * x[b, i, cell under tap k of output l]
//
// added up in that order, a channel at a time. Padded cells are 0 and are left out. A window without Stride moves cell
// by cell. Which cell is under a tap is asked of the geometry, as pools do.
#pragma once

#include <ndpool/spec/quantised.hpp>
#include <ndpool/tiny/settings.hpp>

namespace ndpool::tiny {

/// Weights [channels out, channels in, kernel] and one bias per channel that comes out.
template <class T, class Weight, class Bias>
struct ConvParameters {
  /// [channels out, channels in, kernel].
  Tensor<T, Weight> weight;
  /// One number per channel that comes out.
  Tensor<T, Bias> bias;
};

/// Quantised: weights have the zero point 0 and a scale per channel that comes out; the bias has the scale of input
/// times weight, and `multiplier` is that scale over the output's.
template <class Weight, class Bias>
struct ConvParameters<std::int8_t, Weight, Bias> {
  Tensor<std::int8_t, Weight> weight;
  Tensor<std::int32_t, Bias> bias;
  Tensor<spec::Multiplier, Bias> multiplier;
};

namespace detail {

template <class W>
struct CellByCell;
template <class... Parts>
struct CellByCell<Window<Parts...>> {
  using type = Window<Stride<1>, Parts...>;  // a Stride among the parts comes later and counts
};

/// The loops of a convolution: the taps of every output of one row, for every pair of rows that meet.
template <class In, Index channels_out, class W>
struct ConvLoops {
  using Row = typed::Resolved<W, Shape<In::extents[2]>>;
  static constexpr int batch = static_cast<int>(In::extents[0]), channels_in = static_cast<int>(In::extents[1]);
  static constexpr int outputs = static_cast<int>(Row::geometry.axes[0].output);
  static constexpr int length = static_cast<int>(In::extents[2]);
  static constexpr int kernel = static_cast<int>(Row::geometry.axes[0].kernel);

  /// Calls `visit(channel out, number of the output, each_tap)` for every output in row-major order;
  /// `each_tap(f)` calls `f(number of the weight, number of the cell)` for all its taps on cells.
  template <class Visit>
  [[gnu::always_inline]] static constexpr void for_each_output(Visit visit) {
    int output = 0;
    for (int b = 0; b < batch; ++b)
      for (int o = 0; o < channels_out; ++o)
        spec::detail::fixed::for_each_window<Row>({}, [&](const spec::detail::fixed::At<Row>& at) {
          visit(o, output++, [&](auto f) {
            for (int i = 0; i < channels_in; ++i) {
              const int weights = (o * channels_in + i) * kernel, cells = (b * channels_in + i) * length;
              spec::detail::fixed::for_each_tap<Row>(at, at.cell, 0,
                                                     [&](int cell, int tap) { f(weights + tap, cells + cell); });
            }
          });
        });
  }
};

}  // namespace detail

/// A convolution along the last axis of [batch, channels, length]; quantised for std::int8_t. A stride that is not
/// given is 1.
template <class In, Index channels_out, class W, Settings settings = inference, class T = float>
struct Conv1D {
  static_assert(channels_out >= 1, "ndpool: a convolution needs at least one channel that comes out");

 private:
  using Loops = detail::ConvLoops<detail::Ranked<In, 1>, channels_out,
                                  typename detail::Edged<typename detail::CellByCell<W>::type, settings>::type>;
  static constexpr const auto& geometry = Loops::Row::geometry;
  static constexpr bool is_quantised = std::integral<T>;

 public:
  /// True if the layer has a backward map.
  static constexpr bool trains = settings.training;
  /// Shape of the input.
  using InputShape = In;
  /// Shape of the result.
  using OutputShape = Shape<In::extents[0], channels_out, Loops::outputs>;
  /// The input.
  using Input = Tensor<T, InputShape>;
  /// The result.
  using Output = Tensor<T, OutputShape>;
  /// Weights and biases.
  using Parameters = ConvParameters<T, Shape<channels_out, In::extents[1], Loops::kernel>, Shape<channels_out>>;
  /// As Input, Output and Parameters, but of floats for layers of integers, whose multipliers have no gradient.
  using Number = GradientOf<T>;
  /// The gradient of the input: of floats for layers of integers.
  using InputGradient = Tensor<Number, InputShape>;
  /// The gradient of the result: likewise.
  using OutputGradient = Tensor<Number, OutputShape>;
  /// The gradient of weights and biases.
  using ParameterGradient =
      ConvParameters<Number, Shape<channels_out, In::extents[1], Loops::kernel>, Shape<channels_out>>;

  /// y = convolution of x. Writes every element of y.
  template <class X, class P, class Y>
  static constexpr void forward(const X& x, const P& parameters, Y& y) {
    check_input<X>();
    check_parameters<P>();
    static_assert(std::same_as<Y, Output>, "ndpool: the result must have the scalar and the shape of the output");
    Loops::for_each_output([&](int channel, int output, auto each_tap) {
      using Sum = std::conditional_t<is_quantised, std::int32_t, spec::Accumulator<T>>;
      Sum sum = is_quantised ? Sum(0) : Sum(parameters.bias.data[channel]);
      each_tap([&](int weight, int cell) {
        if constexpr (is_quantised)
          sum += parameters.weight.data[weight] * (x.data[cell] - settings.zero_point);
        else
          sum += Sum(Sum(parameters.weight.data[weight]) * Sum(x.data[cell]));
      });
      if constexpr (is_quantised)
        y.data[output] =
            spec::narrow<T>(parameters.multiplier.data[channel](std::int64_t{sum} + parameters.bias.data[channel]) +
                            settings.zero_of_output());
      else
        y.data[output] = spec::narrow<T>(sum);
    });
  }

  /// gx = the gradient of x, gradient = that of weight and bias, from the x of a forward, its parameters and the
  /// gradient gy of its result. Both are overwritten. `x` is all that the way back needs: the caller keeps it.
  template <class X, class P, class GY, class GX, class G>
  static constexpr void backward(const X& x, const P& parameters, const GY& gy, GX& gx, G& gradient) {
    backward_input(parameters, gy, gx);
    backward_parameters(x, parameters, gy, gradient);
  }

  /// The first half, which does not need x.
  template <class P, class GY, class GX>
  static constexpr void backward_input(const P& parameters, const GY& gy, GX& gx) {
    check_gradient<GY>();
    check_parameters<P>();
    static_assert(
        std::same_as<GX, InputGradient>,
        "ndpool: the result of backward must have the scalar and the shape of the input (floats for integers)");
    for (Number& cell : gx) cell = Number(0);
    Loops::for_each_output([&](int channel, int output, auto each_tap) {
      const Number share = gradient_of_sum(parameters, gy.data[output], channel);
      each_tap([&](int weight, int cell) { gx.data[cell] += Number(share * Number(parameters.weight.data[weight])); });
    });
  }

  /// The second half: all that the first layer of a network needs. Of the parameters it reads the multipliers alone.
  template <class X, class P, class GY, class G>
  static constexpr void backward_parameters(const X& x, const P& parameters, const GY& gy, G& gradient) {
    check_parameters<P>();
    add_up(x, gy, gradient, [&](const Number& g, int channel) { return gradient_of_sum(parameters, g, channel); });
  }
  /// The same without parameters, for convolutions that are not quantised.
  template <class X, class GY, class G>
  static constexpr void backward_parameters(const X& x, const GY& gy, G& gradient) {
    static_assert(!is_quantised,
                  "ndpool: the way back of a quantised convolution needs its multipliers: its Parameters");
    add_up(x, gy, gradient, [](const Number& g, int) { return g; });
  }

 private:
  template <class X>
  static constexpr void check_input() {
    static_assert(std::same_as<X, Input>, "ndpool: the input must have the scalar and the shape of the layer");
  }
  template <class P>
  static constexpr void check_parameters() {
    static_assert(std::same_as<P, Parameters>, "ndpool: weight and bias must be the Parameters of the layer");
  }
  template <class GY>
  static constexpr void check_gradient() {
    detail::check_training<T, settings>();
    static_assert(std::same_as<GY, OutputGradient>,
                  "ndpool: the gradient must have the scalar and the shape of the output (floats for integers)");
  }

  /// The gradient of weight and bias; `of_sum(g, channel)` is the gradient of a sum, from g, that of its output.
  template <class X, class GY, class G, class OfSum>
  static constexpr void add_up(const X& x, const GY& gy, G& gradient, OfSum of_sum) {
    check_input<X>();
    check_gradient<GY>();
    static_assert(std::same_as<G, ParameterGradient>,
                  "ndpool: the gradient of weight and bias must be the ParameterGradient of the layer");
    for (Number& weight : gradient.weight) weight = Number(0);
    for (Number& bias : gradient.bias) bias = Number(0);
    Loops::for_each_output([&](int channel, int output, auto each_tap) {
      const Number share = of_sum(gy.data[output], channel);
      gradient.bias.data[channel] += share;
      each_tap(
          [&](int weight, int cell) { gradient.weight.data[weight] += Number(share * without_zero(x.data[cell])); });
    });
  }
  static constexpr Number gradient_of_sum(const Parameters& parameters, const Number& gy, int channel) {
    if constexpr (is_quantised)
      return gy * parameters.multiplier.data[channel].real();
    else
      return gy;
  }
  static constexpr Number without_zero(const T& x) {
    if constexpr (is_quantised)
      return static_cast<Number>(x - settings.zero_point);
    else
      return x;
  }

  static_assert(spec::detail::fixed::can_count(geometry) && In::count <= INT32_MAX / 2 &&
                    OutputShape::count <= INT32_MAX / 2 &&
                    channels_out * In::extents[1] * Loops::kernel <= INT32_MAX / 2,
                "ndpool: the arrays or windows of a tiny layer are too large");
  static_assert(settings.edges != Edges::error || !check_edges(geometry),
                "ndpool: the windows leave cells at the end of an axis: pad it, or say Edges::drop or Edges::ceil");
  static_assert(settings.ties == Ties::standard, "ndpool: convolutions have no ties");
  static_assert((detail::check_layer<In, T, settings>(), true));
  static_assert(!is_quantised || std::same_as<T, std::int8_t>, "ndpool: quantised convolutions are of int8");
  // A sum of 32 bits holds what a product can be at most, 255 * 128, this many times.
  static_assert(!is_quantised || In::extents[1] * Loops::kernel <= INT32_MAX / (255 * 128),
                "ndpool: too many weights per output for a sum of 32 bits");
};

}  // namespace ndpool::tiny
