// Max and min: NaN policies, ties and their derivatives, infinities.
#include "support/sweep.hpp"

namespace ndpool::testing {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Array<float> window(const std::vector<float>& taps) { return {{static_cast<Index>(taps.size())}, taps}; }

Pool max_of(Index taps, const ExtremeOptions& options = {}) { return max_pool({.kernel = {taps}}, options); }
Pool min_of(Index taps, const ExtremeOptions& options = {}) { return min_pool({.kernel = {taps}}, options); }

/// The gradient of the only output of a pool over one window.
Array<float> weights(const Pool& pool, const Array<float>& x) { return vjp(pool, x, Array<float>({1}, 1.0F)); }

TEST(Extreme, NanBeatsEverythingAndTheFirstOneWins) {
  const Array<float> x = window({1, nan, infinity, nan});
  for (const Pool& pool : {max_of(4), min_of(4)}) {
    EXPECT_TRUE(std::isnan(forward(pool, x)[0]));
    EXPECT_EQ(indices(pool, x)[0], 1);
    EXPECT_EQ(weights(pool, x), window({0, 1, 0, 0}));
  }
}

TEST(Extreme, IgnoredNanIsAbsent) {
  const Array<float> x = window({nan, 2, nan, 5, 2});
  EXPECT_EQ(forward(max_of(5, {.nan = Nan::ignore}), x)[0], 5);
  EXPECT_EQ(indices(max_of(5, {.nan = Nan::ignore}), x)[0], 3);
  EXPECT_EQ(indices(min_of(5, {.nan = Nan::ignore}), x)[0], 1);
  EXPECT_EQ(weights(min_of(5, {.ties = Ties::all, .nan = Nan::ignore}), x), window({0, 1, 0, 0, 1}));
}

TEST(Extreme, IgnoredNanIsTheResultWhereThereIsNothingElse) {
  const Array<float> x = window({nan, nan});
  const Pool pool = max_of(2, {.nan = Nan::ignore});
  EXPECT_TRUE(std::isnan(forward(pool, x)[0]));
  EXPECT_EQ(indices(pool, x)[0], 0);
}

TEST(Extreme, TheExtremesOfAWindowWithNanAreItsNans) {
  const Array<float> x = window({3, nan, 3, nan});
  EXPECT_EQ(weights(max_of(4, {.ties = Ties::all}), x), window({0, 1, 0, 1}));
  EXPECT_EQ(weights(max_of(4, {.ties = Ties::split}), x), window({0, 0.5F, 0, 0.5F}));
}

TEST(Extreme, ZerosOfBothSignsTie) {
  const Array<float> x = window({-0.0F, 0.0F});
  EXPECT_EQ(indices(max_of(2), x)[0], 0);
  EXPECT_EQ(indices(min_of(2), x)[0], 0);
  EXPECT_EQ(weights(max_of(2, {.ties = Ties::split}), x), window({0.5F, 0.5F}));
}

TEST(Extreme, AWindowOfNothingButInfinitiesHasAWinner) {
  const Array<float> x = window({-infinity, -infinity});
  EXPECT_EQ(forward(max_of(2), x)[0], -infinity);
  EXPECT_EQ(indices(max_of(2), x)[0], 0);
}

TEST(Extreme, TheDerivativeDoesNotLookAtLosers) {
  const Array<float> x = window({1, 5, 2}), dx = window({infinity, 7, nan});
  EXPECT_EQ(jvp(max_of(3), x, dx)[0], 7);
}

TEST(Extreme, OverlappingWindowsAddTheirGradients) {
  const Array<float> x = window({1, 9, 1});
  const Pool pool = max_pool({.kernel = {2}, .stride = {1}});
  EXPECT_EQ(vjp(pool, x, window({3, 4})), window({0, 7, 0}));
}

TEST(Extreme, CellsThatNoWindowSeesGetZero) {
  Array<float> gx = window({8, 8, 8, 8, 8});
  const Array<float> x = window({1, 2, 3, 4, 5}), gy = window({1, 1});
  max_of(2).vjp(x.view(), gy.view(), gx.view());
  EXPECT_EQ(gx, window({0, 1, 0, 1, 0}));
}

TEST(Extreme, GlobalPoolsGiveTheirGradientToEveryExtremeUnlessToldOtherwise) {
  const Array<float> x = window({2, 5, 5}), one({}, 1.0F);
  const auto gradient = [&](const Pool& pool) { return vjp(pool, x, one); };
  EXPECT_EQ(gradient(global_max_pool({})), window({0, 1, 1}));
  EXPECT_EQ(gradient(global_max_pool({}, {.ties = Ties::first})), window({0, 1, 0}));
  EXPECT_EQ(gradient(global_max_pool({}, {.ties = Ties::split})), window({0, 0.5F, 0.5F}));
  EXPECT_EQ(gradient(global_lp_pool(infinity, {})), window({0, 1, 1}));
  EXPECT_EQ((typed::global_max_pool<1, true>.vjp(typed::Tensor<float, typed::Shape<3>>{{2, 5, 5}},
                                                 typed::Tensor<float, typed::Shape<1>>{{1}})),
            (typed::Tensor<float, typed::Shape<3>>{{0, 1, 1}}));
}

TEST(Extreme, OtherOptionsLeaveTheTiesOfGlobalPoolsAsTheyAre) {
  constexpr typed::Tensor<float, typed::Shape<3>> x{{2, 5, 5}};
  constexpr typed::Tensor<float, typed::Shape<1>> one{{1}};
  static_assert(typed::global_max_pool<1, true>.vjp(x, one, {.nan = Nan::ignore})(1) == 1);
  static_assert(typed::global_max_pool<1, true>.vjp(x, one, {.nan = Nan::ignore})(2) == 1);
  EXPECT_EQ(vjp(global_max_pool({}, {.nan = Nan::ignore}), window({2, 5, 5}), Array<float>({}, 1.0F)),
            window({0, 1, 1}));
  EXPECT_EQ((typed::global_lp_pool<1, true>(x, {.p = 1})(0)), 12);
}

TEST(Extreme, MinIsMaxOfTheNegatedArray) {
  const int count = sweep(
      [](const std::string& line) { return line.find("max") != std::string::npos && !is_transcendental(line); },
      [](const Problem& problem, std::mt19937_64& random) {
        const Geometry geometry = problem.pool.geometry(problem.shape);
        Array<double> x = uniform_numbers(problem.shape, random), negated = x;
        Array<double> largest(geometry.output_shape()), smallest(geometry.output_shape());
        Array<Index> largest_at(geometry.output_shape()), smallest_at(geometry.output_shape());
        const ExtremeOptions options = {.empty = Empty::identity};
        spec::forward(geometry, spec::Max<double>{{options}}, x.view(), largest.view(), largest_at.view());
        for (double& value : negated) value = -value;
        spec::forward(geometry, spec::Min<double>{{options}}, negated.view(), smallest.view(), smallest_at.view());
        for (double& value : smallest) value = -value;
        EXPECT_EQ(largest, smallest);
        EXPECT_EQ(largest_at, smallest_at);
      });
  EXPECT_GE(count, 300);
}

}  // namespace ndpool::testing
