// Beta of smooth max: it has the type that the scalar is summed in, and a derivative.
#include "support/sweep.hpp"

#include <ndpool/typed.hpp>

#include <boost/math/differentiation/autodiff.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

namespace ndpool::testing {

using Dual = boost::math::differentiation::autodiff_fvar<double, 1>;
using FiftyDigits = boost::multiprecision::cpp_bin_float_50;

template <class T>
using BetaOf = std::remove_cvref_t<decltype(spec::SmoothMax<T>{}.options.beta.value)>;
static_assert(std::same_as<BetaOf<double>, double> && std::same_as<BetaOf<float>, float>);
static_assert(std::same_as<BetaOf<f16>, float> && std::same_as<BetaOf<bf16>, float>);
static_assert(std::same_as<BetaOf<Dual>, Dual> && std::same_as<BetaOf<FiftyDigits>, FiftyDigits>);

template <class T>
spec::SmoothMax<T> smooth_max(const typename spec::SmoothMax<T>::Options& options) {
  return {options};
}

template <class T>
Array<T> smooth_max_of(const Geometry& geometry, const spec::SmoothMax<T>& reducer, const Array<T>& x) {
  Array<T> y(geometry.output_shape());
  spec::forward(geometry, reducer, x.view(), y.view());
  return y;
}

TEST(SmoothMaxBeta, ADoubleConvertsToTheTypeOfEveryScalar) {
  const double beta = 0.1;
  EXPECT_EQ(smooth_max<float>({.beta = beta}).options.beta, 0.1F);
  EXPECT_EQ(smooth_max<f16>({beta, PadMode::ignore, Empty::identity}).options.beta, 0.1F);
  EXPECT_EQ(smooth_max<FiftyDigits>({.beta = beta}).options.beta.value, FiftyDigits(0.1));
  const spec::SmoothMax<float> from_options{SmoothMaxOptions{.beta = beta, .pad_mode = PadMode::ignore}};
  EXPECT_EQ(from_options.options.beta, 0.1F);
  EXPECT_EQ(from_options.options.pad_mode, PadMode::ignore);
}

TEST(SmoothMaxBeta, AnExactScalarKeepsAllDigits) {
  const FiftyDigits tenth = FiftyDigits(1) / 10;
  const Array<FiftyDigits> x({2}, std::vector<FiftyDigits>{1, 2});
  const Geometry geometry = spec::make_geometry(Window{.kernel = {2}}, x.shape());
  const FiftyDigits y = smooth_max_of(geometry, smooth_max<FiftyDigits>({.beta = tenth}), x)[0];
  const FiftyDigits expected = log(exp(tenth) + exp(2 * tenth)) / tenth;
  EXPECT_LT(abs(y - expected), FiftyDigits("1e-47"));
}

TEST(SmoothMaxBeta, OfADualNumberHasADerivative) {
  // y = log(e^b + e^(2b)) / b, so dy/db at 1 is (e + 2 e^2) / (e + e^2) - log(e + e^2).
  const Dual beta = boost::math::differentiation::make_fvar<double, 1>(1.0);
  const Array<Dual> x({2}, std::vector<Dual>{1.0, 2.0});
  const Geometry geometry = spec::make_geometry(Window{.kernel = {2}}, x.shape());
  const Dual y = smooth_max_of(geometry, smooth_max<Dual>({.beta = beta}), x)[0];
  const double e = std::exp(1.0);
  EXPECT_NEAR(y.derivative(1), (e + 2 * e * e) / (e + e * e) - std::log(e + e * e), 1e-14);
  const typed::Tensor<Dual, typed::Shape<2>> tensor{{1.0, 2.0}};
  const auto typed_y = typed::smooth_max_pool<typed::Window<typed::Kernel<2>>>(tensor, {{.beta = beta}});
  EXPECT_EQ(typed_y(0).derivative(1), y.derivative(1));
}

TEST(SmoothMaxBeta, UnusableInTheScalarIsReportedAsGiven) {
  const Array<float> x({2});
  for (const auto& [beta, sentence] : {std::pair{1e39, "beta 1e+39 must be finite"}, {1e-60, "beta 1e-60 must be"}})
    try {
      forward(smooth_max_pool({.kernel = {2}}, {.beta = beta}), x);
      ADD_FAILURE() << beta;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(sentence), std::string::npos) << error.what();
    }
  EXPECT_EQ(smooth_max<float>({.beta = -1e39}).fault().real, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(smooth_max<float>({.beta = std::nan("")}).fault().real));
}

template <class T>
Array<T> beta_derivative(const Pool& pool, const Array<T>& x) {
  Array<T> dy(pool.output_shape(x.shape()), T(7));  // what is not overwritten shows
  EXPECT_TRUE(pool.beta_derivative(x.view(), dy.view()));
  return dy;
}

bool is_smooth_max(const std::string& line) { return line.find("smooth-max") != std::string::npos; }

TEST(BetaDerivative, EqualsThatOfDualNumbersOnEveryGeometry) {
  const int count = sweep(is_smooth_max, [](const Problem& problem, std::mt19937_64& random) {
    const SmoothMaxOptions options = std::get<reduction::SmoothMax>(problem.pool.reduction()).options;
    const Array<double> x = uniform_numbers(problem.shape, random);
    Array<Dual> duals(x.shape());
    for (Index i = 0; i < x.size(); ++i) duals[i] = x[i];
    spec::SmoothMax<Dual> reducer{options};
    reducer.options.beta = boost::math::differentiation::make_fvar<double, 1>(options.beta);
    const Array<Dual> y = smooth_max_of(problem.pool.geometry(problem.shape), reducer, duals);
    const Array<double> dy = beta_derivative(problem.pool, x);
    for (Index i = 0; i < dy.size(); ++i)
      EXPECT_NEAR(dy[i], y[i].derivative(1), 1e-13 * (1 + 1 / (options.beta * options.beta))) << "output " << i;
  });
  EXPECT_GE(count, 200);
}

/// By central differences of the definition in fifty digits, whose error is far below that of a double.
double difference_quotient(const std::vector<double>& taps, double beta) {
  const auto value = [&](const FiftyDigits& at) -> FiftyDigits {
    FiftyDigits sum = 0;
    for (const double tap : taps) sum += exp(at * FiftyDigits(tap));
    return log(sum) / at;
  };
  const FiftyDigits step = abs(FiftyDigits(beta)) * FiftyDigits("1e-14");
  const FiftyDigits slope = (value(FiftyDigits(beta) + step) - value(FiftyDigits(beta) - step)) / (2 * step);
  return static_cast<double>(slope);
}

template <class T>
class BetaDerivativeAccuracy : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BetaDerivativeAccuracy, Floats);

TYPED_TEST(BetaDerivativeAccuracy, AgreesWithFiftyDigitsUpToProductsOfTenThousand) {
  std::mt19937_64 random(seed());
  std::uniform_real_distribution<double> unit(-1, 1);
  for (const double beta : {1.0, -1.0, 0.25, 7.5, -100.0})
    for (const double largest_product : {1e-3, 1.0, 30.0, 1e3, 1e4})
      for (const Index count : {2, 5, 63})
        for (const Index pad : {0, 2}) {
          SCOPED_TRACE("beta " + std::to_string(beta) + ", beta * x up to " + std::to_string(largest_product) +
                       ", taps " + std::to_string(count) + ", padding " + std::to_string(pad));
          Array<TypeParam> x({count});
          std::vector<double> taps(static_cast<std::size_t>(2 * pad), 0.0);
          for (TypeParam& element : x) {
            element = static_cast<TypeParam>(unit(random) * largest_product / beta);
            taps.push_back(static_cast<double>(element));
          }
          const Window window = {.kernel = {count + 2 * pad}, .padding = {pad}};
          const TypeParam dy = beta_derivative(smooth_max_pool(window, {.beta = beta}), x)[0];
          const double largest = std::log(static_cast<double>(taps.size())) / (beta * beta);
          EXPECT_LE(std::abs(static_cast<double>(dy) - difference_quotient(taps, beta)),
                    8 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon()) * largest);
        }
}

TEST(BetaDerivative, HasExactValuesWhereTheEntropyIsKnown) {
  const auto of = [](const std::vector<double>& taps, const SmoothMaxOptions& options, Pad pad = 0) {
    const auto length = static_cast<Index>(taps.size());
    const Window window = {.kernel = {length + pad.lo + pad.hi}, .padding = {pad}};
    return beta_derivative(smooth_max_pool(window, options), Array<double>({length}, taps))[0];
  };
  EXPECT_EQ(of({5}, {.beta = 3}), 0);                                   // y = x, whatever beta is
  EXPECT_DOUBLE_EQ(of({5, 5, 5, 5}, {.beta = 2}), -std::log(4.0) / 4);  // y = 5 + log(4) / beta
  EXPECT_DOUBLE_EQ(of({-7, -7}, {.beta = -0.5}), -std::log(2.0) / 0.25);
  EXPECT_DOUBLE_EQ(of({0}, {.beta = 2}, 1), -std::log(3.0) / 4);  // padding: three zeros
  EXPECT_EQ(of({0}, {.beta = 2, .pad_mode = PadMode::ignore}, 1), 0);
  EXPECT_DOUBLE_EQ(of({1e300, 1e300}, {.beta = 1}), -std::log(2.0));  // large, and nothing cancels
  EXPECT_EQ(of({1e300, -1e300}, {.beta = 1}), 0);
  EXPECT_EQ(of({1.7e308, -1.7e308}, {.beta = 1e-308}), -std::numeric_limits<double>::infinity());  // about -1e615
  EXPECT_DOUBLE_EQ(of({0, 0}, {.beta = 1e-150}), -std::log(2.0) / 1e-300);  // beta * beta alone would do
  EXPECT_EQ(of({0, 0}, {.beta = 1e200}), 0);
}

TEST(BetaDerivative, OfInfinitiesIsTheLimitOfLargeNumbers) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto of = [](const std::vector<double>& taps, double beta) {
    const Array<double> x({static_cast<Index>(taps.size())}, taps);
    return beta_derivative(smooth_max_pool({.kernel = {x.size()}}, {.beta = beta}), x)[0];
  };
  EXPECT_EQ(of({1, infinity}, 2), 0);
  EXPECT_DOUBLE_EQ(of({infinity, 3, infinity}, 2), -std::log(2.0) / 4);
  EXPECT_DOUBLE_EQ(of({-infinity, -infinity}, -2), -std::log(2.0) / 4);
  EXPECT_DOUBLE_EQ(of({-infinity, 3, 3}, 1), -std::log(2.0));
  EXPECT_EQ(of({-infinity, -infinity}, 1), 0);  // flat, as the weights are
  EXPECT_EQ(of({infinity, infinity}, -1), 0);
  EXPECT_TRUE(std::isnan(of({1, std::nan(""), 2}, 1)));
}

TEST(BetaDerivative, OfAWindowWithoutACell) {
  const Array<double> x({2}, 1.0);
  const Window beyond = {.kernel = {2}, .stride = {2}, .padding = {{0, 3}}};
  const Array<double> of_zeros = beta_derivative(smooth_max_pool(beyond, {.beta = 2}), x);
  EXPECT_DOUBLE_EQ(of_zeros[1], -std::log(2.0) / 4);  // y = log(2) / beta
  const SmoothMaxOptions ignored{.pad_mode = PadMode::ignore, .empty = Empty::identity};
  EXPECT_EQ(beta_derivative(smooth_max_pool(beyond, ignored), x)[1], 0);
}

TEST(BetaDerivative, IsRoundedOnceForShortFloats) {
  const Array<f16> x({3}, std::vector<f16>{f16(1), f16(2), f16(0.5F)});
  const Array<float> wide({3}, std::vector<float>{1, 2, 0.5F});
  const Pool pool = global_smooth_max_pool({}, {.beta = 1.5});
  EXPECT_EQ(beta_derivative(pool, x)[0], f16(beta_derivative(pool, wide)[0]));
}

TEST(BetaDerivative, OfTypedPoolsHasTheSameBits) {
  const typed::Tensor<float, typed::Shape<2, 3, 3>> x{{1, 5, 2, 4, 4, 4, 0, 9, 8, 1, 1, 1, 3, -2, 7, 6, 5, 4}};
  const auto dy = typed::smooth_max_pool<typed::Window<typed::Kernel<2, 2>, typed::Stride<1, 1>>>.beta_derivative(
      x, {{.beta = 0.5}});
  Array<float> expected({2, 2, 2});
  smooth_max_pool({.kernel = {2, 2}, .stride = {1, 1}}, {.beta = 0.5})
      .beta_derivative(View<const float>(x.data, {2, 3, 3}), expected.view());
  for (Index i = 0; i < expected.size(); ++i) EXPECT_EQ(dy.data[i], expected[i]);
  EXPECT_EQ((typed::global_smooth_max_pool<2>.beta_derivative(x)).size(), 2);
}

TEST(BetaDerivative, CanBeStopped) {
  const Array<float> x({64, 1024}, 1.0F);
  Array<float> dy({1024});
  const ProgressCallback never{[](void*, double) { return false; }, nullptr};
  EXPECT_FALSE(global_smooth_max_pool({.axes = {0}}).beta_derivative(x.view(), dy.view(), never));
}

}  // namespace ndpool::testing
