// Rows of docs/origins.md: TorchLean: 2-D pooling.
#pragma once

#include "origins/support.hpp"

namespace ndpool {
namespace {

TEST(Origins, MaxPool2dSpec) {
  expect(max_pool({.kernel = {3, 2}, .stride = {2, 2}}).output_shape({7, 6}), {3, 3});
  const Fault no_height = fault_of([] { return max_pool({.kernel = {0, 2}}).output_shape({7, 6}); });
  EXPECT_EQ(no_height.code, Code::not_positive);
  EXPECT_EQ(no_height.argument, Argument::kernel);
  const Fault no_stride = fault_of([] { return max_pool({.kernel = {3, 2}, .stride = {0, 0}}).output_shape({7, 6}); });
  EXPECT_EQ(no_stride.code, Code::not_positive);
  EXPECT_EQ(no_stride.argument, Argument::stride);
}
TEST(Origins, MaxPool2dKernelHeight) {
  expect(forward(max_pool({.kernel = {3, 1}}), arange<double>({3, 2})), {{1, 2}, {4, 5}});
}
TEST(Origins, MaxPool2dKernelWidth) {
  expect(forward(max_pool({.kernel = {1, 3}}), arange<double>({2, 3})), {{2, 1}, {2, 5}});
}
TEST(Origins, MaxPool2dStride) {
  const Pool pool = max_pool({.kernel = {2, 2}, .stride = {3, 3}});
  expect(forward(pool, arange<double>({5, 5})), {{2, 2}, {6, 9, 21, 24}});
}
TEST(Origins, AvgPool2dSpec) {
  expect(typed::avg_pool<typed::Window<typed::Kernel<2, 3>>>(Tensor<2, 3>{{0, 1, 2, 3, 4, 5}}), Tensor<1, 1>{{2.5}});
}
TEST(Origins, AvgPool2dKernelHeight) {
  expect(forward(avg_pool({.kernel = {3, 1}}), arange<double>({3, 2})), {{1, 2}, {2, 3}});
}
TEST(Origins, AvgPool2dKernelWidth) {
  expect(forward(avg_pool({.kernel = {1, 3}}), arange<double>({2, 3})), {{2, 1}, {1, 4}});
}
TEST(Origins, AvgPool2dStride) {
  expect(forward(avg_pool(sliding_squares), arange<double>({3, 3})), {{2, 2}, {2, 3, 5, 6}});
}
TEST(Origins, Pool2dOutShape) {
  using Description = typed::Window<typed::Kernel<2, 3>, typed::Stride<2, 2>>;
  expect_shape<Description, typed::Shape<7, 10>, typed::Shape<3, 4>>(max_pool({.kernel = {2, 3}, .stride = {2, 2}}));
}
TEST(Origins, Pool2dMultiOutShape) {
  using Description = typed::Window<typed::Kernel<3, 3>, typed::Stride<2, 2>>;
  expect_shape<Description, typed::Shape<5, 9, 6>, typed::Shape<5, 4, 2>>(
      avg_pool({.kernel = {3, 3}, .stride = {2, 2}}));
}
using PaddedThrees = typed::Window<typed::Kernel<3, 3>, typed::Stride<2, 2>, typed::Padding<1, 1>>;
constexpr Window padded_threes{.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
TEST(Origins, Pool2dOutShapePad) {
  expect_shape<PaddedThrees, typed::Shape<7, 4>, typed::Shape<4, 2>>(max_pool(padded_threes));
}
TEST(Origins, Pool2dMultiOutShapePad) {
  expect_shape<PaddedThrees, typed::Shape<64, 112, 112>, typed::Shape<64, 56, 56>>(avg_pool(padded_threes));
}
TEST(Origins, SmoothMaxFormula2d) {
  const Doubles x({2, 2}, 0);
  expect(forward(smooth_max_pool(squares, {.beta = 2}), x), Doubles({1, 1}, log2));
  EXPECT_EQ(fault_of([&] { forward(smooth_max_pool(squares, {.beta = 0}), x); }).code, Code::beta_not_usable);
}
TEST(Origins, SmoothMaxPool2d) {
  const Tensor<2, 4> x{{0, 0, log5, 0, 0, 0, 0, log9}};
  expect(typed::smooth_max_pool<Squares>(x), Tensor<1, 2>{{log4, log16}});
  expect(typed::smooth_max_pool<Squares>(Tensor<2, 2>{{1, 3, 5, 3}}, {{.beta = 100}}), Tensor<1, 1>{{5}});
}
TEST(Origins, SmoothMaxPool2dMulti) {
  expect(typed::smooth_max_pool<Squares>(Tensor<2, 2, 2>{{0, 0, 0, 0, log2, log2, log2, log2}}),
         Tensor<2, 1, 1>{{log4, log8}});
}
TEST(Origins, SmoothMaxPool2dJvp) {
  const Tensor<2, 3> x{{0, 0, 0, 0, log5, 0}}, dx{{8, 0, 16, 8, 16, 24}};
  expect(typed::smooth_max_pool<SlidingSquares>.jvp(x, dx), Tensor<1, 2>{{12, 15}});
}
TEST(Origins, SmoothMaxPool2dMultiJvp) {
  const Tensor<2, 2, 2> x{{0, 0, 0, 0, 0, 0, 0, log5}}, dx{{1, 2, 3, 6, 8, 8, 8, 16}};
  expect(typed::smooth_max_pool<Squares>.jvp(x, dx), Tensor<2, 1, 1>{{3, 13}});
}
TEST(Origins, MaxPool2d) { expect(typed::max_pool<SlidingSquares>(hills), Tensor<3, 3>{{5, 3, 9, 7, 7, 6, 7, 7, 6}}); }
TEST(Origins, MaxPool2dMulti) {
  expect(typed::max_pool<Squares>(Tensor<3, 2, 2>{{1, 2, 3, 4, 8, 7, 6, 5, -4, -3, -2, -1}}),
         Tensor<3, 1, 1>{{4, 8, -1}});
}
TEST(Origins, MaxPool2dJvp) {
  expect(typed::max_pool<SlidingSquares>.jvp(hills, ramp), Tensor<3, 3>{{4, 1, 3, 9, 9, 10, 9, 9, 10}});
}
TEST(Origins, MaxPool2dMultiJvp) {
  const Tensor<2, 2, 2> x{{1, 2, 2, 1, 5, 5, 5, 5}}, dx{{1, 2, 3, 4, 5, 6, 7, 8}};
  expect(typed::max_pool<Squares>.jvp(x, dx), Tensor<2, 1, 1>{{2, 5}});
}
TEST(Origins, AvgPool2d) { expect(typed::avg_pool<Squares>(ramp), Tensor<2, 2>{{2.5, 4.5, 10.5, 12.5}}); }
TEST(Origins, AvgPool2dMulti) {
  expect(typed::avg_pool<Squares>(Tensor<2, 2, 2>{{1, 2, 3, 6, -1, -1, -1, -5}}), Tensor<2, 1, 1>{{3, -2}});
}
TEST(Origins, AdaptiveAvgPool2dSpec) {
  expect_shape<typed::Adaptive<3, 2>, typed::Shape<4, 7, 5>, typed::Shape<4, 3, 2>>(
      adaptive_avg_pool({.output_size = {3, 2}}));
}
TEST(Origins, AdaptiveAvgOutputHeight) {
  expect(forward(adaptive_avg_pool({.output_size = {2, 1}}), hills_array), {{2, 1}, {3.25, 4.5}});
}
TEST(Origins, AdaptiveAvgOutputWidth) {
  expect(forward(adaptive_avg_pool({.output_size = {1, 2}}), hills_array), {{1, 2}, {3.125, 4.625}});
}
TEST(Origins, AdaptiveMaxPool2dSpec) {
  expect_shape<typed::Adaptive<1, 4>, typed::Shape<2, 3, 3>, typed::Shape<2, 1, 4>>(
      adaptive_max_pool({.output_size = {1, 4}}));
}
TEST(Origins, AdaptiveMaxOutputHeight) {
  expect(forward(adaptive_max_pool({.output_size = {2, 1}}), hills_array), {{2, 1}, {9, 7}});
}
TEST(Origins, AdaptiveMaxOutputWidth) {
  expect(forward(adaptive_max_pool({.output_size = {1, 2}}), hills_array), {{1, 2}, {7, 9}});
}
TEST(Origins, AdaptiveRegionSizes) {
  const auto size = [](Index bin) { return adaptive_end(7, 5, bin) - adaptive_start(7, 5, bin); };
  expect(tabulate(5, size), {2, 2, 3, 2, 2});
}
TEST(Origins, AdaptiveStart) {
  expect(tabulate(3, [](Index bin) { return adaptive_start(7, 3, bin); }), {0, 2, 4});
}
TEST(Origins, AdaptiveEnd) {
  expect(tabulate(3, [](Index bin) { return adaptive_end(7, 3, bin); }), {3, 5, 7});
}
TEST(Origins, AdaptiveAvgPool2d) {
  expect(typed::adaptive_avg_pool<2, 2>(Tensor<1, 3, 3>{{0, 1, 2, 3, 4, 5, 6, 7, 8}}), Tensor<1, 2, 2>{{2, 3, 5, 6}});
}
TEST(Origins, AdaptiveMaxPool2d) {
  expect(forward(adaptive_max_pool({.output_size = {3, 3}}), arange<double>({1, 5, 5})),
         {{1, 3, 3}, {6, 8, 9, 16, 18, 19, 21, 23, 24}});
  expect(typed::adaptive_max_pool<1, 1>(Tensor<1, 1, 2>{{minus_infinity, -1e308}}), Tensor<1, 1, 1>{{-1e308}});
}
TEST(Origins, MaxPool2dBackward) {
  expect(typed::max_pool<SlidingSquares>.vjp(Tensor<2, 3>{{1, 4, 4, 2, 3, 0}}, Tensor<1, 2>{{1, 2}}),
         Tensor<2, 3>{{0, 3, 0, 0, 0, 0}});
}
TEST(Origins, MaxPool2dMultiBackward) {
  expect(typed::max_pool<Squares>.vjp(Tensor<2, 2, 2>{{1, 2, 3, 4, 7, 7, 0, 0}}, Tensor<2, 1, 1>{{5, 6}}),
         Tensor<2, 2, 2>{{0, 0, 0, 5, 6, 0, 0, 0}});
}
TEST(Origins, AvgPool2dBackward) {
  expect(typed::avg_pool<SlidingSquares>.vjp(Tensor<3, 3>{}, Tensor<2, 2>{{4, 8, 12, 16}}),
         Tensor<3, 3>{{1, 3, 2, 4, 10, 6, 3, 7, 4}});
}

}  // namespace
}  // namespace ndpool
