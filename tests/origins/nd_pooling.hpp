// Rows of docs/origins.md: TorchLean: N-D pooling.
#pragma once

#include "origins/support.hpp"

namespace ndpool {
namespace {

TEST(Origins, AnySpatialRank) {
  expect(forward(max_pool({.kernel = {3}}), arange<double>({6})), {{2}, {2, 5}});
  expect(forward(max_pool({.kernel = {2, 1, 2, 1, 2}}), arange<double>({2, 1, 2, 1, 2})), Doubles({1, 1, 1, 1, 1}, 7));
}
TEST(Origins, ChannelsFirstInput) {
  expect(max_pool(squares).output_shape({3, 4, 6}), {3, 2, 3});
  expect(max_pool({.kernel = {2, 2}, .axes = {0, 1}}).output_shape({4, 6, 3}), {2, 3, 3});
}
TEST(Origins, ChannelsAreIndependent) {
  expect(typed::max_pool<Squares>(Tensor<2, 2, 2>{{1, 2, 3, 4, -1, -2, -3, -4}}), Tensor<2, 1, 1>{{4, -1}});
}
TEST(Origins, PerAxisVectors) {
  using Description = typed::Window<typed::Kernel<2, 3>, typed::Stride<1, 2>, typed::Padding<1, 0>>;
  expect_shape<Description, typed::Shape<4, 7>, typed::Shape<5, 3>>(
      max_pool({.kernel = {2, 3}, .stride = {1, 2}, .padding = {1, 0}}));
}
TEST(Origins, SymmetricZeroPadding) {
  expect(typed::avg_pool<PaddedPairs>(Tensor<2>{{4, 8}}), Tensor<2>{{2, 4}});
  expect(typed::sum_pool<typed::Window<typed::Kernel<2>, typed::Pads<1, 1>>>(Tensor<2>{{4, 8}}), Tensor<2>{{4, 8}});
}
TEST(Origins, MaxPoolOfEveryRank) {
  expect(typed::max_pool<Pairs>(Tensor<4>{{1, 5, 2, 3}}), Tensor<2>{{5, 3}});
  expect(typed::max_pool<Squares>(Tensor<2, 2>{{1, 5, 2, 3}}), Tensor<1, 1>{{5}});
  expect(forward(max_pool({.kernel = {2, 2, 2}}), arange<double>({2, 2, 4})), {{1, 1, 2}, {13, 15}});
}
TEST(Origins, AveragePoolOfEveryRank) {
  expect(typed::avg_pool<Pairs>(Tensor<4>{{1, 5, 2, 6}}), Tensor<2>{{3, 4}});
  expect(typed::avg_pool<Squares>(Tensor<2, 2>{{1, 5, 2, 6}}), Tensor<1, 1>{{3.5}});
  expect(forward(avg_pool({.kernel = {2, 2, 2}}), arange<double>({2, 2, 4})), {{1, 1, 2}, {6.5, 8.5}});
}
TEST(Origins, MaxConfiguration) {
  using Description = typed::Window<typed::Kernel<3, 2, 2>, typed::Stride<1, 2, 2>, typed::Padding<1, 0, 1>>;
  expect_shape<Description, typed::Shape<5, 6, 7>, typed::Shape<5, 3, 4>>(
      max_pool({.kernel = {3, 2, 2}, .stride = {1, 2, 2}, .padding = {1, 0, 1}}));
}
TEST(Origins, MaxKernelPerAxis) {
  expect(forward(max_pool({.kernel = {1, 4}}), hills_array), {{4, 1}, {9, 5, 7, 6}});
  expect(forward(max_pool({.kernel = {4, 1}}), hills_array), {{1, 4}, {5, 7, 6, 9}});
}
TEST(Origins, MaxStridePerAxis) {
  expect(forward(max_pool({.kernel = {1, 1}, .stride = {2, 3}}), hills_array), {{2, 2}, {1, 9, 0, 6}});
}
TEST(Origins, MaxPaddingPerAxis) {
  const Pool pool = max_pool({.kernel = {1, 2}, .stride = {1, 1}, .padding = {0, 1}});
  expect(forward(pool, Doubles({2, 2}, {-1, -2, -3, -4})), {{2, 3}, {-1, -1, -2, -3, -3, -4}});
}
TEST(Origins, AverageConfiguration) {
  using Description = typed::Window<typed::Kernel<2, 3>, typed::Stride<2, 1>, typed::Padding<1, 1>>;
  expect_shape<Description, typed::Shape<6, 3>, typed::Shape<4, 3>>(
      avg_pool({.kernel = {2, 3}, .stride = {2, 1}, .padding = {1, 1}}));
}
TEST(Origins, AverageKernelPerAxis) {
  expect(forward(avg_pool({.kernel = {1, 4}}), hills_array), {{4, 1}, {3.75, 2.75, 4.75, 4.25}});
}
TEST(Origins, AverageStridePerAxis) {
  expect(forward(avg_pool({.kernel = {2, 2}, .stride = {2, 1}}), hills_array),
         {{2, 3}, {3, 2.25, 3.5, 3.25, 5.75, 5.75}});
}
TEST(Origins, AveragePaddingPerAxis) {
  expect(forward(avg_pool({.kernel = {2, 2}, .padding = {1, 0}}), Doubles({2, 2}, {1, 3, 5, 7})), {{2, 1}, {1, 3}});
}
TEST(Origins, OutputShapes) {
  using Description = typed::Window<typed::Kernel<3>, typed::Stride<2>, typed::Padding<1>>;
  expect_shape<Description, typed::Shape<8>, typed::Shape<4>>(avg_pool({.kernel = {3}, .stride = {2}, .padding = {1}}));
}
TEST(Origins, AverageLookupReadsZero) {
  expect(typed::avg_pool<PaddedPairs>(Tensor<2>{{6, -2}}), Tensor<2>{{3, -1}});
  expect(typed::smooth_max_pool<PaddedPairs>(Tensor<2>{{log3, 0}}), Tensor<2>{{log4, log2}});
}
TEST(Origins, PaddedCellsAreCounted) {
  const Doubles x({2}, {6, 2});
  expect(forward(avg_pool(padded_pairs), x), {{2}, {3, 1}});
  expect(forward(avg_pool(padded_pairs, {.count_include_pad = false}), x), {{2}, {6, 2}});
}
TEST(Origins, MaxLookupIgnoresPadding) {
  expect(typed::max_pool<PaddedPairs>(Tensor<2>{{-3, -1}}), Tensor<2>{{-3, -1}});
}
TEST(Origins, PaddingIsMinusInfinityToMax) {
  const Doubles x({2}, {minus_infinity, 5});
  expect(forward(max_pool(padded_pairs), x), {{2}, {minus_infinity, 5}});
  expect(indices(max_pool(padded_pairs), x), {{2}, {0, 1}});
}
struct Grade {
  int points = 0;
  friend auto operator<=>(const Grade&, const Grade&) = default;
};
TEST(Origins, MaxOfAScalarWithoutInfinity) {
  const auto best = typed::max_pool<PaddedPairs>(typed::Tensor<Grade, typed::Shape<3>>{{{-7}, {-9}, {-8}}});
  EXPECT_EQ(best(0).points, -7);
  EXPECT_EQ(best(1).points, -8);
}
TEST(Origins, MaxDerivativeOfOneWindow) {
  const Tensor<2, 2, 2> x{{1, 2, 3, 4, 9, 6, 7, 8}}, dx{{10, 20, 30, 40, 50, 60, 70, 80}};
  expect(typed::max_pool<Cubes>.jvp(x, dx), Tensor<1, 1, 1>{{50}});
}
TEST(Origins, MaxDerivativeFollowsTheWinner) {
  const Doubles x({4}, {4, 1, 2, 3});
  expect(indices(max_pool(pairs), x), {{2}, {0, 3}});
  expect(jvp(max_pool(pairs), x, Doubles({4}, {10, 20, 30, 40})), {{2}, {10, 40}});
}
TEST(Origins, TiesKeepTheFirstWinner) {
  const Tensor<2, 2> x{{6, 7, 7, 7}};
  expect(typed::max_pool<Squares>.jvp(x, Tensor<2, 2>{{1, 2, 3, 4}}), Tensor<1, 1>{{2}});
  expect(typed::max_pool<Squares>.vjp(x, Tensor<1, 1>{{5}}), Tensor<2, 2>{{0, 5, 0, 0}});
  EXPECT_EQ(typed::max_pool<Squares>.indices(x)(0, 0), 1);
}
TEST(Origins, SmoothDerivativeOfOneWindow) {
  const Tensor<2, 2> x{{0, log3, 0, log3}}, dx{{8, 8, 16, 0}};
  expect(typed::smooth_max_pool<Squares>.jvp(x, dx), Tensor<1, 1>{{6}});
}
TEST(Origins, SmoothDerivativeIsSoftmaxWeighted) {
  const Tensor<2> x{{0, log3 / 2}}, dx{{4, 8}};
  expect(typed::smooth_max_pool<Pairs>(x, {{.beta = 2}}), Tensor<1>{{log4 / 2}});
  expect(typed::smooth_max_pool<Pairs>.jvp(x, dx, {{.beta = 2}}), Tensor<1>{{7}});
}
TEST(Origins, SmoothDerivativeWithPadding) {
  expect(jvp(smooth_max_pool(padded_pairs), Doubles({2}, {log3, 0}), Doubles({2}, {4, 10})), {{2}, {3, 5}});
}
TEST(Origins, MaxPoolSpatial) { expect(typed::max_pool<Squares>(hills), Tensor<2, 2>{{5, 9, 7, 6}}); }
TEST(Origins, MaxPoolSpatialJvp) { expect(typed::max_pool<Squares>.jvp(hills, ramp), Tensor<2, 2>{{4, 3, 9, 10}}); }
TEST(Origins, MaxPoolSpatialJvpTies) {
  expect(jvp(max_pool(sliding_pairs), Doubles({3}, 3), Doubles({3}, {1, 10, 100})), {{2}, {1, 10}});
}
TEST(Origins, MaxJvpAndVjpTiesAgree) {
  const Doubles x({3}, 5), dx({3}, {1, 2, 3}), gy({2}, {10, 20}), gx = vjp(max_pool(sliding_pairs), x, gy);
  expect(gx, {{3}, {10, 20, 0}});
  EXPECT_EQ(inner(gx, dx), 50);
  EXPECT_EQ(inner(gy, jvp(max_pool(sliding_pairs), x, dx)), 50);
}
TEST(Origins, AveragePoolSpatial) {
  expect(typed::avg_pool<SlidingSquares>(Tensor<2, 3>{{1, 2, 3, 4, 5, 6}}), Tensor<1, 2>{{3, 4}});
}
TEST(Origins, BackwardIsTheAdjoint) {
  const Doubles x({3}, {1, 4, 2}), dx({3}, {2, 4, 8}), gy({2}, {10, 100});
  EXPECT_EQ(inner(gy, jvp(avg_pool(sliding_pairs), x, dx)), 630);
  EXPECT_EQ(inner(vjp(avg_pool(sliding_pairs), x, gy), dx), 630);
  EXPECT_EQ(inner(gy, jvp(max_pool(sliding_pairs), x, dx)), 440);
  EXPECT_EQ(inner(vjp(max_pool(sliding_pairs), x, gy), dx), 440);
}
TEST(Origins, MaxBackwardTies) {
  const Doubles x({2, 4}, {1, 6, 6, 6, 6, 6, 2, 6});
  expect(vjp(max_pool(squares), x, Doubles({1, 2}, {3, 4})), {{2, 4}, {0, 3, 4, 0, 0, 0, 0, 0}});
}
TEST(Origins, MaxBackwardPadding) {
  expect(typed::max_pool<PaddedPairs>.vjp(Tensor<2>{{-5, -7}}, Tensor<2>{{1, 2}}), Tensor<2>{{1, 2}});
}
TEST(Origins, AverageBackwardFullWindow) {
  expect(typed::avg_pool<PaddedPairs>.vjp(Tensor<2>{{1, 1}}, Tensor<2>{{4, 8}}), Tensor<2>{{2, 4}});
}
TEST(Origins, MaxPoolSpatialVjp) {
  expect(typed::max_pool<Squares>.vjp(hills, Tensor<2, 2>{{1, 2, 3, 4}}),
         Tensor<4, 4>{{0, 0, 0, 2, 1, 0, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0}});
}
TEST(Origins, MaxPoolSpatialVjpArgmax) {
  const Doubles x({3, 3}, {0, 0, 0, 0, 9, 0, 0, 0, 0});
  expect(vjp(max_pool(sliding_squares), x, Doubles({2, 2}, {1, 2, 3, 4})), {{3, 3}, {0, 0, 0, 0, 10, 0, 0, 0, 0}});
}
TEST(Origins, AveragePoolSpatialVjp) {
  expect(typed::avg_pool<Squares>.vjp(Tensor<2, 4>{}, Tensor<1, 2>{{4, 8}}), Tensor<2, 4>{{1, 1, 2, 2, 1, 1, 2, 2}});
}
TEST(Origins, AveragePoolSpatialVjpEven) {
  expect(typed::avg_pool<SlidingPairs>.vjp(Tensor<3>{}, Tensor<2>{{2, 4}}), Tensor<3>{{1, 3, 2}});
}
constexpr Tensor<2, 4> two_channels{{1, 2, 4, 3, 8, 5, 6, 7}};
TEST(Origins, MaxPoolChannels) { expect(typed::max_pool<Pairs>(two_channels), Tensor<2, 2>{{2, 4, 8, 7}}); }
TEST(Origins, MaxPoolChannelsJvp) {
  expect(typed::max_pool<Pairs>.jvp(two_channels, Tensor<2, 4>{{1, 2, 3, 4, 5, 6, 7, 8}}), Tensor<2, 2>{{2, 3, 5, 8}});
}
TEST(Origins, AveragePoolChannels) {
  expect(forward(avg_pool({.kernel = {2, 2, 2}}), arange<double>({2, 2, 2, 2})), {{2, 1, 1, 1}, {3.5, 11.5}});
}
TEST(Origins, MaxPoolChannelsVjp) {
  expect(typed::max_pool<Pairs>.vjp(two_channels, Tensor<2, 2>{{1, 2, 3, 4}}), Tensor<2, 4>{{0, 1, 2, 0, 3, 0, 0, 4}});
}
TEST(Origins, AveragePoolChannelsVjp) {
  expect(typed::avg_pool<Pairs>.vjp(Tensor<2, 2>{}, Tensor<2, 1>{{6, 10}}), Tensor<2, 2>{{3, 3, 5, 5}});
}
TEST(Origins, SmoothMaxPoolSpatial) {
  expect(forward(smooth_max_pool(squares), Doubles({2, 2}, {0, 0, 0, log5})), Doubles({1, 1}, log8));
}
TEST(Origins, SmoothMaxPoolSpatialJvp) {
  expect(jvp(smooth_max_pool(pairs), Doubles({4}, {0, log3, log7, 0}), Doubles({4}, {4, 8, 8, 16})), {{2}, {7, 9}});
}
TEST(Origins, SmoothMaxPoolSpatialJvpWeights) {
  const Tensor<3> x{{0, log4, log5}};
  const auto derivative = typed::smooth_max_pool<typed::Window<typed::Kernel<3>>>;
  expect(derivative.jvp(x, Tensor<3>{{1, 0, 0}}), Tensor<1>{{0.1}});
  expect(derivative.jvp(x, Tensor<3>{{0, 1, 0}}), Tensor<1>{{0.4}});
  expect(derivative.jvp(x, Tensor<3>{{0, 0, 1}}), Tensor<1>{{0.5}});
}
TEST(Origins, SmoothJvpAndVjpAreAdjoint) {
  const Doubles x({3}, {0, log3, 0}), dx({3}, {4, 8, 12}), gy({2}, {1, 2});
  EXPECT_NEAR(inner(gy, jvp(smooth_max_pool(sliding_pairs), x, dx)), 25, 1e-12);
  EXPECT_NEAR(inner(vjp(smooth_max_pool(sliding_pairs), x, gy), dx), 25, 1e-12);
}
TEST(Origins, SmoothMaxPoolChannels) {
  expect(typed::smooth_max_pool<Pairs>(Tensor<2, 2>{{0, 0, 0, log3}}), Tensor<2, 1>{{log2, log4}});
}
TEST(Origins, SmoothMaxPoolChannelsJvp) {
  const Tensor<2, 2> x{{0, 0, 0, log3}}, dx{{2, 4, 4, 8}};
  expect(typed::smooth_max_pool<Pairs>.jvp(x, dx), Tensor<2, 1>{{3, 7}});
}
TEST(Origins, SmoothMaxPoolSpatialVjp) {
  expect(typed::smooth_max_pool<Squares>.vjp(Tensor<2, 2>{{0, 0, log3, log3}}, Tensor<1, 1>{{16}}),
         Tensor<2, 2>{{2, 2, 6, 6}});
}
TEST(Origins, SmoothMaxPoolFormula) {
  const Doubles x({2}, {0, log2});
  expect(forward(smooth_max_pool(pairs, {.beta = 3}), x), Doubles({1}, log9 / 3));
  expect(forward(smooth_max_pool(pairs, {.beta = -1}), x), Doubles({1}, -std::log(1.5)));
}
TEST(Origins, SmoothMaxPoolSpatialVjpShares) {
  expect(vjp(smooth_max_pool(pairs, {.beta = 2}), Doubles({2}, {0, log2}), Doubles({1}, 10)), {{2}, {2, 8}});
}
TEST(Origins, SmoothMaxPoolChannelsVjp) {
  expect(typed::smooth_max_pool<Pairs>.vjp(Tensor<2, 2>{{0, log3, log7, 0}}, Tensor<2, 1>{{4, 8}}),
         Tensor<2, 2>{{1, 3, 7, 1}});
}

}  // namespace
}  // namespace ndpool
