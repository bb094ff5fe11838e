// Every kind of tiny convolution under a name. The firmware, its host build and the test against a plain loop walk this
// one list.
#pragma once

#include "cases.hpp"

namespace embedded {

/// Where the taps of a case are: tap k of output l is on cell l * stride - before + k * dilation.
struct Placement {
  int outputs, stride, before, dilation;
};

using ConvDilated = Window<Kernel<3>, Stride<2>, Pads<2, 3>, Dilation<2>>;

/// Calls `visit.template operator()<Conv>(name, placement)` for every case.
template <class Visit>
void for_each_conv_case(Visit visit) {
#define NDPOOL_CONV(name, placement, ...) visit.template operator()<__VA_ARGS__>(name, Placement placement)
  NDPOOL_CONV("conv", ({8, 1, 1, 1}), Conv1D<Shape<2, 3, 8>, 4, Window<Kernel<3>, Padding<1>>, training>);
  NDPOOL_CONV("conv-valid", ({5, 1, 0, 1}), Conv1D<Shape<1, 2, 8>, 3, Window<Kernel<4>>, training>);
  NDPOOL_CONV("conv-same", ({8, 1, 1, 1}), Conv1D<Shape<1, 2, 8>, 3, Window<Kernel<4>, SameUpper>, training>);
  NDPOOL_CONV("conv-stride", ({3, 3, 0, 1}), Conv1D<Shape<1, 2, 11>, 3, Window<Kernel<4>, Stride<3>>, training>);
  NDPOOL_CONV("conv-dilated", ({7, 2, 2, 2}), Conv1D<Shape<2, 2, 12>, 3, ConvDilated, training>);
  NDPOOL_CONV("conv-long", ({11, 3, 5, 1}),
              Conv1D<Shape<1, 2, 40>, 2, Window<Kernel<20>, Stride<3>, Padding<5>>, training>);
  NDPOOL_CONV("conv-ceil", ({3, 4, 0, 1}), Conv1D<Shape<1, 2, 9>, 2, Window<Kernel<4>, Stride<4>>, to_ceil>);
  NDPOOL_CONV("conv-divides", ({3, 3, 0, 1}), Conv1D<Shape<1, 2, 10>, 2, Window<Kernel<4>, Stride<3>>, divides>);
  NDPOOL_CONV("conv-one-cell", ({4, 1, 0, 1}), Conv1D<Shape<3, 4, 4>, 2, Window<Kernel<1>>, training>);
  NDPOOL_CONV("conv-windows-of-padding", ({6, 1, 2, 1}),
              Conv1D<Shape<1, 1, 2>, 2, Window<Kernel<1>, Padding<2>>, training>);
  NDPOOL_CONV("conv-int8", ({8, 1, 1, 1}),
              Conv1D<Shape<2, 3, 8>, 4, Window<Kernel<3>, Padding<1>>, with_training(quantised(5, -3)), std::int8_t>);
  NDPOOL_CONV("conv-int8-dilated", ({7, 2, 2, 2}),
              Conv1D<Shape<2, 2, 12>, 3, ConvDilated, with_training(quantised(-128, 127)), std::int8_t>);
  NDPOOL_CONV("conv-int8-one-zero-point", ({5, 1, 0, 1}),
              Conv1D<Shape<1, 40, 9>, 6, Window<Kernel<5>>, quantised(127), std::int8_t>);
#undef NDPOOL_CONV
}

/// What a convolution makes of the numbers of `fill`. The channels of quantised ones have multipliers of all sizes.
template <class Conv>
struct ConvResults {
  using T = typename Conv::Input::Scalar;
  static constexpr bool trains = Conv::trains;

  typename Conv::Input x;
  typename Conv::Output y;
  typename Conv::Parameters parameters;
  typename Conv::InputGradient gx;
  typename Conv::OutputGradient gy;
  typename Conv::ParameterGradient gradient;

  void run() {
    fill(x.data, x.size(), 1);
    fill(gy.data, gy.size(), 2);
    fill(parameters.weight.data, parameters.weight.size(), 3);
    fill(parameters.bias.data, parameters.bias.size(), 4);
    if constexpr (std::integral<T>) {
      double real = 1.5;
      for (auto& multiplier : parameters.multiplier) multiplier = ndpool::spec::Multiplier(real /= 7.25);
      for (std::int32_t& bias : parameters.bias) bias *= 100;
    }
    Conv::forward(x, parameters, y);
    if constexpr (trains) Conv::backward(x, parameters, gy, gx, gradient);
  }
};

}  // namespace embedded
