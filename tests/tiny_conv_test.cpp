// Tiny convolutions against a plain loop in exact numbers, against finite differences, and in rationals; quantised ones
// against exact fractions.
#include "../embedded/conv_cases.hpp"

#include <gtest/gtest.h>
#include <boost/multiprecision/cpp_int.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace embedded {
namespace {

using ndpool::Index;
using ndpool::spec::Multiplier;
using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;

/// All sums of a convolution and of its way back, in any numbers, by asking every cell of every window whether it is
/// there.
template <class Number>
struct PlainLoop {
  std::vector<Number> y, gx, weight, bias;

  template <class Conv, class Convert>
  PlainLoop(const Placement& at, const Conv&, const typename Conv::Input& x, const typename Conv::OutputGradient& gy,
            const typename Conv::Parameters& p, Convert number) {
    const auto& in = Conv::InputShape::extents;
    const auto& shape = decltype(p.weight)::ShapeType::extents;
    const Index batch = in[0], channels = in[1], length = in[2], out = shape[0], kernel = shape[2];
    y.resize(static_cast<std::size_t>(batch * out * at.outputs));
    gx.resize(static_cast<std::size_t>(x.size()));
    weight.resize(static_cast<std::size_t>(p.weight.size()));
    bias.resize(static_cast<std::size_t>(out));
    for (Index b = 0; b < batch; ++b)
      for (Index o = 0; o < out; ++o)
        for (Index l = 0; l < at.outputs; ++l) {
          const Index output = (b * out + o) * at.outputs + l;
          const Number g = number(gy.data[output]);
          Number& sum = y[static_cast<std::size_t>(output)];
          bias[static_cast<std::size_t>(o)] += g;
          for (Index i = 0; i < channels; ++i)
            for (Index k = 0; k < kernel; ++k) {
              const Index position = l * at.stride - at.before + k * at.dilation;
              if (position < 0 || position >= length) continue;
              const Index cell = (b * channels + i) * length + position, w = (o * channels + i) * kernel + k;
              sum += number(p.weight.data[w]) * number(x.data[cell]);
              gx[static_cast<std::size_t>(cell)] += g * number(p.weight.data[w]);
              weight[static_cast<std::size_t>(w)] += g * number(x.data[cell]);
            }
        }
  }
};

template <class Tensor, class Number, class Convert>
void expect_equal(const char* what, const Tensor& actual, const std::vector<Number>& expected, Convert number) {
  ASSERT_EQ(static_cast<std::size_t>(actual.size()), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(number(actual.data[i]), expected[i]) << what << ' ' << i;
}

TEST(Conv1D, EveryFloatCaseEqualsThePlainLoop) {
  int cases = 0;
  for_each_conv_case([&]<class Conv>(const char* name, const Placement& at) {
    if constexpr (!std::integral<typename Conv::Input::Scalar>) {
      SCOPED_TRACE(name);
      ++cases;
      static ConvResults<Conv> results;
      results.run();
      // Numbers are multiples of 1/8, so sums of products in double, and in float, are exact.
      const auto number = [](float x) { return static_cast<double>(x); };
      PlainLoop<double> plain(at, Conv{}, results.x, results.gy, results.parameters, number);
      const std::size_t per_batch = plain.y.size() / static_cast<std::size_t>(Conv::InputShape::extents[0]);
      for (std::size_t i = 0; i < plain.y.size(); ++i)
        plain.y[i] += number(results.parameters.bias.data[i % per_batch / static_cast<std::size_t>(at.outputs)]);
      expect_equal("y", results.y, plain.y, number);
      expect_equal("gx", results.gx, plain.gx, number);
      expect_equal("weight", results.gradient.weight, plain.weight, number);
      expect_equal("bias", results.gradient.bias, plain.bias, number);
    }
  });
  EXPECT_EQ(cases, 10);
}

TEST(Conv1D, EveryQuantisedCaseEqualsExactFractions) {
  int cases = 0;
  for_each_conv_case([&]<class Conv>(const char* name, const Placement& at) {
    if constexpr (std::integral<typename Conv::Input::Scalar>) {
      SCOPED_TRACE(name);
      ++cases;
      static ConvResults<Conv> results;
      results.run();
      const int zero_in = name == std::string("conv-int8") ? 5 : name == std::string("conv-int8-dilated") ? -128 : 127;
      const int zero_out = name == std::string("conv-int8") ? -3 : 127;
      // The input without its zero point, as 64-bit numbers.
      const auto number = [](auto q) { return static_cast<std::int64_t>(q); };
      PlainLoop<std::int64_t> plain(at, Conv{}, results.x, results.gy, results.parameters, number);
      auto zeros = results;
      for (auto& cell : zeros.x) cell = static_cast<std::int8_t>(zero_in);
      const PlainLoop<std::int64_t> of_zero(at, Conv{}, zeros.x, results.gy, results.parameters, number);
      const std::size_t per_batch = plain.y.size() / static_cast<std::size_t>(Conv::InputShape::extents[0]);
      for (std::size_t i = 0; i < plain.y.size(); ++i) {
        const std::size_t channel = i % per_batch / static_cast<std::size_t>(at.outputs);
        const Multiplier m = results.parameters.multiplier.data[channel];
        const Integer product =
            Integer(plain.y[i] - of_zero.y[i] + results.parameters.bias.data[channel]) * m.mantissa();
        const Integer unit = Integer(1) << m.shift();
        Integer rounded = (2 * abs(product) + unit) / (2 * unit);  // half away from 0
        if (product < 0) rounded = -rounded;
        rounded += zero_out;
        EXPECT_EQ(Integer(results.y.data[i]), std::clamp(rounded, Integer(-128), Integer(127))) << i;
      }
    }
  });
  EXPECT_EQ(cases, 3);
}

using Wide = Window<Kernel<3>, Stride<2>, Pads<2, 3>, Dilation<2>>;
constexpr Placement wide{5, 2, 2, 2};
template <class T>
using Same = Conv1D<Shape<2, 3, 9>, 2, Wide, training, T>;

/// Small numbers that are no multiples of anything.
template <class Conv>
struct Point {
  using T = typename Conv::Input::Scalar;
  typename Conv::Input x, gx;
  typename Conv::Output y, gy;
  typename Conv::Parameters p, gradient;
  unsigned seed = 5;

  Point() {
    for (auto* values : {x.begin(), p.weight.begin(), p.bias.begin(), gy.begin()}) {
      const Index count = values == x.begin()          ? x.size()
                          : values == p.weight.begin() ? p.weight.size()
                          : values == p.bias.begin()   ? p.bias.size()
                                                       : gy.size();
      for (Index i = 0; i < count; ++i) values[i] = next();
    }
    Conv::forward(x, p, y);
    Conv::backward(x, p, gy, gx, gradient);
  }
  T next() {
    seed = seed * 1664525U + 1013904223U;
    return T(static_cast<int>(seed >> 20) - 2048) / T(static_cast<int>(seed >> 10 & 0xFF) + 300);
  }
  /// <gy, conv(x)>, whose gradient `backward` is.
  T objective() const {
    typename Conv::Output made;
    Conv::forward(x, p, made);
    T sum(0);
    for (Index i = 0; i < made.size(); ++i) sum += T(made.data[i] * gy.data[i]);
    return sum;
  }
};

TEST(Conv1D, GradientsAreThoseOfFiniteDifferences) {
  Point<Same<double>> point;
  int compared = 0;
  const auto compare = [&](auto& values, const auto& gradient) {
    for (Index i = 0; i < values.size(); ++i, ++compared) {
      const double before = values.data[i], step = 1e-3;
      values.data[i] = before + step;
      const double up = point.objective();
      values.data[i] = before - step;
      const double down = point.objective();
      values.data[i] = before;
      EXPECT_NEAR((up - down) / (2 * step), gradient.data[i], 1e-9) << i;
    }
  };
  compare(point.x, point.gx);
  compare(point.p.weight, point.gradient.weight);
  compare(point.p.bias, point.gradient.bias);
  EXPECT_EQ(compared, 2 * 3 * 9 + 2 * 3 * 3 + 2);
}

TEST(Conv1D, ValuesAndGradientsAreExactInRationals) {
  const Point<Same<Rational>> point;
  const auto number = [](const Rational& x) { return x; };
  PlainLoop<Rational> plain(wide, Same<Rational>{}, point.x, point.gy, point.p, number);
  for (std::size_t i = 0; i < plain.y.size(); ++i) plain.y[i] += point.p.bias.data[i / 5 % 2];
  expect_equal("y", point.y, plain.y, number);
  expect_equal("gx", point.gx, plain.gx, number);
  expect_equal("weight", point.gradient.weight, plain.weight, number);
  expect_equal("bias", point.gradient.bias, plain.bias, number);
}

TEST(Conv1D, ShapesAreThoseOfTheGeometry) {
  static_assert(std::same_as<Same<float>::OutputShape, Shape<2, 2, 5>>);
  static_assert(std::same_as<decltype(Same<float>::Parameters::weight)::ShapeType, Shape<2, 3, 3>>);
  static_assert(std::same_as<Conv1D<Shape<1, 4, 64>, 8, Window<Kernel<5>, Padding<2>>>::OutputShape, Shape<1, 8, 64>>);
  static_assert(std::same_as<Conv1D<Shape<1, 4, 64>, 8, Window<Stride<2>, Kernel<5>>>::OutputShape, Shape<1, 8, 30>>);
  static_assert(std::is_empty_v<Same<float>>);
}

TEST(Conv1D, BackwardOverwritesWhatWasThere) {
  Point<Same<float>> point;
  const auto gx = point.gx;
  const auto gradient = point.gradient;
  Same<float>::backward(point.x, point.p, point.gy, point.gx, point.gradient);
  EXPECT_EQ(point.gx, gx);
  EXPECT_EQ(point.gradient.weight, gradient.weight);
  EXPECT_EQ(point.gradient.bias, gradient.bias);
}

TEST(Conv1D, WorksInConstantExpressions) {
  using Conv = Conv1D<Shape<1, 1, 4>, 1, Window<Kernel<2>>>;
  constexpr auto y = [] {
    Conv::Parameters p;
    p.weight = {{10, 1}};
    p.bias = {{100}};
    Conv::Output made;
    Conv::forward(Conv::Input{{1, 2, 3, 4}}, p, made);
    return made;
  }();
  static_assert(y == Conv::Output{{112, 123, 134}});
  EXPECT_EQ(y.data[0], 112);
}

TEST(Conv1D, ANaNReachesTheOutputsThatSeeItOnly) {
  using Conv = Conv1D<Shape<1, 1, 5>, 1, Window<Kernel<2>>>;
  Conv::Parameters p;
  p.weight = {{1, 1}};
  Conv::Output y;
  Conv::forward(Conv::Input{{1, 2, std::numeric_limits<float>::quiet_NaN(), 4, 5}}, p, y);
  EXPECT_EQ(y.data[0], 3);
  EXPECT_TRUE(y.data[1] != y.data[1] && y.data[2] != y.data[2]);
  EXPECT_EQ(y.data[3], 9);
}

TEST(Multiplier, IsTheNearestFractionOf31Bits) {
  for (const double real : {1.0, 0.5, 0.3, 1.0 / 3, 0.999999999999, 1e-9, 3.7e8, 1234.5678, 0x1p30, 0x1p-30}) {
    const Multiplier m(real);
    EXPECT_LE(abs(Rational(m.mantissa()) / (Integer(1) << m.shift()) / Rational(real) - 1),
              Rational(1) / (Integer(1) << 31))
        << real;
    EXPECT_GE(m.mantissa(), 1 << 30) << real;
  }
  EXPECT_EQ(Multiplier()(-5), -5);
  EXPECT_EQ(Multiplier(1e300).mantissa(), INT32_MAX);
  EXPECT_EQ(Multiplier(std::numeric_limits<double>::infinity()).mantissa(), INT32_MAX);
  EXPECT_EQ(Multiplier(0x1p-62)(std::int64_t{1} << 32), 0);
  for (const double real : {0.0, -1.0, 1e-300, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(Multiplier(real)(INT32_MAX), 0) << real;
}

TEST(Multiplier, RoundsHalfAwayFromZero) {
  const Multiplier half(0.5);
  EXPECT_EQ(half(3), 2);
  EXPECT_EQ(half(-3), -2);
  EXPECT_EQ(half(1), 1);
  EXPECT_EQ(half(-1), -1);
  EXPECT_EQ(Multiplier(0.25)(1), 0);
  EXPECT_EQ(Multiplier(0.25)(-2), -1);
}

TEST(Multiplier, LargestSumsDoNotOverflow) {
  const std::int64_t limit = std::int64_t{1} << 32;
  const Multiplier largest(1e300), near_one(0.9999999999);
  EXPECT_EQ(Integer(largest(limit)), Integer(limit) * INT32_MAX);
  EXPECT_EQ(Integer(largest(-limit)), -Integer(limit) * INT32_MAX);
  EXPECT_EQ(Multiplier(1.0)(limit), limit);
  EXPECT_EQ(near_one(-limit), -limit);
}

TEST(QuantisedConv1D, ClampsAndHoldsTheLargestSums) {
  // As many products of -255 * -128 as a sum of 32 bits holds, and the largest bias on top.
  using Conv = Conv1D<Shape<1, 65792, 1>, 1, Window<Kernel<1>>, quantised(127), std::int8_t>;
  static Conv::Input x;
  static Conv::Parameters p;
  for (auto& cell : x) cell = -128;
  for (auto& weight : p.weight) weight = -128;
  p.bias = {{INT32_MAX}};
  p.multiplier.data[0] = Multiplier(0x1p-26);
  Conv::Output y;
  Conv::forward(x, p, y);
  EXPECT_EQ(y.data[0], 127);
  p.multiplier.data[0] = Multiplier(-1.0);
  Conv::forward(x, p, y);
  EXPECT_EQ(y.data[0], 127) << "a factor of 0 leaves the zero point";
  for (auto& weight : p.weight) weight = 127;
  p.bias = {{INT32_MIN}};
  p.multiplier.data[0] = Multiplier(0x1p-25);
  Conv::forward(x, p, y);
  EXPECT_EQ(y.data[0], 127 - 127) << "(255 * 127 * 65792 + 2^31) / 2^25 is 127.499";
}

/// A quantised convolution in training mode, and the one of floats whose gradients it must have.
template <class In, class W, Settings settings>
struct IntegersAndFloats {
  using Quantised = Conv1D<In, 4, W, settings, std::int8_t>;
  using Real = Conv1D<In, 4, W, training>;

  static void expect_equal_gradients() {
    static ConvResults<Quantised> of_int8;
    of_int8.run();
    static ConvResults<Real> real;
    real.run();
    const Index per_channel = Real::OutputShape::extents[2];
    const auto multiplier = [&](Index output) { return of_int8.parameters.multiplier.data[output / per_channel % 4]; };
    for (Index i = 0; i < real.x.size(); ++i)
      real.x.data[i] = static_cast<float>(of_int8.x.data[i] - settings.zero_point);
    for (Index i = 0; i < real.parameters.weight.size(); ++i)
      real.parameters.weight.data[i] = of_int8.parameters.weight.data[i];
    for (Index i = 0; i < real.parameters.bias.size(); ++i)
      real.parameters.bias.data[i] = static_cast<float>(of_int8.parameters.bias.data[i]);
    for (Index i = 0; i < real.gy.size(); ++i) real.gy.data[i] = of_int8.gy.data[i] * multiplier(i).real();
    Real::backward(real.x, real.parameters, real.gy, real.gx, real.gradient);
    EXPECT_EQ(of_int8.gx.size(), real.gx.size());
    EXPECT_TRUE(std::equal(of_int8.gx.begin(), of_int8.gx.end(), real.gx.begin()));
    EXPECT_TRUE(
        std::equal(of_int8.gradient.weight.begin(), of_int8.gradient.weight.end(), real.gradient.weight.begin()));
    EXPECT_TRUE(std::equal(of_int8.gradient.bias.begin(), of_int8.gradient.bias.end(), real.gradient.bias.begin()));
    // What they are the gradients of: the numbers that forward rounds and clamps.
    Real::forward(real.x, real.parameters, real.y);
    for (Index i = 0; i < real.y.size(); ++i) {
      const float before = real.y.data[i] * multiplier(i).real() + static_cast<float>(settings.zero_of_output());
      EXPECT_NEAR(of_int8.y.data[i], std::clamp(before, -128.0F, 127.0F), 0.501F) << i;
    }
  }
};

TEST(QuantisedConv1D, GradientsAreThoseOfTheNumbersThatForwardRounds) {
  IntegersAndFloats<Shape<2, 3, 8>, Window<Kernel<3>, Padding<1>>,
                    with_training(quantised(5, -3))>::expect_equal_gradients();
  IntegersAndFloats<Shape<2, 2, 12>, ConvDilated, with_training(quantised(-128, 127))>::expect_equal_gradients();
}

TEST(Multiplier, IsAFloatToo) {
  for (const double real : {1.0, 0.5, 0.3, 1e-9, 3.7e8, 0x1p-30, 0x1p-62, 0.0, 1e300})
    EXPECT_EQ(Multiplier(real).real(), static_cast<float>(static_cast<double>(Multiplier(real).mantissa()) /
                                                          std::exp2(Multiplier(real).shift())))
        << real;
  EXPECT_EQ(Multiplier().real(), 1);
}

TEST(QuantisedConv1D, LearnsByItsGradients) {
  // One int8 convolution learns to answer as another does, with floats that are rounded before each forward.
  using Conv = Conv1D<Shape<1, 2, 32>, 2, Window<Kernel<3>>, with_training(quantised(3, -5)), std::int8_t>;
  Conv::Input x;
  Conv::Parameters taught, p;
  fill(x.data, x.size(), 1);
  fill(taught.weight.data, taught.weight.size(), 2);
  for (auto* parameters : {&taught, &p})
    for (auto& multiplier : parameters->multiplier) multiplier = Multiplier(1.0 / 400);
  Conv::Output target, y;
  Conv::forward(x, taught, target);
  Conv::ParameterGradient learnt, gradient;
  for (float& weight : learnt.weight) weight = 0;
  for (float& bias : learnt.bias) bias = 0;
  float first = 0, loss = 0;
  for (int step = 0; step < 200; ++step) {
    for (Index i = 0; i < p.weight.size(); ++i)
      p.weight.data[i] = static_cast<std::int8_t>(std::clamp(std::round(learnt.weight.data[i]), -128.0F, 127.0F));
    for (Index i = 0; i < p.bias.size(); ++i)
      p.bias.data[i] = static_cast<std::int32_t>(std::round(learnt.bias.data[i]));
    Conv::forward(x, p, y);
    Conv::OutputGradient gy;
    loss = 0;
    for (Index i = 0; i < y.size(); ++i) {
      gy.data[i] = static_cast<float>(y.data[i] - target.data[i]);
      loss += gy.data[i] * gy.data[i];
    }
    if (step == 0) first = loss;
    Conv::backward_parameters(x, p, gy, gradient);
    for (Index i = 0; i < p.weight.size(); ++i) learnt.weight.data[i] -= 0.3F * gradient.weight.data[i];
    for (Index i = 0; i < p.bias.size(); ++i) learnt.bias.data[i] -= 0.3F * gradient.bias.data[i];
  }
  EXPECT_LT(loss, first / 100) << "after a first loss of " << first;
}

}  // namespace
}  // namespace embedded
