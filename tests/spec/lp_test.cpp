// Lp: values, weights and the cases where a naive formula overflows or divides by zero.
#include "support/sweep.hpp"

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

TEST(Lp, AnEmptyWindowGivesZeroWhenAskedFor) {
  const Window beyond = {.kernel = {2}, .stride = {2}, .padding = {{0, 3}}};
  for (const double p : {2.0, infinity})
    EXPECT_EQ(forward(lp_pool(p, beyond, {.empty = Empty::identity}), window({1, 1}))[1], 0);
}

}  // namespace ndpool::testing
