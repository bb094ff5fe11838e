// What layers keep between forward and backward, and what can happen in between: other shapes, failures, moves, copies,
// empty batches, ties, NaN and windows of any size.
#include "support/layers.hpp"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace ndpool::nn {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class Layer>
Layer in_training(Layer layer) {
  layer.set_training(true);
  return layer;
}

TEST(GlobalMaxPool, EveryMaximumGetsTheFullGradientUnlessToldOtherwise) {
  const Tensor x({1, 2, 4}, {1, 7, 7, 2, nan, 9, nan, 9}), gy({1, 2}, {6, -4});
  const auto gradient = [&](GlobalMaxPool layer) {
    layer.set_training(true);
    EXPECT_EQ(layer.forward(x)[0], 7);
    return layer.backward(gy);
  };
  EXPECT_EQ(gradient(GlobalMaxPool(1)), Tensor({1, 2, 4}, {0, 6, 6, 0, -4, 0, -4, 0}));
  EXPECT_EQ(gradient(GlobalMaxPool(1, false, Ties::all)), Tensor({1, 2, 4}, {0, 6, 6, 0, -4, 0, -4, 0}));
  EXPECT_EQ(gradient(GlobalMaxPool(1, false, Ties::first)), Tensor({1, 2, 4}, {0, 6, 0, 0, -4, 0, 0, 0}));
  EXPECT_EQ(gradient(GlobalMaxPool(1, false, Ties::split)), Tensor({1, 2, 4}, {0, 3, 3, 0, -2, 0, -2, 0}));
}

TEST(GlobalMaxPool, KeepsABitPerElementOrOneWinnerPerOutput) {
  const auto kept = [](Ties ties, const Shape& shape) {
    GlobalMaxPool layer = in_training(GlobalMaxPool(shape.size() - 2, false, ties));
    layer.forward(noise(shape, 1));
    return layer.kept_bytes();
  };
  EXPECT_EQ(kept(Ties::all, {2, 3, 4, 5}), (2U * 3 * 20 + 7) / 8);
  EXPECT_EQ(kept(Ties::split, {2, 3, 5}), (2U * 3 * 5 + 7) / 8);
  EXPECT_EQ(kept(Ties::first, {2, 3, 255}), 2U * 3);
  EXPECT_EQ(kept(Ties::first, {2, 3, 16, 16}), 2U * 3 * 2);
  EXPECT_EQ(kept(Ties::first, {1, 1, 65536}), 4U);
}

TEST(GlobalMaxPool, IsBitIdenticalToThePoolOnTiesNansAndZeros) {
  for (const Ties ties : {Ties::all, Ties::first, Ties::split}) {
    const Pool pool = global_max_pool({.axes = {2, 3}}, {.ties = ties});
    GlobalMaxPool layer = in_training(GlobalMaxPool(2, false, ties));
    for (unsigned seed = 0; seed < 200; ++seed) {
      Tensor x = noise({2, 2, 3, 3}, seed);
      for (float& value : x) value = static_cast<float>(static_cast<int>(value) / 8);  // -4 .. 4
      for (float& value : x)
        if (value == 0 && seed % 3 == 1) value = -0.0F;
      if (seed % 4 == 0) x[static_cast<Index>(seed) % x.size()] = nan;
      if (seed % 5 == 0) x = Tensor(x.shape(), -std::numeric_limits<float>::infinity());
      Tensor gy = noise({2, 2}, seed + 1000);
      if (seed % 7 == 0) gy[0] = -0.0F;
      layer.forward(x);
      const Tensor gx = layer.backward(gy), expected = by_spec(pool, x, gy);
      EXPECT_TRUE(std::equal(gx.begin(), gx.end(), expected.begin(), [](float a, float b) {
        return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
      })) << seed;
    }
  }
}

TEST(Mask, IsThePositionOfEachMaximum) {
  MaxPool1D line = in_training(MaxPool1D(2));
  line.forward(Tensor({2, 1, 4}, {1, 3, 5, 2, 9, 1, 1, 8}));
  EXPECT_EQ(line.mask(), IndexTensor({2, 1, 2}, {1, 2, 0, 3}));
  EXPECT_EQ(line.kept_bytes(), 4U);
  MaxPool2D image = in_training(MaxPool2D(2, 2));
  image.forward(Tensor({1, 1, 2, 4}, {1, 2, 3, 9, 4, 8, 5, 6}));
  EXPECT_EQ(image.mask(), IndexTensor({1, 1, 1, 2 * 2}, {1, 1, 0, 3}));
  EXPECT_EQ(image.kept_bytes(), 2U);
}

TEST(Mask, AgreesWithTheIndicesOfThePool) {
  const WindowOptions options{.padding = {{1, 2}, {2, 1}}, .dilation = {2, 1}, .edges = Edges::ceil};
  const Window window{
      .kernel = {3, 4}, .stride = {2, 3}, .padding = {{1, 2}, {2, 1}}, .dilation = {2, 1}, .ceil_mode = true};
  const auto compare = [](MaxLayer& layer, const Pool& pool, const Shape& shape) {
    Tensor x = noise(shape, 3);
    for (float& value : x) value = static_cast<float>(static_cast<int>(value) / 4);
    x[5] = nan;
    layer.set_training(true);
    const Tensor y = layer.forward(x);
    const Geometry geometry = pool.geometry(shape);
    IndexTensor flat(y.shape());
    Tensor values(y.shape());
    pool.without_kernels().forward(view(x.data(), x.shape()), view(values.data(), y.shape()),
                                   view(flat.data(), y.shape()));
    const IndexTensor mask = layer.mask();
    Shape expected_shape = y.shape();
    expected_shape[expected_shape.size() - 1] *= shape.size() - 2;
    ASSERT_EQ(mask.shape(), expected_shape);
    Index number = 0, entry = 0;
    spec::for_each_position(geometry.output_shape(), [&](const Shape& output) {
      const Shape cell = geometry.cell_from_flat(output, flat[number++]);
      for (int a = 2; a < shape.size(); ++a) ASSERT_EQ(mask[entry++], cell[a]) << layer.name() << ' ' << number;
    });
    EXPECT_EQ(entry, mask.size());
  };
  MaxPoolND windows({3, 4}, {2, 3}, options);
  compare(windows, max_pool(window), {2, 3, 9, 10});
  MaxPool1D many(300, 7);
  compare(many, max_pool({.kernel = {300}, .stride = {7}}), {1, 2, 900});
  AdaptiveMaxPoolND bins({3, 4, 2});
  compare(bins, adaptive_max_pool({.output_size = {3, 4, 2}}), {2, 2, 7, 9, 3});
  for (const Ties ties : {Ties::all, Ties::first, Ties::split})
    for (const bool keepdims : {false, true}) {
      GlobalMaxPool global(2, keepdims, ties);
      compare(global, global_max_pool({.axes = {2, 3}, .keepdims = keepdims}, {.ties = ties}), {2, 3, 4, 5});
    }
}

TEST(Mask, NeedsAForwardInTrainingMode) {
  const std::string sentence = "mask has no winners: it needs a forward in training mode before it";
  MaxPool1D layer(2);
  EXPECT_EQ(refusal([&] { layer.mask(); }, Code::nothing_kept), sentence);
  layer.forward(Tensor({1, 1, 4}));
  EXPECT_EQ(refusal([&] { layer.mask(); }, Code::nothing_kept), sentence);
  layer.set_training(true);
  EXPECT_EQ(refusal([&] { layer.mask(); }, Code::nothing_kept), sentence);
  layer.forward(Tensor({1, 1, 4}));
  EXPECT_EQ(layer.mask().size(), 2);
  layer.set_training(false);
  EXPECT_EQ(refusal([&] { layer.mask(); }, Code::nothing_kept), sentence);
}

TEST(LayerState, FailedForwardKeepsSavedIndices) {
  MaxPool1D layer = in_training(MaxPool1D(2));
  layer.forward(Tensor({1, 1, 4}, {1, 2, 4, 3}));
  refusal([&] { layer.forward(Tensor({1, 1, 1})); }, Code::kernel_exceeds_input);
  refusal([&] { layer.forward(Tensor({1, 4})); }, Code::rank_mismatch);
  refusal([&] { layer.forward(Tensor()); }, Code::rank_mismatch);
  EXPECT_EQ(layer.backward(Tensor({1, 1, 2}, {5, 6})), Tensor({1, 1, 4}, {0, 5, 6, 0}));
  EXPECT_EQ(layer.mask(), IndexTensor({1, 1, 2}, {1, 2}));
}

TEST(LayerState, MovedLayersTakeWhatIsKeptAndLeaveAUsableLayer) {
  const auto check = [](auto from, const Tensor& x, const Tensor& gy) {
    from.set_training(true);
    from.forward(x);
    const Tensor expected = from.backward(gy);
    auto to = std::move(from);
    EXPECT_EQ(to.backward(gy), expected);
    EXPECT_EQ(to.name(), from.name());
    EXPECT_EQ(from.kept_bytes(), 0U);
    refusal([&] { from.backward(gy); }, Code::nothing_kept);
    from.forward(x);
    EXPECT_EQ(from.backward(gy), expected);
    from = std::move(to);
    EXPECT_EQ(from.backward(gy), expected);
    refusal([&] { to.backward(gy); }, Code::nothing_kept);
    auto copy = from;
    EXPECT_EQ(copy.backward(gy), expected);
    EXPECT_EQ(from.backward(gy), expected);
  };
  const Tensor x = noise({2, 2, 6}, 9), gy = noise({2, 2, 3}, 10);
  check(MaxPool1D(2), x, gy);
  check(AvgPool1D(2), x, gy);
  check(SmoothMaxPoolND({2}), x, gy);
  check(AdaptiveMaxPoolND({3}), x, gy);
  check(GlobalMaxPool(1), x, noise({2, 2}, 11));
  check(GlobalMaxPool(1, false, Ties::first), x, noise({2, 2}, 11));
  MaxPool1D moved = in_training(MaxPool1D(2));
  moved.forward(x);
  MaxPool1D other = std::move(moved);
  refusal([&] { moved.mask(); }, Code::nothing_kept);
  EXPECT_EQ(other.mask().shape(), (Shape{2, 2, 3}));
  MaxPool1D& itself = other;
  other = std::move(itself);
  refusal([&] { other.mask(); }, Code::nothing_kept);
  refusal([&] { other.backward(gy); }, Code::nothing_kept);
}

TEST(LayerState, MovedTensorsAreEmpty) {
  Tensor x({1, 1, 4}, {1, 2, 3, 4});
  const Tensor taken = std::move(x);
  EXPECT_EQ(taken.size(), 4);
  EXPECT_EQ(x, Tensor());
  refusal([&] { MaxPool1D(2).forward(x); }, Code::rank_mismatch);
  x = Tensor({1, 1, 2}, {5, 6});
  EXPECT_EQ(MaxPool1D(2).forward(x), Tensor({1, 1, 1}, {6}));
}

TEST(LayerState, EmptyBatchesGoThereAndBack) {
  const auto check = [](PoolLayer& layer, const Shape& shape) {
    layer.set_training(true);
    const Tensor y = layer.forward(Tensor(shape));
    EXPECT_EQ(y.size(), 0) << layer.name();
    EXPECT_EQ(y.shape(), layer.output_shape(shape));
    EXPECT_EQ(layer.backward(Tensor(y.shape())), Tensor(shape)) << layer.name();
    if (const auto* max = dynamic_cast<const MaxLayer*>(&layer)) {
      EXPECT_EQ(max->mask().size(), 0) << layer.name();
    }
    layer.set_training(false);
    EXPECT_EQ(layer.forward(Tensor(shape)), y);
  };
  MaxPool1D max(2);
  AvgPool1D average(2);
  SmoothMaxPoolND smooth({2});
  AdaptiveMaxPoolND bins({2});
  AdaptiveAvgPoolND average_bins({2});
  GlobalMaxPool all(1), first(1, true, Ties::first), split(1, false, Ties::split);
  GlobalAvgPool global(1);
  for (PoolLayer* layer :
       std::vector<PoolLayer*>{&max, &average, &smooth, &bins, &average_bins, &all, &first, &split, &global})
    for (const Shape& shape : {Shape{0, 3, 4}, Shape{3, 0, 4}}) check(*layer, shape);
  refusal([&] { max.forward(Tensor({1, 1, 0})); }, Code::zero_length);
  refusal([&] { all.forward(Tensor({1, 1, 0})); }, Code::zero_length);
}

TEST(LayerState, ModesAndShapesInAnyOrder) {
  MaxPool1D layer(2);
  const Tensor small({1, 1, 4}, {1, 2, 4, 3}), gy({1, 1, 2}, {5, 6});
  layer.set_training(true);
  layer.forward(small);
  layer.set_training(false);
  layer.forward(small);
  refusal([&] { layer.backward(gy); }, Code::nothing_kept);
  layer.set_training(true);
  refusal([&] { layer.backward(gy); }, Code::nothing_kept);
  layer.forward(noise({3, 2, 9}, 1));
  refusal([&] { layer.backward(gy); }, Code::shape_mismatch);
  layer.forward(small);
  EXPECT_EQ(layer.backward(gy), Tensor({1, 1, 4}, {0, 5, 6, 0}));
  layer.set_training(true);  // again: nothing is forgotten
  EXPECT_EQ(layer.backward(gy), Tensor({1, 1, 4}, {0, 5, 6, 0}));
  layer.output_shape({7, 7, 7});
  layer.summary({7, 7, 7});
  EXPECT_EQ(layer.backward(gy), Tensor({1, 1, 4}, {0, 5, 6, 0}));
}

TEST(LayerState, WindowsWithMoreTapsThanFourBytesCount) {
  // Nearly all of the 2^33 taps are padding.
  const Index half = Index{1} << 32;
  MaxPoolND layer({2 * half}, {1}, {.padding = {half}});
  layer.set_training(true);
  EXPECT_EQ(layer.forward(Tensor({1, 1, 3}, {1, 5, 2})), Tensor({1, 1, 4}, {5, 5, 5, 5}));
  EXPECT_EQ(layer.kept_bytes(), 4 * sizeof(Index));
  EXPECT_EQ(layer.mask(), IndexTensor({1, 1, 4}, {1, 1, 1, 1}));
  EXPECT_EQ(layer.backward(Tensor({1, 1, 4}, {1, 2, 3, 4})), Tensor({1, 1, 3}, {0, 10, 0}));
}

TEST(Layers, ParametersThatFitNoShapeAreRefusedAtOnce) {
  EXPECT_EQ(refusal([] { MaxPool1D(0); }, Code::not_positive), "kernel 0 on axis 2 must be at least 1");
  EXPECT_EQ(refusal([] { AvgPool2D(2, 2, 1, 0); }, Code::not_positive), "stride 0 on axis 3 must be at least 1");
  refusal([] { MaxPool1D(2, -2); }, Code::not_positive);
  refusal([] { MaxPool1D(2, 2, {.dilation = {0}}); }, Code::not_positive);
  refusal([] { MaxPoolND({2, 2}, {2}); }, Code::wrong_count);
  refusal([] { MaxPool2D(2, 2, -1, -1, {.padding = {1}}); }, Code::wrong_count);
  refusal([] { GlobalMaxPool(0); }, Code::nothing_to_pool);
  refusal([] { MaxPoolND({}); }, Code::nothing_to_pool);
  refusal([] { AdaptiveMaxPoolND({3, 0}); }, Code::not_positive);
  refusal([] { AdaptiveAvgPoolND({}); }, Code::nothing_to_pool);
  refusal([] { AvgPool1D(2, 2, {}, {.divisor = 0}); }, Code::zero_divisor);
  refusal([] { SmoothMaxPoolND({2}, {}, {}, {.beta = 0}); }, Code::beta_not_usable);
  refusal([] { SmoothMaxPoolND({2}, {}, {}, {.beta = std::numeric_limits<double>::quiet_NaN()}); },
          Code::beta_not_usable);
}

TEST(Layers, MoreAxesThanAnArrayCanHaveAreRefused) {
  const Shape many = Shape::filled(max_rank + 6, -1);
  refusal([&] { MaxPoolND(many, many); }, Code::rank_too_large);
  refusal([&] { MaxPoolND(Shape::filled(max_rank - 1, 1)); }, Code::rank_too_large);
  refusal([&] { AdaptiveMaxPoolND(Shape::filled(max_rank - 1, 1)); }, Code::rank_too_large);
  refusal([] { GlobalAvgPool(std::numeric_limits<int>::max()); }, Code::rank_too_large);
  refusal([] { GlobalMaxPool(max_rank - 1); }, Code::rank_too_large);
  GlobalMaxPool most(max_rank - 2);
  EXPECT_EQ(most.forward(Tensor(Shape::filled(max_rank, 1), 3)), Tensor({1, 1}, 3));
}

}  // namespace
}  // namespace ndpool::nn
