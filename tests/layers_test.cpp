// Layers against literals and against the reference of the pools they stand for.
#include "support/layers.hpp"

#include <memory>
#include <vector>

namespace ndpool::nn {
namespace {

struct Named {
  std::string name;
  std::shared_ptr<PoolLayer> layer;
  Pool pool;  ///< the same as a pool, with the ties of layers
  Shape shape;
  bool exact = true;
};

constexpr double smooth_beta = 2;

std::vector<Named> every_layer() {
  const WindowOptions wide{.padding = {{1, 2}}, .dilation = {2}, .edges = Edges::ceil};
  const Window wide_window{.kernel = {3}, .stride = {2}, .padding = {{1, 2}}, .dilation = {2}, .ceil_mode = true};
  const ExtremeOptions first{.ties = Ties::first};
  const SmoothMaxOptions smooth{.beta = smooth_beta};
  const AverageOptions excluding{.count_include_pad = false};
  return {
      {"max_1d", std::make_shared<MaxPool1D>(2), max_pool({.kernel = {2}}), {2, 3, 9}},
      {"max_1d_overlapping", std::make_shared<MaxPool1D>(3, 1), max_pool({.kernel = {3}, .stride = {1}}), {2, 3, 9}},
      {"max_1d_options", std::make_shared<MaxPool1D>(3, 2, wide), max_pool(wide_window), {2, 3, 12}},
      {"max_2d", std::make_shared<MaxPool2D>(2, 3), max_pool({.kernel = {2, 3}}), {2, 3, 6, 7}},
      {"max_2d_strides",
       std::make_shared<MaxPool2D>(3, 3, 2, 1),
       max_pool({.kernel = {3, 3}, .stride = {2, 1}}),
       {2, 2, 7, 8}},
      {"max_3d", std::make_shared<MaxPoolND>(Shape{2, 2, 2}), max_pool({.kernel = {2, 2, 2}}), {1, 2, 4, 5, 6}},
      {"max_many_taps", std::make_shared<MaxPool1D>(300, 7), max_pool({.kernel = {300}, .stride = {7}}), {1, 2, 900}},
      {"avg_1d", std::make_shared<AvgPool1D>(3), avg_pool({.kernel = {3}}), {2, 3, 9}},
      {"avg_1d_options",
       std::make_shared<AvgPool1D>(3, 2, wide, excluding),
       avg_pool(wide_window, excluding),
       {2, 3, 12}},
      {"avg_2d", std::make_shared<AvgPool2D>(2, 2, 1, 2), avg_pool({.kernel = {2, 2}, .stride = {1, 2}}), {2, 3, 6, 7}},
      {"avg_3d", std::make_shared<AvgPoolND>(Shape{2, 1, 3}), avg_pool({.kernel = {2, 1, 3}}), {1, 2, 4, 5, 6}},
      {"smooth_max",
       std::make_shared<SmoothMaxPoolND>(Shape{2, 2}, Shape{1, 1}, WindowOptions{}, smooth),
       smooth_max_pool({.kernel = {2, 2}, .stride = {1, 1}}, smooth),
       {1, 2, 5, 6},
       false},
      {"adaptive_max",
       std::make_shared<AdaptiveMaxPoolND>(Shape{3, 4}),
       adaptive_max_pool({.output_size = {3, 4}}),
       {2, 2, 7, 9}},
      {"adaptive_avg",
       std::make_shared<AdaptiveAvgPoolND>(Shape{4}),
       adaptive_avg_pool({.output_size = {4}}),
       {2, 2, 9}},
      {"global_max", std::make_shared<GlobalMaxPool>(2), global_max_pool({.axes = {2, 3}}), {2, 3, 4, 5}},
      {"global_max_kept",
       std::make_shared<GlobalMaxPool>(1, true, Ties::standard),
       global_max_pool({.axes = {2}, .keepdims = true}),
       {2, 3, 7}},
      {"global_max_first",
       std::make_shared<GlobalMaxPool>(2, false, Ties::first),
       global_max_pool({.axes = {2, 3}}, first),
       {2, 3, 17, 16}},
      {"global_max_split",
       std::make_shared<GlobalMaxPool>(3, false, Ties::split),
       global_max_pool({.axes = {2, 3, 4}}, {.ties = Ties::split}),
       {2, 3, 4, 5, 2}},
      {"global_avg", std::make_shared<GlobalAvgPool>(2), global_avg_pool({.axes = {2, 3}}), {2, 3, 4, 5}},
      {"global_avg_kept",
       std::make_shared<GlobalAvgPool>(1, true),
       global_avg_pool({.axes = {2}, .keepdims = true}),
       {2, 3, 8}},
  };
}

class EveryLayer : public ::testing::TestWithParam<Named> {
 protected:
  void SetUp() override { GetParam().layer->set_training(true); }
  void TearDown() override { GetParam().layer->set_training(false); }

  /// Equal to the reference: to the bit, or within the error of exp and log.
  static void expect_same(const Tensor& actual, const Tensor& expected) {
    ASSERT_EQ(actual.shape(), expected.shape());
    if (GetParam().exact) {
      EXPECT_EQ(actual, expected);
      return;
    }
    for (Index i = 0; i < actual.size(); ++i) EXPECT_FLOAT_EQ(actual[i], expected[i]);
  }
  /// Gradients equal the reference's: to the bit, or within the error of exp, which grows with its argument (the bound
  /// of kernels_analytic_test.cpp for numbers between -32 and 32). Weights below the normal numbers may be 0.
  static void expect_gradients(const Tensor& actual, const Tensor& x, const Tensor& gy) {
    const Tensor expected = by_spec(GetParam().pool, x, gy);
    if (GetParam().exact) return expect_same(actual, expected);
    Tensor sizes = gy;
    for (float& value : sizes) value = std::abs(value);
    sizes = by_spec(GetParam().pool, x, sizes);
    ASSERT_EQ(actual.shape(), expected.shape());
    const float bound =
        32 * (1 + static_cast<float>(std::abs(smooth_beta)) * 64) * std::numeric_limits<float>::epsilon();
    const float lost = 64 * 4 * std::numeric_limits<float>::min();
    for (Index i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], bound * sizes[i] + lost);
  }
};

TEST_P(EveryLayer, AnswersAsTheSpecOfItsPoolForwardAndBackward) {
  const auto& [name, layer, pool, shape, exact] = GetParam();
  const Tensor x = noise(shape, 1), y = by_spec(pool, x), gy = noise(y.shape(), 2);
  EXPECT_EQ(layer->output_shape(shape), y.shape());
  expect_same(layer->forward(x), y);
  expect_gradients(layer->backward(gy), x, gy);
  expect_gradients(layer->backward(gy), x, gy);
}

TEST_P(EveryLayer, KeepsNothingInInferenceMode) {
  const auto& [name, layer, pool, shape, exact] = GetParam();
  layer->set_training(false);
  const Tensor x = noise(shape, 3), y = layer->forward(x);
  expect_same(y, by_spec(pool, x));
  EXPECT_EQ(layer->kept_bytes(), 0U);
  EXPECT_EQ(refusal([&] { layer->backward(y); }, Code::nothing_kept),
            "backward has nothing to go back from: it needs a forward in training mode before it");
}

TEST_P(EveryLayer, RefusesGradientsOfAnotherShape) {
  const auto& [name, layer, pool, shape, exact] = GetParam();
  const Tensor y = layer->forward(noise(shape, 4));
  Shape longer = y.shape();
  longer[1] += 1;
  refusal([&] { layer->backward(Tensor(longer)); }, Code::shape_mismatch);
  refusal([&] { layer->backward(Tensor({y.size(), 1, 1, 1, 1, 1})); }, Code::rank_mismatch);
  EXPECT_EQ(layer->backward(y).shape(), shape);
}

TEST_P(EveryLayer, RefusesArraysOfAnotherRank) {
  const Named& named = GetParam();
  Shape deeper = named.shape;
  deeper.push_back(4);
  const std::string sentence = refusal([&] { named.layer->forward(Tensor(deeper)); }, Code::rank_mismatch);
  EXPECT_EQ(sentence,
            "x has " + std::to_string(deeper.size()) + " axes; expected " + std::to_string(deeper.size() - 1));
  refusal([&] { named.layer->output_shape({4, 4}); }, Code::rank_mismatch);
}

TEST_P(EveryLayer, FollowsShapesThatChange) {
  const auto& [name, layer, pool, shape, exact] = GetParam();
  layer->forward(noise(shape, 5));
  Shape more = shape;
  more[0] += 1;
  const Tensor x = noise(more, 6), gy = noise(pool.output_shape(more), 7);
  expect_same(layer->forward(x), by_spec(pool, x));
  expect_gradients(layer->backward(gy), x, gy);
}

INSTANTIATE_TEST_SUITE_P(Of, EveryLayer, ::testing::ValuesIn(every_layer()),
                         [](const auto& tested) { return tested.param.name; });

TEST(Layers, MaxKeepsOneBytePerOutputUpTo255Taps) {
  const auto kept = [](PoolLayer& layer, const Shape& shape) {
    layer.set_training(true);
    layer.forward(noise(shape, 8));
    return layer.kept_bytes();
  };
  MaxPool1D line(2), wide(255, 1), wider(256, 1);
  MaxPool2D image(2, 2);
  AvgPool2D average(2, 2);
  EXPECT_EQ(kept(line, {2, 3, 8}), 2U * 3 * 4);
  EXPECT_EQ(kept(image, {2, 3, 4, 8}), 2U * 3 * 2 * 4);
  EXPECT_EQ(kept(wide, {1, 1, 258}), 4U);
  EXPECT_EQ(kept(wider, {1, 1, 259}), 2U * 4);
  EXPECT_EQ(kept(average, {2, 3, 4, 8}), 0U);
}

TEST(Layers, BackwardNeedsAForwardInTrainingMode) {
  MaxPool1D layer(2);
  const Tensor gy({1, 1, 2});
  layer.set_training(true);
  refusal([&] { layer.backward(gy); }, Code::nothing_kept);
  layer.forward(Tensor({1, 1, 4}));
  layer.set_training(false);
  EXPECT_EQ(layer.kept_bytes(), 0U);
  layer.set_training(true);
  refusal([&] { layer.backward(gy); }, Code::nothing_kept);
}

TEST(Layers, NamesAreThoseOfTheirClasses) {
  EXPECT_EQ(MaxPool1D(2).name(), "MaxPool1D");
  EXPECT_EQ(AvgPool1D(2).name(), "AvgPool1D");
  EXPECT_EQ(MaxPool2D(2, 2).name(), "MaxPool2D");
  EXPECT_EQ(AvgPool2D(2, 2).name(), "AvgPool2D");
  EXPECT_EQ(MaxPoolND({2, 2, 2}).name(), "MaxPoolND");
  EXPECT_EQ(GlobalAvgPool(2).name(), "GlobalAvgPool");
}

TEST(Layers, AKernelLargerThanTheInputIsRefused) {
  MaxPool2D layer(3, 2);
  EXPECT_EQ(refusal(
                [&] {
                  layer.forward(Tensor({1, 1, 2, 4}));
                },
                Code::kernel_exceeds_input),
            "kernel 3 on axis 2 does not fit: it spans 3 cells, and input 2 with padding 0 and 0 has 2");
}

}  // namespace
}  // namespace ndpool::nn
