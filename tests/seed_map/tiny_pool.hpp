// Rows of docs/seed-map.md: tiny_pool: notes.
#pragma once

#include "seed_map/support.hpp"

namespace ndpool {
namespace {

TEST(SeedMap, TinyLayers) {
  const Doubles sequence({1, 1, 2}, {1, 3}), image({1, 1, 2, 2}, {1, 3, 5, 9});
  expect(forward(max_pool(pairs), sequence), Doubles({1, 1, 1}, 3));
  expect(forward(avg_pool(pairs), sequence), Doubles({1, 1, 1}, 2));
  expect(forward(max_pool(squares), image), Doubles({1, 1, 1, 1}, 9));
  expect(forward(avg_pool(squares), image), Doubles({1, 1, 1, 1}, 4.5));
}
TEST(SeedMap, TinyChannelsAreIndependent) {
  expect(forward(max_pool(pairs), Doubles({1, 2, 2}, {1, 2, 30, 10})), {{1, 2, 1}, {2, 30}});
}
TEST(SeedMap, TinyNoLearnableParameters) {
  const Pool pool = avg_pool(pairs);
  const Doubles x({1, 1, 4}, {1, 3, 5, 11}), before = forward(pool, x);
  expect(vjp(pool, x, Doubles({1, 1, 2}, {2, 4})), {{1, 1, 4}, {1, 1, 2, 2}});
  expect(before, {{1, 1, 2}, {2, 8}});
  expect(forward(pool, x), before);
}
TEST(SeedMap, TinyOnlyMaxHasArgmax) {
  const Doubles x({1, 1, 2}, {4, 6});
  expect(indices(max_pool(pairs), x), testing::Array<Index>({1, 1, 1}, 1));
  EXPECT_EQ(fault_of([&] { indices(avg_pool(pairs), x); }).code, Code::no_indices);
}
TEST(SeedMap, TinyShrinksTheMap) {
  const Doubles map({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  expect(forward(max_pool(squares), map), {{1, 1, 1, 2}, {6, 8}});
  expect(forward(avg_pool(squares), map), {{1, 1, 1, 2}, {3.5, 5.5}});
}
TEST(SeedMap, TinyMaxInWindow) {
  expect(typed::max_pool<typed::Window<typed::Kernel<4>>>(Tensor<1, 1, 4>{{3, 9, 1, 4}}), Tensor<1, 1, 1>{{9}});
}
TEST(SeedMap, TinyAverageInWindow) {
  expect(typed::avg_pool<typed::Window<typed::Kernel<4>>>(Tensor<1, 1, 4>{{3, 9, 1, 4}}), Tensor<1, 1, 1>{{4.25}});
}
TEST(SeedMap, TinyLessCompute) { EXPECT_EQ(element_count(max_pool(squares).output_shape({8, 16, 32, 32})), 32768); }
TEST(SeedMap, TinyLargerReceptiveField) {
  const Doubles x({1, 1, 8}), y({1, 1, 4});
  expect(vjp(avg_pool(pairs), x, vjp(avg_pool(pairs), y, Doubles({1, 1, 2}, {4, 0}))),
         {{1, 1, 8}, {1, 1, 1, 1, 0, 0, 0, 0}});
}
TEST(SeedMap, TinyShiftInvariance) {
  expect(typed::max_pool<Pairs>(Tensor<1, 1, 4>{{0, 9, 0, 0}}), Tensor<1, 1, 2>{{9, 0}});
  expect(typed::max_pool<Pairs>(Tensor<1, 1, 4>{{9, 0, 0, 0}}), Tensor<1, 1, 2>{{9, 0}});
}
TEST(SeedMap, TinyShapeChange) {
  expect_shape<typed::Window<typed::Kernel<3>, typed::Stride<2>>, typed::Shape<2, 3, 9>, typed::Shape<2, 3, 4>>(
      max_pool({.kernel = {3}, .stride = {2}}));
}
TEST(SeedMap, TinyShapes1d) {
  using Description = typed::Window<typed::Kernel<4>, typed::Stride<3>>;
  constexpr Window window{.kernel = {4}, .stride = {3}};
  expect_shape<Description, typed::Shape<5, 1, 10>, typed::Shape<5, 1, 3>>(max_pool(window));
  expect_shape<Description, typed::Shape<1, 7, 13>, typed::Shape<1, 7, 4>>(avg_pool(window));
}
TEST(SeedMap, TinyShapes2d) {
  using Description = typed::Window<typed::Kernel<2, 3>, typed::Stride<2, 1>>;
  constexpr Window window{.kernel = {2, 3}, .stride = {2, 1}};
  expect_shape<Description, typed::Shape<2, 3, 8, 7>, typed::Shape<2, 3, 4, 5>>(max_pool(window));
  expect_shape<Description, typed::Shape<1, 4, 2, 3>, typed::Shape<1, 4, 1, 1>>(avg_pool(window));
}
TEST(SeedMap, TinyStrideDefaultsToKernel) {
  expect_shape<typed::Window<typed::Kernel<3>>, typed::Shape<1, 1, 9>, typed::Shape<1, 1, 3>>(
      max_pool({.kernel = {3}}));
  expect(forward(avg_pool({.kernel = {3}}), arange<double>({1, 1, 6})), {{1, 1, 2}, {1, 4}});
}
TEST(SeedMap, TinyMaxPool1dConstructor) {
  expect(max_pool({.kernel = {5}}).output_shape({1, 1, 20}), {1, 1, 4});
  EXPECT_EQ(fault_of([] {
              max_pool({.kernel = {5}, .stride = {-1}}).output_shape({1, 1, 20});
            }).code,
            Code::not_positive);
}
TEST(SeedMap, TinyMaxPool1dForward) {
  expect(forward(max_pool(sliding_pairs), Doubles({1, 1, 4}, {1, 3, 2, 5})), {{1, 1, 3}, {3, 3, 5}});
}
TEST(SeedMap, TinyMaxPool1dBackward) {
  expect(vjp(max_pool({.kernel = {3}}), Doubles({1, 2, 3}, {1, 2, 0, 6, 5, 4}), Doubles({1, 2, 1}, {7, 8})),
         {{1, 2, 3}, {0, 7, 0, 8, 0, 0}});
}
TEST(SeedMap, TinyMask1d) {
  expect(indices(max_pool(pairs), Doubles({2, 1, 4}, {1, 3, 5, 2, 9, 1, 1, 8})), {{2, 1, 2}, {1, 2, 0, 3}});
}
TEST(SeedMap, TinyGradientGoesToTheMask) {
  const Doubles x({1, 1, 6}, {1, 3, 5, 2, 9, 4}), gy({1, 1, 3}, {10, 20, 30});
  const auto mask = indices(max_pool(pairs), x);
  const Doubles gx = vjp(max_pool(pairs), x, gy);
  for (Index l = 0; l < 3; ++l) EXPECT_EQ(gx[mask[l]], gy[l]);
  EXPECT_EQ(inner(gx, Doubles(gx.shape(), 1)), 60);
}
TEST(SeedMap, TinyAvgPool1dForward) {
  expect(forward(avg_pool(pairs), Doubles({1, 2, 2}, {1, 3, 5, 9})), {{1, 2, 1}, {2, 7}});
}
TEST(SeedMap, TinyAvgPool1dBackward) {
  expect(typed::avg_pool<typed::Window<typed::Kernel<3>>>.vjp(Tensor<1, 1, 3>{}, Tensor<1, 1, 1>{{6}}),
         Tensor<1, 1, 3>{{2, 2, 2}});
}
const Doubles two_squares({1, 1, 2, 4}, {1, 2, 3, 9, 4, 8, 5, 6});
TEST(SeedMap, TinyMask2d) {
  const auto mask = indices(max_pool(squares), two_squares);
  expect(mask, {{1, 1, 1, 2}, {5, 3}});
  expect(tabulate(2, [&](Index l) { return mask[l] / 4; }), {1, 0});
  expect(tabulate(2, [&](Index l) { return mask[l] % 4; }), {1, 3});
}
TEST(SeedMap, TinyMaxPool2dBackward) {
  const Doubles gy({1, 1, 1, 2}, {1, 2}), expected({1, 1, 2, 4}, {0, 0, 0, 2, 0, 1, 0, 0});
  expect(vjp(max_pool(squares), two_squares, gy), expected);
  Doubles placed(two_squares.shape(), -1);
  max_unpool({.output_size = {2, 4}}).forward(gy.view(), indices(max_pool(squares), two_squares).view(), placed.view());
  expect(placed, expected);
}
TEST(SeedMap, TinyAvgPool2dForward) {
  expect(forward(avg_pool({.kernel = {2, 3}}), arange<double>({1, 1, 2, 3}, 1)), Doubles({1, 1, 1, 1}, 3.5));
}
TEST(SeedMap, TinyAvgPool2dBackward) {
  expect(vjp(avg_pool({.kernel = {2, 3}}), Doubles({1, 1, 2, 3}), Doubles({1, 1, 1, 1}, 12)), Doubles({1, 1, 2, 3}, 2));
}
TEST(SeedMap, TinyWindowsDoNotOverlap) {
  expect(vjp(sum_pool(squares), Doubles({1, 1, 4, 6}), Doubles({1, 1, 2, 3}, 1)), Doubles({1, 1, 4, 6}, 1));
}
TEST(SeedMap, TinyMaxGradientsAreSparse) {
  const Doubles gx = vjp(max_pool(squares), arange<double>({1, 1, 4, 4}), Doubles({1, 1, 2, 2}, 1));
  expect(gx, {{1, 1, 4, 4}, {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1}});
}
TEST(SeedMap, TinyAvgGradientsAreUniform) {
  expect(vjp(avg_pool({.kernel = {1, 4}}), two_squares, Doubles({1, 1, 2, 1}, {4, 8})),
         {{1, 1, 2, 4}, {1, 1, 1, 1, 2, 2, 2, 2}});
}
TEST(SeedMap, TinyGlobalAvgPool) {
  expect(forward(global_avg_pool({.axes = {2, 3}}), Doubles({1, 2, 1, 2}, {1, 3, 5, 9})), {{1, 2}, {2, 7}});
}
TEST(SeedMap, TinyEdgeElementsAreDropped) {
  const Doubles x({1, 1, 5}, {1, 2, 3, 4, 99});
  expect(forward(max_pool(pairs), x), {{1, 1, 2}, {2, 4}});
  expect(vjp(max_pool(pairs), x, Doubles({1, 1, 2}, {5, 6})), {{1, 1, 5}, {0, 5, 0, 6, 0}});
  expect(forward(max_pool({.kernel = {2}, .ceil_mode = true}), x), {{1, 1, 3}, {2, 4, 99}});
}
TEST(SeedMap, TinyHalvesTheSequence) {
  const Shape once = max_pool(pairs).output_shape({8, 16, 128});
  expect(once, {8, 16, 64});
  expect(max_pool(pairs).output_shape(once), {8, 16, 32});
}
TEST(SeedMap, TinyComplexity) {
  const auto count = [](Index taps, double) { return taps + 1; };
  const auto taps = typed::fold<typed::Window<typed::Kernel<2, 3>>>(Tensor<1, 2, 4, 6>{}, Index{0}, count);
  EXPECT_EQ(std::accumulate(taps.begin(), taps.end(), Index{0}), 1 * 2 * 2 * 2 * 2 * 3);
}
TEST(SeedMap, TinyMaskMemory) {
  expect(indices(max_pool(pairs), Doubles({1, 2, 6})).shape(), {1, 2, 3});
  expect(indices(max_pool(squares), Doubles({1, 2, 4, 6})).shape(), {1, 2, 2, 3});
  EXPECT_EQ(spec::compact_bytes(max_pool(squares).geometry({1, 2, 4, 6})), 1);
}
TEST(SeedMap, TinyNoWeights) {
  EXPECT_TRUE(std::is_empty_v<std::remove_const_t<decltype(typed::avg_pool<Squares>)>>);
  EXPECT_EQ(sizeof(typed::avg_pool<Squares>(Tensor<2, 3, 4, 4>{})), 2 * 3 * 2 * 2 * sizeof(double));
}

}  // namespace
}  // namespace ndpool
