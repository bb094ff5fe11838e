// Smooth max lies between max and max + log(n)/beta, approaches max, and is accurate where a naive formula overflows.
#include "support/sweep.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace ndpool::testing {

using FiftyDigits = boost::multiprecision::cpp_bin_float_50;

TEST(SmoothMax, LiesBetweenMaxAndMaxPlusLogOfTheWindow) {
  const auto is_wanted = [](const std::string& line) {
    return line.find("smooth-max") != std::string::npos && line.find("beta=-") == std::string::npos;
  };
  const int count = sweep(is_wanted, [](const Problem& problem, std::mt19937_64& random) {
    const Array<double> x = uniform_numbers(problem.shape, random);
    const Geometry geometry = problem.pool.geometry(problem.shape);
    const double beta = 3;
    Array<double> y(geometry.output_shape()), largest(geometry.output_shape());
    spec::forward(geometry, spec::SmoothMax<double>{{beta, PadMode::ignore, Empty::identity}}, x.view(), y.view());
    spec::forward(geometry, spec::Max<double>{{{.empty = Empty::identity}}}, x.view(), largest.view());
    Index output = 0;
    spec::for_each_position(geometry.output_shape(), [&](const Shape& position) {
      const Index taps = spec::WindowAt<max_rank>(geometry, position).counts().real;
      EXPECT_GE(y[output], largest[output]);
      if (taps > 0) {
        EXPECT_LE(y[output], largest[output] + std::log(static_cast<double>(taps)) / beta + 1e-15);
      }
      ++output;
    });
  });
  EXPECT_GE(count, 200);
}

TEST(SmoothMax, ConvergesToMaxAsBetaGrows) {
  std::mt19937_64 random(seed());
  const Array<double> x = distinct_numbers({6, 6}, random);
  const Window window = {.kernel = {3, 3}, .stride = {1, 1}};
  const Array<double> largest = forward(max_pool(window), x);
  double previous = std::numeric_limits<double>::infinity();
  for (const double beta : {1.0, 10.0, 100.0, 1000.0, 10000.0}) {
    const Array<double> y = forward(smooth_max_pool(window, {.beta = beta}).without_kernels(), x);
    double distance = 0;
    for (Index i = 0; i < y.size(); ++i) distance = std::max(distance, std::abs(y[i] - largest[i]));
    EXPECT_LE(distance, std::log(9.0) / beta);
    EXPECT_LE(distance, previous);
    previous = distance;
  }
  EXPECT_LT(previous, 1e-8);
}

/// log(sum exp(beta x)) / beta straight from the formula; 50 digits have exponents enough not to overflow.
FiftyDigits exact_smooth_max(const std::vector<double>& taps, double beta) {
  FiftyDigits sum = 0;
  for (double tap : taps) sum += exp(FiftyDigits(beta) * FiftyDigits(tap));
  return log(sum) / FiftyDigits(beta);
}

template <class T>
class SmoothMaxAccuracy : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SmoothMaxAccuracy, Floats);

TYPED_TEST(SmoothMaxAccuracy, AgreesWithFiftyDigitsUpToProductsOfTenThousand) {
  std::mt19937_64 random(seed());
  std::uniform_real_distribution<double> unit(-1, 1);
  const Index columns = 3;
  for (const double beta : {1.0, -1.0, 0.01, 7.5, -100.0})
    for (const double largest_product : {1e-3, 1.0, 30.0, 1e3, 1e4})
      for (const Index rows : {1, 2, 5, 21})
        for (const Index pad : {0, 1}) {
          SCOPED_TRACE("beta " + std::to_string(beta) + ", beta * x up to " + std::to_string(largest_product) +
                       ", rows " + std::to_string(rows) + ", padding " + std::to_string(pad));
          Array<TypeParam> x({rows, columns});
          std::vector<double> taps(static_cast<std::size_t>(pad * 2 * columns), 0.0);
          double shift = pad > 0 ? 0 : -std::numeric_limits<double>::infinity();
          for (TypeParam& element : x) {
            element = static_cast<TypeParam>(unit(random) * largest_product / beta);
            taps.push_back(static_cast<double>(element));
            shift = std::max(shift, beta * static_cast<double>(element));
          }
          const Window window = {.kernel = {rows + 2 * pad, columns}, .padding = {pad, 0}};
          const double y = static_cast<double>(forward(smooth_max_pool(window, {.beta = beta}), x)[0]);
          const FiftyDigits exact = exact_smooth_max(taps, beta);
          const auto size = static_cast<TypeParam>(std::max(
              {std::abs(y), std::abs(shift / beta), std::log(static_cast<double>(taps.size())) / std::abs(beta)}));
          const TypeParam last_place = std::nextafter(size, std::numeric_limits<TypeParam>::infinity()) - size;
          EXPECT_LE(abs(FiftyDigits(y) - exact), FiftyDigits(4 * last_place));
        }
}

TEST(SmoothMax, RunsOnFiftyDigits) {
  const Array<FiftyDigits> x({2}, std::vector<FiftyDigits>{1, 2});
  const FiftyDigits expected = log(exp(FiftyDigits(1)) + exp(FiftyDigits(2)));
  EXPECT_LT(abs(forward(smooth_max_pool({.kernel = {2}}), x)[0] - expected), FiftyDigits("1e-48"));
}

constexpr double infinity = std::numeric_limits<double>::infinity();

struct InfiniteWindow {
  std::vector<double> taps;
  double beta;
  double value;
  std::vector<double> weights;
};

// In terms of beta * x: all -inf is flat, and +inf splits the weight over its taps.
TEST(SmoothMax, InfinitiesHaveStatedValuesAndWeights) {
  const std::vector<InfiniteWindow> windows = {
      {{-infinity, -infinity}, 1, -infinity, {0, 0}},
      {{infinity, infinity}, -1, infinity, {0, 0}},
      {{1, infinity}, 1, infinity, {0, 1}},
      {{infinity, infinity}, 2, infinity, {0.5, 0.5}},
      {{-infinity, 3}, 1, 3, {0, 1}},
      {{-infinity, 3}, -1, -infinity, {1, 0}},
      {{1e308, -1e308}, 1, 1e308, {1, 0}},
      {{-1e308, 1e308}, -1e5, -1e308, {1, 0}},
      {{1.5e308, 1.5e308}, 1, 1.5e308, {0.5, 0.5}},
  };
  for (const InfiniteWindow& window : windows) {
    const Array<double> x({2}, window.taps), ones({1}, 1.0);
    const Pool pool = smooth_max_pool({.kernel = {2}}, {.beta = window.beta});
    EXPECT_EQ(forward(pool, x)[0], window.value) << x;
    EXPECT_EQ(vjp(pool, x, ones), Array<double>({2}, window.weights)) << x;
  }
}

TEST(SmoothMax, ADifferenceThatOverflowsIsScaledFirst) {
  const Array<double> x({2}, std::vector<double>{-1.7e308, 1e308});
  const double exact = 1e308 + std::log1p(std::exp(-2.7)) * 1e308;
  EXPECT_NEAR(forward(smooth_max_pool({.kernel = {2}}, {.beta = 1e-308}), x)[0] / exact, 1, 1e-14);
}

TEST(SmoothMax, PaddedZerosAreCountedInTheWindowAndNotAxisByAxis) {
  // A 2x2 window on the corner cell of a padded 1x1 array: one real tap and three zeros.
  const Array<double> x({1, 1}, 1.0);
  const Window corner = {.kernel = {2, 2}, .padding = {{1, 0}, {1, 0}}};
  EXPECT_DOUBLE_EQ(forward(smooth_max_pool(corner), x)[0], std::log(std::exp(1.0) + 3));
  EXPECT_DOUBLE_EQ(vjp(smooth_max_pool(corner), x, Array<double>({1, 1}, 1.0))[0], std::exp(1.0) / (std::exp(1.0) + 3));
  EXPECT_DOUBLE_EQ(forward(smooth_max_pool(corner, {.pad_mode = PadMode::ignore}), x)[0], 1.0);
}

TEST(SmoothMax, EmptyWindowWithIgnoredPaddingGivesTheInfinityThatLoses) {
  const Array<double> x({2}, 1.0);
  const Window beyond = {.kernel = {2}, .stride = {2}, .padding = {{0, 3}}};
  for (const double beta : {1.0, -1.0}) {
    const Pool pool = smooth_max_pool(beyond, {.beta = beta, .pad_mode = PadMode::ignore, .empty = Empty::identity});
    EXPECT_EQ(forward(pool, x)[1], beta > 0 ? -infinity : infinity);
    EXPECT_EQ(vjp(pool, x, Array<double>({2}, std::vector<double>{0, 1})), Array<double>({2}, 0.0));
  }
}

}  // namespace ndpool::testing
