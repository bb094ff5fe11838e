// Layers against literals and against the spec of the pools they stand for.
#include "support/array.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace ndpool::nn {
namespace {

Tensor noise(const Shape& shape, unsigned seed) {
  Tensor tensor(shape);
  for (float& value : tensor) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<int>(seed >> 20) - 2048) / 64;
  }
  return tensor;
}

/// What the spec of a pool answers, as a layer would.
Tensor by_spec(const Pool& pool, const Tensor& x) {
  Tensor y(pool.output_shape(x.shape()));
  pool.by_spec().forward(view(x.data(), x.shape()), view(y.data(), y.shape()));
  return y;
}
Tensor by_spec(const Pool& pool, const Tensor& x, const Tensor& gy) {
  Tensor gx(x.shape());
  pool.by_spec().vjp(view(x.data(), x.shape()), view(gy.data(), gy.shape()), view(gx.data(), gx.shape()));
  return gx;
}

template <class Call>
std::string refusal(Call call, Code code) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

struct Named {
  std::string name;
  std::shared_ptr<PoolLayer> layer;
  Pool pool;  ///< the same as a pool, with the ties of layers
  Shape shape;
  bool exact = true;
};

std::vector<Named> every_layer() {
  const WindowOptions wide{.padding = {{1, 2}}, .dilation = {2}, .edges = Edges::ceil};
  const Window wide_window{.kernel = {3}, .stride = {2}, .padding = {{1, 2}}, .dilation = {2}, .ceil_mode = true};
  const ExtremeOptions first{.ties = Ties::first};
  const SmoothMaxOptions smooth{.beta = 2};
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
      {"global_max", std::make_shared<GlobalMaxPool>(2), global_max_pool({.axes = {2, 3}}, first), {2, 3, 4, 5}},
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

  /// Equal to the spec: to the bit, or within the error of exp and log.
  static void expect_same(const Tensor& actual, const Tensor& expected) {
    ASSERT_EQ(actual.shape(), expected.shape());
    if (GetParam().exact) {
      EXPECT_EQ(actual, expected);
      return;
    }
    for (Index i = 0; i < actual.size(); ++i) EXPECT_FLOAT_EQ(actual[i], expected[i]);
  }
};

TEST_P(EveryLayer, AnswersAsTheSpecOfItsPoolForwardAndBackward) {
  const auto& [name, layer, pool, shape, exact] = GetParam();
  const Tensor x = noise(shape, 1), y = by_spec(pool, x), gy = noise(y.shape(), 2), gx = by_spec(pool, x, gy);
  EXPECT_EQ(layer->output_shape(shape), y.shape());
  expect_same(layer->forward(x), y);
  expect_same(layer->backward(gy), gx);
  expect_same(layer->backward(gy), gx);
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
  expect_same(layer->backward(gy), by_spec(pool, x, gy));
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

TEST(Layers, ARefusedForwardLeavesWhatWasKept) {
  MaxPool1D layer(2);
  layer.set_training(true);
  layer.forward(Tensor({1, 1, 4}, {1, 2, 4, 3}));
  refusal([&] { layer.forward(Tensor({1, 1, 1})); }, Code::kernel_exceeds_input);
  EXPECT_EQ(layer.backward(Tensor({1, 1, 2}, {5, 6})), Tensor({1, 1, 4}, {0, 5, 6, 0}));
}

TEST(Layers, TheFirstOfEqualMaximaGetsTheGradient) {
  GlobalMaxPool layer(1);
  layer.set_training(true);
  EXPECT_EQ(layer.forward(Tensor({1, 1, 4}, {1, 7, 7, 2})), Tensor({1, 1}, {7}));
  EXPECT_EQ(layer.backward(Tensor({1, 1}, {3})), Tensor({1, 1, 4}, {0, 3, 0, 0}));
}

TEST(Layers, NamesAreThoseOfTheirClasses) {
  EXPECT_EQ(MaxPool1D(2).name(), "MaxPool1D");
  EXPECT_EQ(AvgPool1D(2).name(), "AvgPool1D");
  EXPECT_EQ(MaxPool2D(2, 2).name(), "MaxPool2D");
  EXPECT_EQ(AvgPool2D(2, 2).name(), "AvgPool2D");
  EXPECT_EQ(MaxPoolND({2, 2, 2}).name(), "MaxPoolND");
  EXPECT_EQ(GlobalAvgPool(2).name(), "GlobalAvgPool");
}

TEST(Layers, ParametersThatFitNoShapeAreRefusedAtOnce) {
  EXPECT_EQ(refusal([] { MaxPool1D(0); }, Code::not_positive), "kernel 0 on axis 2 must be at least 1");
  EXPECT_EQ(refusal([] { AvgPool2D(2, 2, 1, 0); }, Code::not_positive), "stride 0 on axis 3 must be at least 1");
  refusal([] { MaxPool1D(2, -2); }, Code::not_positive);
  refusal([] { MaxPool1D(2, 2, {.dilation = {0}}); }, Code::not_positive);
  refusal([] { MaxPoolND({2, 2}, {2}); }, Code::wrong_count);
  refusal([] { MaxPool2D(2, 2, -1, -1, {.padding = {1}}); }, Code::wrong_count);
  refusal([] { GlobalMaxPool(0); }, Code::nothing_to_pool);
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

TEST(Edges, DropIsTheDefaultAndTheSummarySaysWhatIsLost) {
  const MaxPool2D layer(2, 3);
  EXPECT_EQ(layer.output_shape({1, 2, 5, 8}), (Shape{1, 2, 2, 2}));
  EXPECT_EQ(
      layer.summary({1, 2, 5, 8}),
      "MaxPool2D: [1, 2, 5, 8] -> [1, 2, 2, 2], loses 1 of 5 at the end of axis 2 and 2 of 8 at the end of axis 3 "
      "(32 of 80 elements)");
  EXPECT_EQ(layer.summary({1, 2, 4, 6}), "MaxPool2D: [1, 2, 4, 6] -> [1, 2, 2, 2]");
}

TEST(Edges, ErrorSaysHowManyAreLostAndWhatPaddingKeepsThem) {
  MaxPool1D layer(4, 4, {.edges = Edges::error});
  EXPECT_EQ(refusal(
                [&] {
                  layer.forward(Tensor({1, 1, 10}));
                },
                Code::edges_dropped),
            "kernel 4 on axis 2 with stride 4 loses 2 of 10 elements at the end; 2 more of padding there keeps them");
  EXPECT_EQ(layer.forward(Tensor({1, 1, 8})).shape(), (Shape{1, 1, 2}));
  // What it says is so.
  MaxPool1D padded(4, 4, {.padding = {{0, 2}}, .edges = Edges::error});
  EXPECT_EQ(padded.forward(Tensor({1, 1, 10})).shape(), (Shape{1, 1, 3}));
}

TEST(Edges, CeilKeepsThem) {
  MaxPool1D layer(2, 2, {.edges = Edges::ceil});
  EXPECT_EQ(layer.forward(Tensor({1, 1, 5}, {1, 2, 3, 4, 99})), Tensor({1, 1, 3}, {2, 4, 99}));
  EXPECT_EQ(layer.summary({1, 1, 5}), "MaxPool1D: [1, 1, 5] -> [1, 1, 3]");
}

bool sees(const Axis& axis, Index output, Index cell) {
  const Taps taps = axis.taps(output);
  for (Index tap = 0; tap < taps.count; ++tap)
    if (taps.first + tap * taps.step == cell) return true;
  return false;
}

/// Cells that no window sees and that windows behind the last would, counted by asking every window for every cell.
Index lost_by_hand(const Axis& axis) {
  Index lost = 0;
  for (Index cell = 0; cell < axis.input; ++cell) {
    bool seen = false, could_be = false;
    for (Index output = 0; output < axis.input + axis.lo; ++output)
      (output < axis.output ? seen : could_be) |= sees(axis, output, cell);
    if (!seen && could_be) ++lost;
  }
  return lost;
}

TEST(Edges, LossAndPaddingAgreeWithACountByHand) {
  int losing = 0;
  for (Index length = 1; length < 13; ++length)
    for (Index kernel = 1; kernel < 5; ++kernel)
      for (Index stride = 1; stride < 5; ++stride)
        for (Index dilation = 1; dilation < 4; ++dilation)
          for (Index pad = 0; pad < 3; ++pad) {
            AxisWindow window{.kernel = kernel, .stride = stride, .lo = pad, .hi = pad / 2, .dilation = dilation};
            Axis axis;
            if (windowed_axis(length, window, 0, axis)) continue;
            const Loss loss = axis.loss();
            ASSERT_EQ(loss.cells, lost_by_hand(axis)) << length << ' ' << kernel << ' ' << stride << ' ' << dilation;
            if (loss.cells == 0) continue;
            ++losing;
            Axis padded;
            window.hi += loss.padding;
            ASSERT_FALSE(windowed_axis(length, window, 0, padded));
            EXPECT_EQ(padded.loss().cells, 0);
            window.hi -= 1;
            ASSERT_FALSE(windowed_axis(length, window, 0, padded));
            EXPECT_GT(padded.loss().cells, 0) << "less padding would do";
          }
  EXPECT_GT(losing, 100);
}

}  // namespace
}  // namespace ndpool::nn
