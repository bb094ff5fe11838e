// Rows of docs/origins.md: tiny_pool: notes.
#pragma once

#include "origins/support.hpp"

#include <ndpool/tiny.hpp>

namespace ndpool {
namespace {

using nn::AvgPool1D, nn::AvgPool2D, nn::MaxPool1D, nn::MaxPool2D;
using Floats = nn::Tensor;

template <class Layer>
Layer in_training(Layer layer) {
  layer.set_training(true);
  return layer;
}

TEST(Origins, TinyLayers) {
  const Floats sequence({1, 1, 2}, {1, 3}), image({1, 1, 2, 2}, {1, 3, 5, 9});
  EXPECT_EQ(MaxPool1D(2).forward(sequence), Floats({1, 1, 1}, {3}));
  EXPECT_EQ(AvgPool1D(2).forward(sequence), Floats({1, 1, 1}, {2}));
  EXPECT_EQ(MaxPool2D(2, 2).forward(image), Floats({1, 1, 1, 1}, {9}));
  EXPECT_EQ(AvgPool2D(2, 2).forward(image), Floats({1, 1, 1, 1}, {4.5}));
}
TEST(Origins, TinyChannelsAreIndependent) {
  expect(forward(max_pool(pairs), Doubles({1, 2, 2}, {1, 2, 30, 10})), {{1, 2, 1}, {2, 30}});
}
TEST(Origins, TinyNoLearnableParameters) {
  AvgPool1D layer = in_training(AvgPool1D(2));
  const Floats x({1, 1, 4}, {1, 3, 5, 11}), before = layer.forward(x);
  EXPECT_EQ(layer.backward(Floats({1, 1, 2}, {2, 4})), Floats({1, 1, 4}, {1, 1, 2, 2}));
  EXPECT_EQ(before, Floats({1, 1, 2}, {2, 8}));
  EXPECT_EQ(layer.forward(x), before);
}
TEST(Origins, TinyOnlyMaxHasArgmax) {
  MaxPool1D max = in_training(MaxPool1D(2));
  AvgPool1D average = in_training(AvgPool1D(2));
  max.forward(Floats({1, 2, 6}));
  average.forward(Floats({1, 2, 6}));
  EXPECT_EQ(max.kept_bytes(), 6U);
  EXPECT_EQ(average.kept_bytes(), 0U);
  EXPECT_EQ(fault_of([] { indices(avg_pool(pairs), Doubles({1, 1, 2})); }).code, Code::no_indices);
}
TEST(Origins, TinyShrinksTheMap) {
  const Doubles map({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  expect(forward(max_pool(squares), map), {{1, 1, 1, 2}, {6, 8}});
  expect(forward(avg_pool(squares), map), {{1, 1, 1, 2}, {3.5, 5.5}});
}
TEST(Origins, TinyMaxInWindow) {
  expect(typed::max_pool<typed::Window<typed::Kernel<4>>>(Tensor<1, 1, 4>{{3, 9, 1, 4}}), Tensor<1, 1, 1>{{9}});
}
TEST(Origins, TinyAverageInWindow) {
  expect(typed::avg_pool<typed::Window<typed::Kernel<4>>>(Tensor<1, 1, 4>{{3, 9, 1, 4}}), Tensor<1, 1, 1>{{4.25}});
}
TEST(Origins, TinyRetainsTheStrongest) {
  const Doubles pooled = forward(max_pool(squares), hills_array);
  EXPECT_EQ(*std::max_element(pooled.begin(), pooled.end()), *std::max_element(hills.begin(), hills.end()));
}
TEST(Origins, TinyRetainsTheTrend) {
  const Doubles pooled = forward(avg_pool(squares), hills_array);
  EXPECT_EQ(std::accumulate(pooled.begin(), pooled.end(), 0.0) / 4,
            std::accumulate(hills.begin(), hills.end(), 0.0) / 16);
  const auto [low, high] = std::minmax_element(pooled.begin(), pooled.end());
  EXPECT_LT(*high - *low, 9.0 - 0.0);
}
TEST(Origins, TinyLessCompute) { EXPECT_EQ(element_count(max_pool(squares).output_shape({8, 16, 32, 32})), 32768); }
TEST(Origins, TinyLargerReceptiveField) {
  const Doubles x({1, 1, 8}), y({1, 1, 4});
  expect(vjp(avg_pool(pairs), x, vjp(avg_pool(pairs), y, Doubles({1, 1, 2}, {4, 0}))),
         {{1, 1, 8}, {1, 1, 1, 1, 0, 0, 0, 0}});
}
TEST(Origins, TinyShiftInvariance) {
  expect(typed::max_pool<Pairs>(Tensor<1, 1, 4>{{0, 9, 0, 0}}), Tensor<1, 1, 2>{{9, 0}});
  expect(typed::max_pool<Pairs>(Tensor<1, 1, 4>{{9, 0, 0, 0}}), Tensor<1, 1, 2>{{9, 0}});
}
TEST(Origins, TinyShapeChange) {
  expect_shape<typed::Window<typed::Kernel<3>, typed::Stride<2>>, typed::Shape<2, 3, 9>, typed::Shape<2, 3, 4>>(
      max_pool({.kernel = {3}, .stride = {2}}));
}
TEST(Origins, TinyShapes1d) {
  using Description = typed::Window<typed::Kernel<4>, typed::Stride<3>>;
  constexpr Window window{.kernel = {4}, .stride = {3}};
  expect_shape<Description, typed::Shape<5, 1, 10>, typed::Shape<5, 1, 3>>(max_pool(window));
  expect_shape<Description, typed::Shape<1, 7, 13>, typed::Shape<1, 7, 4>>(avg_pool(window));
}
TEST(Origins, TinyShapes2d) {
  using Description = typed::Window<typed::Kernel<2, 3>, typed::Stride<2, 1>>;
  constexpr Window window{.kernel = {2, 3}, .stride = {2, 1}};
  expect_shape<Description, typed::Shape<2, 3, 8, 7>, typed::Shape<2, 3, 4, 5>>(max_pool(window));
  expect_shape<Description, typed::Shape<1, 4, 2, 3>, typed::Shape<1, 4, 1, 1>>(avg_pool(window));
}
TEST(Origins, TinyStrideDefaultsToKernel) {
  expect_shape<typed::Window<typed::Kernel<3>>, typed::Shape<1, 1, 9>, typed::Shape<1, 1, 3>>(
      max_pool({.kernel = {3}}));
  EXPECT_EQ(AvgPool1D(3).forward(Floats({1, 1, 6}, {0, 1, 2, 3, 4, 5})), Floats({1, 1, 2}, {1, 4}));
}
TEST(Origins, TinyMaxPool1dIsALayer) {
  EXPECT_TRUE((std::is_base_of_v<nn::Layer, MaxPool1D>));
  EXPECT_FALSE((std::is_convertible_v<int, MaxPool1D>));
  const std::unique_ptr<nn::Layer> layer = std::make_unique<MaxPool1D>(2);
  layer->set_training(true);
  EXPECT_EQ(layer->forward(Floats({1, 1, 2}, {4, 6})), Floats({1, 1, 1}, {6}));
  EXPECT_EQ(layer->backward(Floats({1, 1, 1}, {5})), Floats({1, 1, 2}, {0, 5}));
  EXPECT_EQ(layer->name(), "MaxPool1D");
}
TEST(Origins, TinyMaxPool1dConstructor) {
  expect(MaxPool1D(5).output_shape({1, 1, 20}), {1, 1, 4});
  expect(MaxPool1D(5, -1).output_shape({1, 1, 20}), {1, 1, 4});
  expect(MaxPool1D(5, 3).output_shape({1, 1, 20}), {1, 1, 6});
  using Static = tiny::MaxPool1D<tiny::Shape<1, 1, 20>, 5, 3>;
  EXPECT_TRUE((std::same_as<Static::OutputShape, tiny::Shape<1, 1, 6>>));
}
TEST(Origins, TinyMaxPool1dForward) {
  EXPECT_EQ(MaxPool1D(2, 1).forward(Floats({1, 1, 4}, {1, 3, 2, 5})), Floats({1, 1, 3}, {3, 3, 5}));
}
TEST(Origins, TinyMaxPool1dBackward) {
  MaxPool1D layer = in_training(MaxPool1D(3));
  layer.forward(Floats({1, 2, 3}, {1, 2, 0, 6, 5, 4}));
  EXPECT_EQ(layer.backward(Floats({1, 2, 1}, {7, 8})), Floats({1, 2, 3}, {0, 7, 0, 8, 0, 0}));
}
TEST(Origins, TinyMask1d) {
  const std::vector<float> x = {1, 3, 5, 2, 9, 1, 1, 8};
  expect(indices(max_pool(pairs), Doubles({2, 1, 4}, {x.begin(), x.end()})), {{2, 1, 2}, {1, 2, 0, 3}});
  MaxPool1D layer = in_training(MaxPool1D(2));
  layer.forward(Floats({2, 1, 4}, x));
  EXPECT_EQ(layer.mask(), nn::IndexTensor({2, 1, 2}, {1, 2, 0, 3}));
  using Static = tiny::MaxPool1D<tiny::Shape<2, 1, 4>, 2, -1, tiny::training>;
  Static::Output y;
  Static::Memory memory;
  Static::Mask mask;
  Static::forward(Static::Input{{1, 3, 5, 2, 9, 1, 1, 8}}, y, memory);
  EXPECT_TRUE(Static::mask(memory, mask));
  EXPECT_EQ(mask, (Static::Mask{{1, 2, 0, 3}}));
}
TEST(Origins, TinyMaskInTrainingOnly) {
  MaxPool1D layer(2);
  layer.forward(Floats({1, 1, 4}));
  EXPECT_EQ(layer.kept_bytes(), 0U);
  EXPECT_EQ(fault_of([&] { layer.backward(Floats({1, 1, 2})); }).code, Code::nothing_kept);
  EXPECT_EQ(fault_of([&] { layer.mask(); }).code, Code::nothing_kept);
  layer.set_training(true);
  layer.forward(Floats({1, 1, 4}));
  EXPECT_EQ(layer.kept_bytes(), 2U);
  EXPECT_EQ(layer.mask(), nn::IndexTensor({1, 1, 2}, {0, 2}));
}
TEST(Origins, TinyGradientGoesToTheMask) {
  MaxPool1D layer = in_training(MaxPool1D(2));
  layer.forward(Floats({1, 1, 6}, {1, 3, 5, 2, 9, 4}));
  const nn::IndexTensor mask = layer.mask();
  const Floats gy({1, 1, 3}, {10, 20, 30}), gx = layer.backward(gy);
  for (Index l = 0; l < 3; ++l) EXPECT_EQ(gx[mask[l]], gy[l]);
  EXPECT_EQ(std::accumulate(gx.begin(), gx.end(), 0.0F), 60);
}
TEST(Origins, TinyAvgPool1dForward) {
  EXPECT_EQ(AvgPool1D(2).forward(Floats({1, 2, 2}, {1, 3, 5, 9})), Floats({1, 2, 1}, {2, 7}));
}
TEST(Origins, TinyAvgPool1dBackward) {
  AvgPool1D layer = in_training(AvgPool1D(3));
  layer.forward(Floats({1, 1, 3}));
  EXPECT_EQ(layer.backward(Floats({1, 1, 1}, {6})), Floats({1, 1, 3}, {2, 2, 2}));
  using Static = tiny::AvgPool1D<tiny::Shape<1, 1, 3>, 3, -1, tiny::training>;
  Static::Input gx;
  Static::backward({}, Static::Output{{6}}, gx);
  EXPECT_EQ(gx, (Static::Input{{2, 2, 2}}));
}
const Doubles two_squares({1, 1, 2, 4}, {1, 2, 3, 9, 4, 8, 5, 6});
TEST(Origins, TinyMask2d) {
  const auto flat = indices(max_pool(squares), two_squares);
  expect(flat, {{1, 1, 1, 2}, {5, 3}});
  MaxPool2D layer = in_training(MaxPool2D(2, 2));
  layer.forward(Floats({1, 1, 2, 4}, {two_squares.begin(), two_squares.end()}));
  const nn::IndexTensor mask = layer.mask();
  EXPECT_EQ(mask, nn::IndexTensor({1, 1, 1, 2 * 2}, {1, 1, 0, 3}));
  for (Index l = 0; l < 2; ++l) EXPECT_EQ(mask[2 * l] * 4 + mask[2 * l + 1], flat[l]);
}
TEST(Origins, TinyMaxPool2dBackward) {
  MaxPool2D layer = in_training(MaxPool2D(2, 2));
  layer.forward(Floats({1, 1, 2, 4}, {two_squares.begin(), two_squares.end()}));
  EXPECT_EQ(layer.backward(Floats({1, 1, 1, 2}, {1, 2})), Floats({1, 1, 2, 4}, {0, 0, 0, 2, 0, 1, 0, 0}));
  Doubles placed(two_squares.shape(), -1);
  const Doubles gy({1, 1, 1, 2}, {1, 2});
  max_unpool({.output_size = {2, 4}}).forward(gy.view(), indices(max_pool(squares), two_squares).view(), placed.view());
  expect(placed, {{1, 1, 2, 4}, {0, 0, 0, 2, 0, 1, 0, 0}});
}
TEST(Origins, TinyAvgPool2dForward) {
  EXPECT_EQ(AvgPool2D(2, 3).forward(Floats({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6})), Floats({1, 1, 1, 1}, {3.5}));
}
TEST(Origins, TinyAvgPool2dBackward) {
  AvgPool2D layer = in_training(AvgPool2D(2, 3));
  layer.forward(Floats({1, 1, 2, 3}));
  EXPECT_EQ(layer.backward(Floats({1, 1, 1, 1}, {12})), Floats({1, 1, 2, 3}, 2));
}
TEST(Origins, TinyWindowsDoNotOverlap) {
  expect(vjp(sum_pool(squares), Doubles({1, 1, 4, 6}), Doubles({1, 1, 2, 3}, 1)), Doubles({1, 1, 4, 6}, 1));
}
TEST(Origins, TinyMaxGradientsAreSparse) {
  const Doubles gx = vjp(max_pool(squares), arange<double>({1, 1, 4, 4}), Doubles({1, 1, 2, 2}, 1));
  expect(gx, {{1, 1, 4, 4}, {0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1}});
}
TEST(Origins, TinyAvgGradientsAreUniform) {
  expect(vjp(avg_pool({.kernel = {1, 4}}), two_squares, Doubles({1, 1, 2, 1}, {4, 8})),
         {{1, 1, 2, 4}, {1, 1, 1, 1, 2, 2, 2, 2}});
}
TEST(Origins, TinyGlobalAvgPool) {
  EXPECT_EQ(nn::GlobalAvgPool(2).forward(Floats({1, 2, 1, 2}, {1, 3, 5, 9})), Floats({1, 2}, {2, 7}));
}
TEST(Origins, TinyEdgeElementsAreDropped) {
  MaxPool1D layer = in_training(MaxPool1D(2));
  EXPECT_EQ(layer.forward(Floats({1, 1, 5}, {1, 2, 3, 4, 99})), Floats({1, 1, 2}, {2, 4}));
  EXPECT_EQ(layer.backward(Floats({1, 1, 2}, {5, 6})), Floats({1, 1, 5}, {0, 5, 0, 6, 0}));
  EXPECT_EQ(layer.summary({1, 1, 5}),
            "MaxPool1D: [1, 1, 5] -> [1, 1, 2], loses 1 of 5 at the end of axis 2 (1 of 5 elements)");
}
TEST(Origins, TinyCallersMustAlignShapes) {
  const Fault fault = fault_of([] { MaxPool1D(4, 4, {.edges = Edges::error}).forward(Floats({1, 1, 10})); });
  EXPECT_EQ(fault.code, Code::edges_dropped);
  EXPECT_EQ(fault.values[2], 2);
  // Aligned is what the stride divides, whether or not windows have gaps between them.
  const auto strict = [](Index length) {
    return MaxPool1D(1, 3, {.edges = Edges::error}).output_shape({1, 1, length});
  };
  EXPECT_EQ(fault_of([&] { strict(9); }).code, Code::edges_dropped);
  expect(strict(10), {1, 1, 4});
  EXPECT_EQ(MaxPool1D(2, 2, {.edges = Edges::ceil}).forward(Floats({1, 1, 5}, {1, 2, 3, 4, 99})),
            Floats({1, 1, 3}, {2, 4, 99}));
}
TEST(Origins, TinyHalvesTheSequence) {
  const Shape once = MaxPool1D(2).output_shape({8, 16, 128});
  expect(once, {8, 16, 64});
  expect(MaxPool1D(2).output_shape(once), {8, 16, 32});
}
TEST(Origins, TinyComplexity) {
  const auto count = [](Index taps, double) { return taps + 1; };
  const auto taps = typed::fold<typed::Window<typed::Kernel<2, 3>>>(Tensor<1, 2, 4, 6>{}, Index{0}, count);
  EXPECT_EQ(std::accumulate(taps.begin(), taps.end(), Index{0}), 1 * 2 * 2 * 2 * 2 * 3);
}
TEST(Origins, TinyMaskMemory) {
  using Line = tiny::MaxPool1D<tiny::Shape<1, 2, 6>, 2, -1, tiny::training>;
  using Image = tiny::MaxPool2D<tiny::Shape<1, 2, 4, 6>, 2, 2, -1, -1, tiny::training>;
  EXPECT_EQ(4 * sizeof(Line::Memory), sizeof(float) * 1 * 2 * 3);
  EXPECT_EQ(8 * sizeof(Image::Memory), sizeof(float) * 1 * 2 * 2 * 3 * 2);
  MaxPool2D layer = in_training(MaxPool2D(2, 2));
  layer.forward(Floats({1, 2, 4, 6}));
  EXPECT_EQ(layer.kept_bytes(), sizeof(Image::Memory));
}
TEST(Origins, TinyNoWeights) {
  EXPECT_TRUE(std::is_empty_v<std::remove_const_t<decltype(typed::avg_pool<Squares>)>>);
  EXPECT_TRUE((std::is_empty_v<tiny::MaxPool1D<tiny::Shape<1, 1, 4>, 2, -1, tiny::training>>));
  EXPECT_EQ(sizeof(typed::avg_pool<Squares>(Tensor<2, 3, 4, 4>{})), 2 * 3 * 2 * 2 * sizeof(double));
}

}  // namespace
}  // namespace ndpool
