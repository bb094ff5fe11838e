// Static layers against the reference, on the cases that the firmware runs too (embedded/cases.hpp), and against
// literals.
#include "../embedded/cases.hpp"
#include "support/array.hpp"
#include "support/problem.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace embedded {
namespace {

using ndpool::Index;
using ndpool::testing::Array;
using ndpool::testing::Problem;

/// The bits of two arrays of equal length: NaN equals NaN, and 0 is not -0.
template <class T>
bool same_bits(const T* a, const T* b, Index count) {
  return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(T)) == 0;
}

template <class T, class Tensor>
Array<T> array_of(const Tensor& tensor, const ndpool::Shape& shape) {
  return Array<T>(shape, {tensor.begin(), tensor.end()});
}

/// The mask, and the tap numbers where they are kept, against the indices of the reference.
template <class Layer, class Scalar>
void expect_winners(const Problem& problem, const Array<Scalar>& x, const Results<Layer>& results, const char* name) {
  const ndpool::Geometry geometry = problem.pool.geometry(problem.shape);
  Array<Index> flat(problem.pool.output_shape(problem.shape));
  Array<Scalar> values(flat.shape());
  problem.pool.without_kernels().forward(x.view(), values.view(), flat.view());
  Index number = 0;
  const auto* position = results.mask.begin();
  ndpool::spec::for_each_position(geometry.output_shape(), [&](const ndpool::Shape& output) {
    const ndpool::Shape cell = geometry.cell_from_flat(output, flat[number]);
    for (int a = 2; a < geometry.rank; ++a) ASSERT_EQ(*position++, cell[a]) << name << " mask of output " << number;
    if constexpr (std::same_as<typename Layer::Memory::ShapeType, typename Layer::OutputShape>) {
      ASSERT_EQ(results.memory.data[number], geometry.tap_from_flat(output, flat[number]) + 1) << name << " winner";
    }
    ++number;
  });
  EXPECT_EQ(position, results.mask.end()) << name;
}

TEST(Tiny, EveryCaseHasTheBitsOfTheSpec) {
  std::set<std::string> names;
  int with_problem = 0;
  for_each_case([&]<class Layer>(const char* name, const char* line) {
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
    if (*line == '\0') return;
    ++with_problem;
    const Problem problem = ndpool::testing::parse_problem(line);
    static Results<Layer> results;
    EXPECT_TRUE(results.run()) << name << " has an empty mask";
    const auto x = array_of<typename Layer::Input::Scalar>(results.x, problem.shape);
    const auto y = forward(problem.pool.without_kernels(), x);
    ASSERT_EQ(y.size(), results.y.size()) << name;
    EXPECT_TRUE(same_bits(y.begin(), results.y.begin(), y.size())) << name << " forward: " << y;
    if constexpr (results.trains) {
      // Gradients of integers are those of the same numbers as floats.
      const auto real = array_of<float>(results.x, problem.shape);
      const auto gx = vjp(problem.pool.without_kernels(), real, array_of<float>(results.gy, y.shape()));
      EXPECT_TRUE(same_bits(gx.begin(), results.gx.begin(), gx.size())) << name << " backward: " << gx;
      typename Layer::Output inferred;
      Layer::forward(results.x, inferred);
      EXPECT_TRUE(same_bits(y.begin(), inferred.begin(), y.size())) << name << " without memory";
    }
    if constexpr (results.trains && results.is_max) expect_winners<Layer>(problem, x, results, name);
  });
  EXPECT_GT(with_problem, 35);
}

TEST(Tiny, MaxKeepsOneBytePerOutputAndAverageNothing) {
  EXPECT_EQ(sizeof(MaxPool1D<Shape<2, 3, 8>, 2, -1, training>::Memory), 2 * 3 * 4);
  EXPECT_EQ(sizeof(MaxPool2D<Shape<2, 3, 8, 6>, 2, 2, -1, -1, training>::Memory), 2 * 3 * 4 * 3);
  EXPECT_EQ(sizeof(MaxPool1D<Shape<1, 1, 512>, 256, -1, training>::Memory), 2 * 2);
  EXPECT_TRUE((std::is_empty_v<AvgPool1D<Shape<2, 3, 8>, 2, -1, training>::Memory>));
  EXPECT_TRUE((std::is_empty_v<MaxPool1D<Shape<2, 3, 8>, 2>>));
}

TEST(Tiny, GlobalMaxKeepsABitPerElementOrOneWinner) {
  static_assert(sizeof(GlobalMaxPool<Shape<2, 3, 5, 6>, training>::Memory) == 180 / 8 + 1);
  static_assert(sizeof(GlobalMaxPool<Shape<2, 3, 5, 6>, ties_split>::Memory) == 180 / 8 + 1);
  static_assert(sizeof(GlobalMaxPool<Shape<1, 1, 64>, training>::Memory) == 8);
  static_assert(sizeof(GlobalMaxPool<Shape<2, 3, 255>, ties_first>::Memory) == 2 * 3);
  static_assert(sizeof(GlobalMaxPool<Shape<2, 3, 256>, ties_first>::Memory) == 2 * 3 * 2);
  static_assert(sizeof(GlobalMaxPool<Shape<2, 3, 256, 256>, ties_first>::Memory) == 2 * 3 * 4);
}

template <class Layer>
typename Layer::Input gradient_of(const typename Layer::Input& x, const typename Layer::Output& gy) {
  typename Layer::Input gx;
  typename Layer::Output y;
  typename Layer::Memory memory;
  Layer::forward(x, y, memory);
  Layer::backward(memory, gy, gx);
  return gx;
}

TEST(Tiny, GlobalMaxGivesEveryMaximumTheFullGradientUnlessToldOtherwise) {
  using In = Shape<1, 2, 4>;
  using X = Tensor<float, In>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const X x{{1, 7, 7, 2, nan, 9, nan, 9}};
  const Tensor<float, Shape<1, 2>> gy{{6, -4}};
  EXPECT_EQ((gradient_of<GlobalMaxPool<In, training>>(x, gy)), (X{{0, 6, 6, 0, -4, 0, -4, 0}}));
  EXPECT_EQ((gradient_of<GlobalMaxPool<In, ties_first>>(x, gy)), (X{{0, 6, 0, 0, -4, 0, 0, 0}}));
  EXPECT_EQ((gradient_of<GlobalMaxPool<In, ties_split>>(x, gy)), (X{{0, 3, 3, 0, -2, 0, -2, 0}}));
}

template <class Layer>
typename Layer::Mask mask_of(const typename Layer::Input& x) {
  typename Layer::Output y;
  typename Layer::Memory memory;
  typename Layer::Mask mask;
  Layer::forward(x, y, memory);
  EXPECT_TRUE(Layer::mask(memory, mask));
  return mask;
}

TEST(Tiny, MaskIsThePositionOfEachMaximum) {
  using Line = MaxPool1D<Shape<2, 1, 4>, 2, -1, training>;
  static_assert(std::same_as<Line::Mask::ShapeType, Shape<2, 1, 2>>);
  EXPECT_EQ(mask_of<Line>({{1, 3, 5, 2, 9, 1, 1, 8}}), (Line::Mask{{1, 2, 0, 3}}));
  using Image = MaxPool2D<Shape<1, 1, 2, 4>, 2, 2, -1, -1, training>;
  static_assert(std::same_as<Image::Mask::ShapeType, Shape<1, 1, 1, 2 * 2>>);
  EXPECT_EQ(mask_of<Image>({{1, 2, 3, 9, 4, 8, 5, 6}}), (Image::Mask{{1, 1, 0, 3}}));
  static_assert(std::same_as<GlobalMaxPool<Shape<2, 3, 5, 6>, training>::Mask::ShapeType, Shape<2, 3 * 2>>);
  static_assert(sizeof(MaxPool1D<Shape<1, 1, 65536>, 2, -1, training>::Mask) == 32768 * 4);
  static_assert(sizeof(MaxPool1D<Shape<1, 1, 65535>, 2, -1, training>::Mask) == 32767 * 2);
}

TEST(Tiny, MemoryThatNoForwardFilledHasNoWinners) {
  const auto expect_nothing = []<class Layer>(std::type_identity<Layer>) {
    const typename Layer::Memory empty;
    typename Layer::Mask mask;
    EXPECT_FALSE(Layer::mask(empty, mask));
    for (const auto position : mask) EXPECT_EQ(position, 0xFFFF);
    // Guards on both sides: tap 0 of the first window is on padding, before the array.
    struct {
      float before[8] = {};
      typename Layer::InputGradient gx;
      float after[8] = {};
    } guarded;
    for (float& cell : guarded.gx) cell = 1;
    typename Layer::OutputGradient gy;
    for (float& g : gy) g = 5;
    Layer::backward(empty, gy, guarded.gx);
    for (const float cell : guarded.gx) EXPECT_EQ(cell, 0);
    for (const float guard : guarded.before) EXPECT_EQ(guard, 0);
  };
  expect_nothing(std::type_identity<MaxPoolND<Shape<1, 1, 4>, Window<Kernel<3>, Stride<1>, Padding<1>>, training>>{});
  expect_nothing(std::type_identity<MaxPoolND<Shape<1, 2, 7, 8>, Same3, training>>{});
  expect_nothing(std::type_identity<GlobalMaxPool<Shape<1, 2, 4>, training>>{});
  expect_nothing(std::type_identity<GlobalMaxPool<Shape<1, 2, 4>, ties_split>>{});
  expect_nothing(std::type_identity<GlobalMaxPool<Shape<1, 2, 4>, training, std::int8_t>>{});
}

TEST(Tiny, LayersWorkInConstantExpressions) {
  using Pool = MaxPool1D<Shape<1, 1, 4>, 2, -1, training>;
  constexpr auto gradient = [] {
    Pool::Input x{{1, 4, 3, 3}}, gx;
    Pool::Output y, gy{{5, 7}};
    Pool::Memory memory;
    Pool::forward(x, y, memory);
    Pool::backward(memory, gy, gx);
    return gx;
  }();
  static_assert(gradient == Pool::Input{{0, 5, 7, 0}});
  EXPECT_EQ(gradient.data[1], 5);
}

template <class Layer>
typename Layer::Output pooled(const typename Layer::Input& x) {
  typename Layer::Output y;
  Layer::forward(x, y);
  return y;
}

TEST(Quantised, AveragesRoundHalfAwayFromZero) {
  using Pool = AvgPool1D<Shape<1, 1, 8>, 2, -1, quantised(0), std::int8_t>;
  EXPECT_EQ(pooled<Pool>({{1, 2, -1, -2, 127, 127, -128, -127}}), (Pool::Output{{2, -2, 127, -128}}));
}

TEST(Quantised, RoundingIsOfTheStoredNumbersWhateverTheZeroPoint) {
  // 4 and 5 stand for 4 - z and 5 - z; TensorFlow Lite rounds 4.5 to 5 for every z, and so does this.
  EXPECT_EQ((pooled<AvgPool1D<Shape<1, 1, 2>, 2, -1, quantised(9), std::int8_t>>({{4, 5}}).data[0]), 5);
  EXPECT_EQ((pooled<AvgPool1D<Shape<1, 1, 2>, 2, -1, quantised(-9), std::int8_t>>({{4, 5}}).data[0]), 5);
}

TEST(Quantised, PaddingIsNotCountedUnlessAskedFor) {
  using W = Window<Kernel<2>, Stride<2>, Padding<1>>;
  using Excluding = AvgPoolND<Shape<1, 1, 2>, W, quantised(10), std::int8_t>;
  EXPECT_EQ(pooled<Excluding>({{20, 40}}), (Excluding::Output{{20, 40}}));
  // A padded cell is the number 0, which is stored as 10: (10 + 20) / 2 and (40 + 10) / 2.
  using Including = AvgPoolND<Shape<1, 1, 2>, W, Settings{.zero_point = 10}, std::int8_t>;
  EXPECT_EQ(pooled<Including>({{20, 40}}), (Including::Output{{15, 25}}));
}

TEST(Quantised, PaddedCellsHoldTheZeroPoint) {
  // The same average of an array that has its padding written out.
  using Padded = AvgPoolND<Shape<1, 2, 7, 8>, Same3, counting_zeros, std::int8_t>;
  using Plain = AvgPoolND<Shape<1, 2, 9, 10>, Window<Kernel<3, 3>, Stride<2, 2>>, counting_zeros, std::int8_t>;
  Padded::Input x;
  fill(x.data, x.size(), 3);
  Plain::Input written;
  for (std::int8_t& cell : written) cell = counting_zeros.zero_point;
  for (int c = 0; c < 2; ++c)
    for (int h = 0; h < 7; ++h)
      for (int w = 0; w < 8; ++w) written(0, c, h + 1, w + 1) = x(0, c, h, w);
  EXPECT_EQ(pooled<Padded>(x), pooled<Plain>(written));
}

TEST(Quantised, MaxOfIntegersIgnoresPadding) {
  using Pool = MaxPoolND<Shape<1, 1, 2>, Window<Kernel<2>, Padding<1>>, inference, std::int8_t>;
  EXPECT_EQ(pooled<Pool>({{-100, -128}}), (Pool::Output{{-100, -128}}));
}

}  // namespace
}  // namespace embedded
