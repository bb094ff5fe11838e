// Rows of docs/origins.md: TorchLean: global pooling.
#pragma once

#include "origins/support.hpp"

namespace ndpool {
namespace {

TEST(Origins, GlobalReducesToOneCellOrNone) {
  const Tensor<1, 2, 2> x{{1, 2, 3, 6}};
  expect(typed::global_avg_pool<2, true>(x), Tensor<1, 1, 1>{{3}});
  expect(typed::global_max_pool<2>(x), Tensor<1>{{6}});
}
TEST(Origins, GlobalAvgPool2dTag) {
  const Pool pool = global_avg_pool({.axes = {-2, -1}});
  expect(forward(pool, Doubles({1, 2, 2}, {1, 2, 3, 4})), Doubles({1}, 2.5));
  expect(forward(pool, Doubles({2, 1, 3}, {1, 2, 3, 4, 5, 9})), {{2}, {2, 6}});
}
TEST(Origins, GlobalMaxPool2dTag) {
  static_assert(std::is_empty_v<std::remove_const_t<decltype(typed::global_max_pool<2, true>)>>);
  expect(typed::global_max_pool<2, true>(Tensor<1, 1, 3>{{-3, -1, -2}}), Tensor<1, 1, 1>{{-1}});
}
TEST(Origins, GlobalShapeOneByOne) {
  expect_shape<typed::Global<2, true>, typed::Shape<3, 4, 5>, typed::Shape<3, 1, 1>>(
      global_avg_pool({.axes = {-2, -1}, .keepdims = true}));
}
TEST(Origins, GlobalShapeFlat) {
  expect_shape<typed::Global<2>, typed::Shape<6, 2, 9>, typed::Shape<6>>(global_max_pool({.axes = {1, 2}}));
}
TEST(Origins, ReduceSpatial) {
  const auto append_digit = [](double digits, double digit) { return 10 * digits + digit; };
  expect(typed::fold<typed::Global<2>>(Tensor<2, 3>{{1, 2, 3, 4, 5, 6}}, 0.0, append_digit), Tensor<>{{123456}});
}
TEST(Origins, ChannelSpatialMax) { expect(typed::global_max_pool<2>(Tensor<2, 2>{{-4, -2, -8, -6}}), Tensor<>{{-2}}); }
TEST(Origins, GlobalChannelReduce) {
  const Doubles x({2, 2}, {1, 2, 3, 4});
  expect(spec::fold(spec::make_geometry(Global{}, x.shape()), x.view(), 1.0, std::multiplies<>()), {24});
}
TEST(Origins, ScalarAsOneByOneImage) {
  double scalar = 0;
  global_max_pool({.keepdims = true}).forward(hills_array.view(), view(&scalar, {1, 1}));
  EXPECT_EQ(scalar, 9);
}
TEST(Origins, GlobalPool2d1x1) {
  const auto trace = [](const Tensor<2, 2>& image) { return image(0, 0) + image(1, 1); };
  expect(typed::global_pool<typed::Shape<2, 2>, true>(Tensor<2, 2, 2>{{1, 2, 3, 4, 0, 1, 0, 2}}, trace),
         Tensor<2, 1, 1>{{5, 2}});
}
TEST(Origins, GlobalPool2dFlat) {
  const auto longest_rise = [](const Tensor<1, 4>& image) {
    Index longest = 1, rise = 1;
    for (Index i = 1; i < 4; ++i) longest = std::max(longest, rise = image(0, i) > image(0, i - 1) ? rise + 1 : 1);
    return longest;
  };
  expect(typed::global_pool<typed::Shape<1, 4>>(Tensor<2, 1, 4>{{-1, 2, -3, -4, 5, 6, 7, 5}}, longest_rise),
         typed::Tensor<Index, typed::Shape<2>>{{2, 3}});
}
TEST(Origins, GlobalAvgPool2d) {
  expect(typed::global_avg_pool<2, true>(Tensor<2, 1, 4>{{1, 2, 3, 6, 0, 0, 0, 2}}), Tensor<2, 1, 1>{{3, 0.5}});
}
TEST(Origins, GlobalMaxPool2d) {
  expect(typed::global_max_pool<2, true>(Tensor<2, 2, 2>{{1, 9, 3, 4, -5, -6, -7, -8}}), Tensor<2, 1, 1>{{9, -5}});
}
TEST(Origins, GlobalAvgPool2dFlat) {
  expect(forward(global_avg_pool({.axes = {1, 2}}), arange<double>({2, 2, 2})), {{2}, {1.5, 5.5}});
}
TEST(Origins, GlobalMaxPool2dFlat) {
  expect(forward(global_max_pool({.axes = {1, 2}}), Doubles({3, 1, 2}, {1, 2, 4, 3, 0, -1})), {{3}, {2, 4, 0}});
}
TEST(Origins, GlobalAvgPool2dBackward) {
  expect(typed::global_avg_pool<2, true>.vjp(Tensor<2, 2, 2>{}, Tensor<2, 1, 1>{{4, 8}}),
         Tensor<2, 2, 2>{{1, 1, 1, 1, 2, 2, 2, 2}});
}
TEST(Origins, GlobalAvgPool2dFlatBackward) {
  expect(typed::global_avg_pool<2>.vjp(Tensor<2, 1, 2>{}, Tensor<2>{{6, -2}}), Tensor<2, 1, 2>{{3, 3, -1, -1}});
}
TEST(Origins, GlobalMaxPool2dBackward) {
  const Pool pool = global_max_pool({.axes = {1, 2}, .keepdims = true});
  expect(vjp(pool, Doubles({1, 2, 2}, {7, 1, 7, 7}), Doubles({1, 1, 1}, 3)), {{1, 2, 2}, {3, 0, 3, 3}});
}
TEST(Origins, GlobalMaxPool2dFlatBackward) {
  expect(typed::global_max_pool<2>.vjp(Tensor<2, 1, 3>{{2, 2, 1, 0, 5, 5}}, Tensor<2>{{10, 20}}),
         Tensor<2, 1, 3>{{10, 10, 0, 0, 20, 20}});
  nn::GlobalMaxPool layer(2);
  layer.set_training(true);
  layer.forward(nn::Tensor({1, 2, 1, 3}, {2, 2, 1, 0, 5, 5}));
  EXPECT_EQ(layer.backward(nn::Tensor({1, 2}, {10, 20})), nn::Tensor({1, 2, 1, 3}, {10, 10, 0, 0, 20, 20}));
}
TEST(Origins, GlobalMaxPool2dBackwardDistributed) {
  const Tensor<1, 2, 2> x{{7, 1, 7, 7}};
  expect(typed::global_max_pool<2, true>.vjp(x, Tensor<1, 1, 1>{{6}}, {.ties = Ties::split}),
         Tensor<1, 2, 2>{{2, 0, 2, 2}});
  const Pool pool = global_max_pool({.axes = {1, 2}}, {.ties = Ties::split});
  expect(vjp(pool, Doubles({1, 1, 2}, {4, 4}), Doubles({1}, 1)), {{1, 1, 2}, {0.5, 0.5}});
  nn::GlobalMaxPool layer(2, false, Ties::split);
  layer.set_training(true);
  layer.forward(nn::Tensor({1, 1, 2, 2}, {7, 1, 7, 7}));
  EXPECT_EQ(layer.backward(nn::Tensor({1, 1}, {6})), nn::Tensor({1, 1, 2, 2}, {2, 0, 2, 2}));
}

}  // namespace
}  // namespace ndpool
