// Lp: values, weights and the cases where a naive formula overflows or divides by zero.
#include "support/sweep.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>

namespace ndpool::testing {

constexpr double infinity = std::numeric_limits<double>::infinity();

Array<double> window(const std::vector<double>& taps) { return {{static_cast<Index>(taps.size())}, taps}; }

Pool norm(double p, Index taps, const LpOptions& options = {}) { return lp_pool(p, {.kernel = {taps}}, options); }

Array<double> weights(const Pool& pool, const Array<double>& x) { return vjp(pool, x, Array<double>({1}, 1.0)); }

TEST(Lp, IsTheNorm) {
  EXPECT_DOUBLE_EQ(forward(norm(2, 2), window({3, -4}))[0], 5);
  EXPECT_DOUBLE_EQ(forward(norm(1, 3), window({3, -4, 1}))[0], 8);
  EXPECT_DOUBLE_EQ(forward(norm(0.5, 2), window({1, -4}))[0], 9);
  EXPECT_DOUBLE_EQ(forward(norm(3, 2), window({2, -2}))[0], 2 * std::cbrt(2.0));
  EXPECT_DOUBLE_EQ(forward(norm(infinity, 3), window({3, -4, 1}))[0], 4);
}

TEST(Lp, WeightsAreSignedShares) {
  EXPECT_DOUBLE_EQ(weights(norm(2, 2), window({3, -4}))[0], 0.6);
  EXPECT_DOUBLE_EQ(weights(norm(2, 2), window({3, -4}))[1], -0.8);
  EXPECT_EQ(weights(norm(1, 3), window({3, -4, 0})), window({1, -1, 0}));
}

TEST(Lp, NeitherOverflowsNorUnderflowsWhereTheAnswerDoesNot) {
  EXPECT_DOUBLE_EQ(forward(norm(2, 2), window({3e200, 4e200}))[0], 5e200);
  EXPECT_DOUBLE_EQ(forward(norm(2, 2), window({3e-200, 4e-200}))[0], 5e-200);
  EXPECT_DOUBLE_EQ(weights(norm(2, 2), window({3e200, 4e200}))[1], 0.8);
  EXPECT_DOUBLE_EQ(forward(norm(1000, 2), window({1, 0.5}))[0], 1);
}

TEST(Lp, AWindowOfZerosHasValueAndGradientZero) {
  for (const double p : {0.5, 1.0, 2.0, 2.3, infinity}) {
    EXPECT_EQ(forward(norm(p, 2), window({0, -0.0}))[0], 0) << p;
    EXPECT_EQ(weights(norm(p, 2), window({0, -0.0})), window({0, 0})) << p;
  }
}

TEST(Lp, InfinitePFollowsTheTiesOfMax) {
  const Array<double> x = window({-3, 1, 3});
  EXPECT_EQ(weights(norm(infinity, 3), x), window({-1, 0, 0}));
  EXPECT_EQ(weights(norm(infinity, 3, {.ties = Ties::all}), x), window({-1, 0, 1}));
  EXPECT_EQ(weights(norm(infinity, 3, {.ties = Ties::split}), x), window({-0.5, 0, 0.5}));
}

TEST(Lp, NanAndInfinityComeThrough) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double p : {1.0, 2.0, 2.3, infinity}) {
    EXPECT_TRUE(std::isnan(forward(norm(p, 3), window({1, nan, 2}))[0])) << p;
    EXPECT_TRUE(std::isnan(forward(norm(p, 3), window({0, 0, nan}))[0])) << p;
    EXPECT_EQ(forward(norm(p, 3), window({1, -infinity, infinity}))[0], infinity) << p;
  }
}

// Lp is the exponential of a smooth max of logarithms with beta = p, and has its error bound there: relative to y it is
// 4 units in the last place, times log(n)/p where that is more than 1.
TEST(Lp, AgreesWithFiftyDigits) {
  using FiftyDigits = boost::multiprecision::cpp_bin_float_50;
  std::mt19937_64 random(seed());
  for (const double p : {0.25, 0.5, 1.0, 1.5, 2.0, 2.3, 10.0})
    for (const Index taps : {1, 2, 9, 100, 1000}) {
      const Array<double> wide = uniform_numbers({taps}, random);
      Array<float> x({taps});
      FiftyDigits sum = 0;
      for (Index i = 0; i < taps; ++i) {
        x[i] = static_cast<float>(wide[i]);
        sum += pow(abs(FiftyDigits(x[i])), FiftyDigits(p));
      }
      const auto exact = pow(sum, 1 / FiftyDigits(p)).convert_to<double>();
      const double condition = std::max(1.0, std::log(static_cast<double>(taps)) / p);
      const double bound = 4 * static_cast<double>(std::numeric_limits<float>::epsilon()) * condition * exact;
      EXPECT_NEAR(static_cast<double>(forward(norm(p, taps), x)[0]), exact, bound) << "p " << p << ", taps " << taps;
    }
}

TEST(Lp, AnEmptyWindowGivesZeroWhenAskedFor) {
  const Window beyond = {.kernel = {2}, .stride = {2}, .padding = {{0, 3}}};
  for (const double p : {2.0, infinity})
    EXPECT_EQ(forward(lp_pool(p, beyond, {.empty = Empty::identity}), window({1, 1}))[1], 0);
}

}  // namespace ndpool::testing
