// Every kernel against the reference, on every instruction set this machine has.
#include "support/kernels.hpp"
#include "plan/kernel_plan.hpp"
#include "support/placed.hpp"
#include "support/sweep.hpp"

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

namespace ndpool::testing {

bool has_kernels(const std::string& line) { return !is_transcendental(line); }

template <class T>
class KernelScalar : public ::testing::Test {};
#define NDPOOL_ROW(name, type) type,
using KernelScalars = ::testing::Types<NDPOOL_SCALARS(NDPOOL_ROW) float>;
#undef NDPOOL_ROW
TYPED_TEST_SUITE(KernelScalar, KernelScalars);

TYPED_TEST(KernelScalar, ForwardEqualsTheSpecBitForBitOnEveryTarget) {
  int with_kernels = 0;
  for (const std::string& target : targets()) {
    SCOPED_TRACE("target " + target);
    const ForcedTarget forced(target);
    sweep(has_kernels, [&](const Problem& problem, std::mt19937_64& random) {
      const Array<TypeParam> x = awkward_numbers<TypeParam>(problem.shape, random);
      const Array<TypeParam> expected = forward(problem.pool.without_kernels(), x), y = forward(problem.pool, x);
      with_kernels +=
          problem.pool.plan<TypeParam>(problem.shape).implementation(MapKind::forward) != "reference" ? 1 : 0;
      for (Index i = 0; i < y.size(); ++i)
        ASSERT_TRUE(same(y[i], expected[i])) << "output " << i << ": " << +y[i] << " instead of " << +expected[i];
    });
  }
  EXPECT_GE(with_kernels, 1000);
}

/// Runs check(problem, random) for the wanted problems on every target.
template <class Wanted, class Check>
void sweep_targets(Wanted wanted, Check check) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE("target " + target);
    const ForcedTarget forced(target);
    sweep(wanted, check);
  }
}

TYPED_TEST(KernelScalar, IndicesEqualTheSpecOnEveryTarget) {
  sweep_targets(has_winners, [](const Problem& problem, std::mt19937_64& random) {
    const Array<TypeParam> x = awkward_numbers<TypeParam>(problem.shape, random);
    const Pool by_spec = problem.pool.without_kernels();
    Array<TypeParam> y(problem.pool.output_shape(problem.shape)), expected_y(y.shape());
    Array<Index> found(y.shape()), expected(y.shape());
    problem.pool.forward(x.view(), y.view(), found.view());
    by_spec.forward(x.view(), expected_y.view(), expected.view());
    EXPECT_EQ(found, expected);
    for (Index i = 0; i < y.size(); ++i) ASSERT_TRUE(same(y[i], expected_y[i])) << "output " << i;
  });
}

TYPED_TEST(KernelScalar, LongRowsEqualTheSpecOnEveryTarget) {
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const auto& [name, line] : read_cases("long_rows.txt")) {
      SCOPED_TRACE("target " + target + ", problem: " + line);
      std::mt19937_64 random(seed());
      const Problem problem = parse_problem(line);
      const Array<TypeParam> x = awkward_numbers<TypeParam>(problem.shape, random);
      const Array<TypeParam> expected = forward(problem.pool.without_kernels(), x), y = forward(problem.pool, x);
      for (Index i = 0; i < y.size(); ++i) ASSERT_TRUE(same(y[i], expected[i])) << "output " << i;
      if (!has_winners(line)) continue;
      EXPECT_EQ(indices(problem.pool, x), indices(problem.pool.without_kernels(), x));
    }
  }
}

template <class T>
class KernelFloat : public ::testing::Test {};
using KernelFloats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelFloat, KernelFloats);

/// Whole numbers have exact sums, so that the order in which gradients are added does not matter.
template <class T>
Array<T> whole_numbers(const Shape& shape, std::mt19937_64& random) {
  Array<T> values(shape);
  for (T& value : values) value = static_cast<T>(std::uniform_int_distribution<int>(-9, 9)(random));
  return values;
}

TYPED_TEST(KernelFloat, JvpEqualsTheSpecBitForBitOnEveryTarget) {
  sweep_targets(has_kernels, [](const Problem& problem, std::mt19937_64& random) {
    const Array<TypeParam> x = awkward_numbers<TypeParam>(problem.shape, random);
    const Array<TypeParam> dx = awkward_numbers<TypeParam>(problem.shape, random);
    const Array<TypeParam> dy = jvp(problem.pool, x, dx), expected = jvp(problem.pool.without_kernels(), x, dx);
    for (Index i = 0; i < dy.size(); ++i)
      ASSERT_TRUE(same(dy[i], expected[i])) << "output " << i << ": " << dy[i] << " instead of " << expected[i];
  });
}

TYPED_TEST(KernelFloat, VjpEqualsTheSpecOnEveryTarget) {
  sweep_targets(has_kernels, [](const Problem& problem, std::mt19937_64& random) {
    const Array<TypeParam> x = awkward_numbers<TypeParam>(problem.shape, random);
    const Array<TypeParam> gy = whole_numbers<TypeParam>(problem.pool.output_shape(problem.shape), random);
    const Array<TypeParam> gx = vjp(problem.pool, x, gy), expected = vjp(problem.pool.without_kernels(), x, gy);
    // Shares of averages are rounded, so their sums depend on the order: one unit in the last place for each window.
    const Index windows = problem.pool.geometry(problem.shape).tap_count();
    const TypeParam bound = 9 * static_cast<TypeParam>(windows) * std::numeric_limits<TypeParam>::epsilon();
    for (Index i = 0; i < gx.size(); ++i)
      ASSERT_LE(std::abs(gx[i] - expected[i]), bound * (1 + std::abs(expected[i]))) << "cell " << i;
  });
}

TYPED_TEST(KernelFloat, StridedArraysGiveWhatPackedOnesGive) {
  sweep(has_kernels, [](const Problem& problem, std::mt19937_64& random) {
    const Array<TypeParam> x = whole_numbers<TypeParam>(problem.shape, random);
    const Array<TypeParam> y = forward(problem.pool, x);
    const Array<TypeParam> dy = jvp(problem.pool, x, x), gx = vjp(problem.pool, x, y);
    const auto any = [&](const Shape& shape) { return draw_layout(shape, random, false); };
    const Placed<TypeParam> strided_x(x, any(x.shape())), strided_gy(y, any(y.shape()));
    const Placed<TypeParam> strided_y(y.shape(), any(y.shape())), strided_dy(y.shape(), any(y.shape()));
    const Placed<TypeParam> strided_gx(x.shape(), any(x.shape()));
    problem.pool.forward(strided_x.view, strided_y.view);
    problem.pool.jvp(strided_x.view, strided_x.view, strided_dy.view);
    problem.pool.vjp(strided_x.view, strided_gy.view, strided_gx.view);
    EXPECT_EQ(strided_y.packed(), y);
    EXPECT_EQ(strided_dy.packed(), dy);
    EXPECT_EQ(strided_gx.packed(), gx);
  });
}

/// Indices of some kind for a problem, with a few of them none.
template <class I, class T>
Array<I> some_indices(const Problem& problem, const Array<T>& x, std::mt19937_64& random) {
  Array<T> y(problem.pool.output_shape(problem.shape));
  Array<I> indices(y.shape());
  problem.pool.without_kernels().forward(x.view(), y.view(), indices.view());
  for (I& index : indices)
    if (random() % 9 == 0) index = static_cast<I>(-1);
  return indices;
}

template <class T, class I>
void check_maps_by_indices(const Problem& problem, std::mt19937_64& random) {
  if (!std::is_signed_v<I> && spec::compact_bytes(problem.pool.geometry(problem.shape)) > static_cast<int>(sizeof(I)))
    return;
  const Array<T> x = awkward_numbers<T>(problem.shape, random);
  const Array<I> indices = some_indices<I>(problem, x, random);
  const Array<T> gy = awkward_numbers<T>(indices.shape(), random);
  Array<T> dy(gy.shape(), T(77)), expected_dy(gy.shape()), gx(x.shape(), T(77)), expected_gx(x.shape());
  problem.pool.without_kernels().jvp_from_indices(indices.view(), x.view(), expected_dy.view());
  problem.pool.without_kernels().vjp_from_indices(indices.view(), gy.view(), expected_gx.view());
  problem.pool.jvp_from_indices(indices.view(), x.view(), dy.view());
  problem.pool.vjp_from_indices(indices.view(), gy.view(), gx.view());
  for (Index i = 0; i < dy.size(); ++i) ASSERT_TRUE(same(dy[i], expected_dy[i])) << "output " << i;
  for (Index i = 0; i < gx.size(); ++i)
    ASSERT_TRUE(same(gx[i], expected_gx[i])) << "cell " << i << ": " << gx[i] << " instead of " << expected_gx[i];

  const StridedArray<T> strided_x(x), strided_gy(gy);
  const StridedArray<I> strided_indices(indices);
  StridedArray<T> strided_dy{Array<T>(gy.shape(), T(77))}, strided_gx{Array<T>(x.shape(), T(77))};
  problem.pool.jvp_from_indices(strided_indices.view, strided_x.view, strided_dy.view);
  problem.pool.vjp_from_indices(strided_indices.view, strided_gy.view, strided_gx.view);
  const Array<T> packed_dy = strided_dy.packed(), packed_gx = strided_gx.packed();
  for (Index i = 0; i < dy.size(); ++i) ASSERT_TRUE(same(packed_dy[i], dy[i])) << "output " << i;
  for (Index i = 0; i < gx.size(); ++i) ASSERT_TRUE(same(packed_gx[i], gx[i])) << "cell " << i;
}

TYPED_TEST(KernelFloat, MapsByIndicesEqualTheSpecBitForBitOnEveryTarget) {
  sweep_targets(has_winners, [](const Problem& problem, std::mt19937_64& random) {
    check_maps_by_indices<TypeParam, Index>(problem, random);
    check_maps_by_indices<TypeParam, std::uint8_t>(problem, random);
    check_maps_by_indices<TypeParam, std::uint16_t>(problem, random);
    check_maps_by_indices<TypeParam, std::uint32_t>(problem, random);
  });
}

/// Windows of three cells that overlap: rows and planes about as long as vectors, in more than one band, with padding
/// that makes the first cells seen once or twice, and with lanes.
std::vector<std::string> overlapping_windows() {
  std::vector<std::string> lines;
  for (const char* planes :
       {"4,5,8", "3,6,9", "4,6,15", "4,4,16", "5,7,17", "4,8,18", "3,3,31", "3,12,32", "4,9,33", "2,240,34", "3,6,40"})
    for (const char* padding : {"0,0", "1,1", "0,1", "1,0"})
      for (const char* stride : {"2,2", "1,1", "1,2"})
        lines.push_back(std::string("max shape=") + planes + " kernel=3,3 stride=" + stride + " padding=" + padding);
  for (const char* padding : {"0,0", "1,1"})
    for (const char* lanes : {"3", "4", "9"})
      lines.push_back(std::string("max shape=9,8,") + lanes + " axes=0,1 kernel=3,3 stride=2,2 padding=" + padding);
  for (const char* window : {"kernel=2,2 stride=2,2 padding=1,1", "kernel=5,5 stride=2,2 padding=2,2",
                             "kernel=4,4 stride=2,2 padding=1,1", "kernel=3,3 stride=2,2 dilation=2,2",
                             "kernel=3,3 stride=2,2 dilation=2,1 padding=1,1", "kernel=3,3 stride=3,2"})
    lines.push_back(std::string("max shape=3,12,34 ") + window);
  lines.emplace_back("max shape=2,6,4,18 kernel=3,3,3 stride=2,2,2 padding=1,1,1");
  lines.emplace_back("max shape=2,7,5,20 kernel=3,2,3 stride=2,2,2 padding=1,0,1");
  lines.emplace_back("max shape=3,70 kernel=3 stride=2 padding=1");
  return lines;
}

TYPED_TEST(KernelFloat, GradientsOfOverlappingWindowsEqualTheSpecBitForBit) {
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const std::string& line : overlapping_windows()) {
      SCOPED_TRACE("target " + target + ", problem: " + line);
      std::mt19937_64 random(seed());
      check_maps_by_indices<TypeParam, std::uint8_t>(parse_problem(line), random);
      check_maps_by_indices<TypeParam, Index>(parse_problem(line), random);
    }
  }
}

/// Arrays of several tiles, whose planes become lanes in several groups.
TYPED_TEST(KernelFloat, EveryCellOfAGlobalSumGetsTheGradientOfItsPlane) {
  using T = TypeParam;
  for (const Shape& shape :
       {Shape{24, 20, 20, 20}, Shape{24, 5, 4, 20, 20}, Shape{2, 3, 40, 40, 40}, Shape{2, 12, 20, 20, 20}}) {
    const Pool pool = global_sum_pool({.axes = {-3, -2, -1}});
    const Plan<T> plan = pool.plan<T>(shape);
    std::vector<T> x(static_cast<std::size_t>(element_count(shape))), gx(x.size());
    std::vector<T> gy(static_cast<std::size_t>(element_count(plan.output_shape())));
    for (std::size_t i = 0; i < gy.size(); ++i) gy[i] = static_cast<T>(static_cast<float>(i + 1));
    plan.vjp(x.data(), gy.data(), gx.data());
    const std::size_t cells = x.size() / gy.size();
    for (std::size_t i = 0; i < gx.size(); ++i)
      ASSERT_EQ(static_cast<float>(gx[i]), static_cast<float>(gy[i / cells])) << "cell " << i;
  }
}

TYPED_TEST(KernelScalar, UnpoolingEqualsTheSpecOnEveryTarget) {
  struct Case {
    Adaptive size;
    Shape shape;
  };
  const Case cases[] = {{{.output_size = {9, 11}}, {2, 3, 4, 5}},
                        {{.output_size = {7, 30}, .axes = {0, 1}}, {5, 8, 6}},
                        {{.output_size = {3}, .axes = {1}}, {4, 9, 3}},
                        {{.output_size = {2, 3, 4}}, {3, 2, 5}}};
  std::mt19937_64 random(seed());
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const Case& c : cases) {
      const Unpool unpool = max_unpool(c.size), by_spec = unpool.without_kernels();
      const Array<TypeParam> values = awkward_numbers<TypeParam>(c.shape, random);
      Array<TypeParam> x(unpool.output_shape(c.shape), TypeParam(77)), expected_x(x.shape());
      Array<TypeParam> gy(c.shape, TypeParam(77)), expected_gy(c.shape);
      Index cells = 1;
      for (const Index size : c.size.output_size) cells *= size;
      Array<Index> indices(c.shape);
      for (Index& index : indices) index = static_cast<Index>(random() % static_cast<std::uint64_t>(cells + 1)) - 1;
      unpool.forward(values.view(), indices.view(), x.view());
      by_spec.forward(values.view(), indices.view(), expected_x.view());
      for (Index i = 0; i < x.size(); ++i) ASSERT_TRUE(same(x[i], expected_x[i])) << "cell " << i;
      unpool.vjp(x.view(), indices.view(), gy.view());
      by_spec.vjp(x.view(), indices.view(), expected_gy.view());
      for (Index i = 0; i < gy.size(); ++i) ASSERT_TRUE(same(gy[i], expected_gy[i])) << "value " << i;

      const StridedArray<TypeParam> strided_values(values);
      const StridedArray<Index> strided_indices(indices);
      StridedArray<TypeParam> strided_x{Array<TypeParam>(x.shape(), TypeParam(77))},
          strided_gy{Array<TypeParam>(gy.shape(), TypeParam(77))};
      unpool.forward(strided_values.view, strided_indices.view, strided_x.view);
      unpool.vjp(strided_x.view, strided_indices.view, strided_gy.view);
      const Array<TypeParam> packed_x = strided_x.packed(), packed_gy = strided_gy.packed();
      for (Index i = 0; i < x.size(); ++i) ASSERT_TRUE(same(packed_x[i], x[i])) << "cell " << i;
      for (Index i = 0; i < gy.size(); ++i) ASSERT_TRUE(same(packed_gy[i], gy[i])) << "value " << i;
    }
  }
}

TEST(KernelPlans, ExistForWindowsOfAnySize) {
  for (const Index k : {7, 31, 63, 255, 1001})
    EXPECT_NE(max_pool({.kernel = {k, k}, .stride = {1, 1}}).plan<float>({3000, 3000}).implementation(MapKind::forward),
              "reference")
        << k;
}

TEST(KernelPlans, HaveWinnersAndDerivativesWhateverTheTies) {
  for (const char* ties : {"", " ties=first", " ties=all", " ties=split"})
    for (const char* line : {"max shape=3,9,20 kernel=3,3 stride=2,2 padding=1,1",
                             "min shape=9,9,12 axes=0,1 kernel=3,2", "adaptive-max shape=2,7,9 output_size=3,4",
                             "global-max shape=4,7,7 axes=1,2", "max shape=3000000 kernel=2"}) {
      SCOPED_TRACE(std::string(line) + ties);
      const Problem problem = parse_problem(std::string(line) + ties);
      const Geometry geometry = problem.pool.geometry(problem.shape);
      const Shape in = packed_strides(problem.shape), out = packed_strides(geometry.output_shape());
      KernelChoice choice{.combine = Combine::max, .ties = Ties::first};
      if (std::string(ties) == " ties=all") choice.ties = Ties::all;
      if (std::string(ties) == " ties=split") choice.ties = Ties::split;
      const auto plan = KernelPlan::make(kind_of<float>(), choice, geometry, {in, out, in, out});
      ASSERT_NE(plan, nullptr);
      for (const MapKind map : {MapKind::jvp, MapKind::vjp}) EXPECT_TRUE(plan->has(map));
      EXPECT_TRUE(plan->has(MapKind::forward_with_indices));
    }
}

TEST(KernelIndices, AreCheckedAsTheSpecChecksThem) {
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const char* line :
         {"max shape=3,9,20 kernel=3,3 stride=2,2 padding=1,1", "max shape=5,6,7 kernel=2,3,2 padding=1,1,1",
          "max shape=9,9,12 axes=0,1 kernel=3,2 padding=1,1", "adaptive-max shape=2,7,9 output_size=3,4"}) {
      SCOPED_TRACE("target " + target + ", problem: " + line);
      const Problem problem = parse_problem(line);
      const Geometry geometry = problem.pool.geometry(problem.shape);
      const Shape strides = packed_strides(problem.shape), out_strides = packed_strides(geometry.output_shape());
      const auto plan =
          KernelPlan::make_for_indices(kind_of<float>(), geometry, {strides, out_strides, strides, out_strides});
      ASSERT_NE(plan, nullptr);
      Array<std::uint8_t> taps(geometry.output_shape(), 255);
      EXPECT_TRUE(plan->check_indices(taps.begin(), IndexKind::u8));
      spec::for_each_position(taps.shape(), [&](const Shape& at) {
        for (Index tap = 0; tap <= geometry.tap_count(); ++tap) {
          taps.view()[at] = static_cast<std::uint8_t>(tap);
          EXPECT_EQ(plan->check_indices(taps.begin(), IndexKind::u8), geometry.is_real_tap(at, tap)) << "tap " << tap;
        }
        taps.view()[at] = 255;
      });
      Array<Index> indices(geometry.output_shape(), -1);
      spec::for_each_position(indices.shape(), [&](const Shape& at) {
        for (const Index index : {Index{-2}, Index{0}, geometry.cell_count() - 1, geometry.cell_count()}) {
          indices.view()[at] = index;
          EXPECT_EQ(plan->check_indices(indices.begin(), IndexKind::flat), index >= 0 && index < geometry.cell_count());
        }
        indices.view()[at] = -1;
      });
    }
  }
}

/// Gradients by flat indices that name any cell, also of other windows; small whole numbers, so that sums are exact.
template <class T>
void expect_gradients_of_any_cells(const Problem& problem) {
  const Geometry geometry = problem.pool.geometry(problem.shape);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Array<Index> indices(geometry.output_shape());
    Array<T> gy(geometry.output_shape());
    for (Index& index : indices)
      index = static_cast<Index>(random() % static_cast<std::uint32_t>(geometry.cell_count() + 1)) - 1;
    for (T& value : gy) value = static_cast<T>(random() % 9) - T(4);
    Array<T> gx(problem.shape, T(99)), expected(problem.shape, T(99));
    problem.pool.vjp_from_indices(indices.view(), gy.view(), gx.view());
    problem.pool.without_kernels().vjp_from_indices(indices.view(), gy.view(), expected.view());
    EXPECT_EQ(gx, expected) << "round " << round;
  }
}

/// Tall windows, about as tall as those whose winners are found block by block, over several blocks and planes. Few
/// different numbers, so that many taps tie, and some NaNs.
TYPED_TEST(KernelFloat, WinnersOfTallWindowsAreTheFirstOnEveryTarget) {
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const char* window :
         {"shape=2,40,20 kernel=7,3 stride=1,1 padding=3,1", "shape=2,40,20 kernel=8,3 stride=1,1 padding=4,1",
          "shape=2,40,20 kernel=8,3 stride=2,2", "shape=3,33,9 kernel=9,2 stride=2,1 padding=0:4,0:1",
          "shape=2,30,9 kernel=8,2 stride=3,1", "shape=2,25,33 kernel=12,5 stride=3,2 padding=6,2 ceil",
          "shape=1,70,40 kernel=31,31 stride=1,1 padding=15,15", "shape=2,10,12 kernel=19,3 stride=1,1 padding=9,1",
          "shape=30,9,5 axes=0,1 kernel=8,2 stride=1,1", "shape=2,24,3 kernel=8,2 stride=1,1",
          "shape=2,24,10 kernel=8,3 stride=1,1 dilation=2,1", "shape=2,4,20,9 kernel=2,8,2 stride=1,1,1"}) {
      for (const char* reducer : {"max ", "min ", "max nan=ignore "}) {
        const std::string line = reducer + std::string(window);
        SCOPED_TRACE("target " + target + ", problem: " + line);
        const Problem problem = parse_problem(line);
        std::mt19937_64 random(seed());
        Array<TypeParam> x = whole_numbers<TypeParam>(problem.shape, random);
        for (TypeParam& value : x)
          if (random() % 97 == 0) value = std::numeric_limits<TypeParam>::quiet_NaN();
        const Array<TypeParam> dx = whole_numbers<TypeParam>(problem.shape, random);
        EXPECT_EQ(indices(problem.pool, x), indices(problem.pool.without_kernels(), x));
        EXPECT_EQ(jvp(problem.pool, x, dx), jvp(problem.pool.without_kernels(), x, dx));
        const Array<TypeParam> gy = whole_numbers<TypeParam>(problem.pool.output_shape(problem.shape), random);
        EXPECT_EQ(vjp(problem.pool, x, gy), vjp(problem.pool.without_kernels(), x, gy));
      }
    }
  }
}

/// Values and winners in registers are made as if there were no NaN, which is detected afterwards.
TYPED_TEST(KernelFloat, OneNanIsFoundInEveryCell) {
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const char* line :
         {"max shape=3,7,7 axes=1,2 kernel=3,3 stride=1,1 padding=1,1",
          "min shape=2,5,14 axes=1,2 kernel=3,3 stride=1,1 padding=1,1", "max shape=2,32 kernel=4",
          "max shape=2,4,4,18 axes=1,2,3 kernel=2,2,2", "min shape=2,4,22 axes=1,2 kernel=2,2",
          "max shape=4,36,3 axes=0,1 kernel=3,3 stride=2,2 padding=1,1",
          "min shape=4,9,3 axes=0,1 kernel=3,3 stride=1,1 padding=1,1",
          "max shape=4,5,17 axes=0,1 kernel=3,3 stride=1,1 padding=1,1", "max shape=9,7,7 axes=1,2 kernel=7,7",
          "max shape=5,35 kernel=3,3 stride=2,2", "min shape=4,34 kernel=3,3 stride=2,2 padding=1,1",
          "max shape=4,33 kernel=3,3 stride=2,2 padding=0,1", "max shape=4,18 kernel=2,2",
          "max shape=4,20 kernel=3,3 stride=1,1 padding=1,1", "min shape=4,14 kernel=2,2",
          "max shape=4,19 kernel=2,2 stride=1,1", "max shape=4,5,9 axes=0,1 kernel=2,2"}) {
      SCOPED_TRACE("target " + target + ", problem: " + line);
      const Problem problem = parse_problem(line);
      std::mt19937_64 random(seed());
      Array<TypeParam> x = whole_numbers<TypeParam>(problem.shape, random);
      const Array<TypeParam> dx = whole_numbers<TypeParam>(problem.shape, random);
      for (Index cell = 0; cell < x.size(); ++cell) {
        const TypeParam number = std::exchange(x[cell], std::numeric_limits<TypeParam>::quiet_NaN());
        const Array<TypeParam> y = forward(problem.pool, x), expected = forward(problem.pool.without_kernels(), x);
        for (Index i = 0; i < y.size(); ++i)
          ASSERT_TRUE(same(y[i], expected[i])) << "cell " << cell << ", output " << i;
        ASSERT_EQ(indices(problem.pool, x), indices(problem.pool.without_kernels(), x)) << "cell " << cell;
        ASSERT_EQ(jvp(problem.pool, x, dx), jvp(problem.pool.without_kernels(), x, dx)) << "cell " << cell;
        x[cell] = number;
      }
    }
  }
}

/// Many rows are made together, and recomputed where there is a NaN.
TYPED_TEST(KernelFloat, NansAmongManyRowsAreFound) {
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const char* line :
         {"max shape=700,7,7 axes=1,2 kernel=3,3 stride=1,1 padding=1,1",
          "min shape=120,20,20 axes=1,2 kernel=3,3 stride=2,2 padding=1,1",
          "max shape=3,40,40,20 axes=1,2,3 kernel=2,2,2", "max shape=700,9,16 axes=0,1 kernel=2,2"}) {
      SCOPED_TRACE("target " + target + ", problem: " + line);
      const Problem problem = parse_problem(line);
      std::mt19937_64 random(seed());
      Array<TypeParam> x = whole_numbers<TypeParam>(problem.shape, random);
      for (const Index apart : {20011, 401, 7}) {
        for (Index cell = apart / 2; cell < x.size(); cell += apart)
          x[cell] = std::numeric_limits<TypeParam>::quiet_NaN();
        const Array<TypeParam> y = forward(problem.pool, x), expected = forward(problem.pool.without_kernels(), x);
        for (Index i = 0; i < y.size(); ++i) ASSERT_TRUE(same(y[i], expected[i])) << "output " << i;
        ASSERT_EQ(indices(problem.pool, x), indices(problem.pool.without_kernels(), x));
      }
    }
  }
}

/// Sums of negative zeros are negative unless padding is among them, which must not depend on how they are made.
TYPED_TEST(KernelFloat, SignsOfZerosAreTheSameOnEveryTarget) {
  for (const char* line :
       {"sum shape=20,7,7 axes=1,2 kernel=3,3 stride=1,1 padding=1,1",
        "avg shape=5,14,14 axes=1,2 kernel=3,3 stride=1,1 padding=1,1",
        "sum shape=3,20,20 axes=1,2 kernel=3,3 stride=1,1 padding=1,1",
        "sum shape=3,27,27 axes=1,2 kernel=3,3 stride=2,2 padding=1,1", "global-sum shape=40,7,7 axes=1,2",
        "global-avg shape=40,5,6 axes=1,2", "sum shape=3,36,3 axes=0,1 kernel=3,3 stride=2,2 padding=1,1",
        "sum shape=64 kernel=4", "sum shape=2,4,4,18 axes=1,2,3 kernel=2,2,2"}) {
    SCOPED_TRACE(line);
    const Problem problem = parse_problem(line);
    Array<TypeParam> x(problem.shape);
    for (TypeParam& value : x) value = TypeParam(-0.0F);
    std::vector<bool> first;
    for (const std::string& target : targets()) {
      const ForcedTarget forced(target);
      std::vector<bool> signs;
      for (const TypeParam value : forward(problem.pool, x)) signs.push_back(std::signbit(static_cast<float>(value)));
      if (first.empty()) first = signs;
      EXPECT_EQ(signs, first) << "target " << target;
    }
  }
}

#ifdef __x86_64__
/// NaNs are detected by a flag of the processor, which belongs to the caller: also one that asks to be stopped by NaNs.
TYPED_TEST(KernelFloat, LeaveTheFlagsOfTheProcessorAsTheyWere) {
  Array<TypeParam> x(Shape{9, 16, 16});
  for (Index i = 0; i < x.size(); ++i) x[i] = TypeParam(i % 7);
  x[77] = std::numeric_limits<TypeParam>::quiet_NaN();
  const Pool pool = max_pool({.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}});
  const Array<TypeParam> expected = forward(pool.without_kernels(), x);
  constexpr unsigned invalid = 1, invalid_masked = 1 << 7, plain = 0x1F80;
  for (const unsigned state : {plain, plain | invalid, plain & ~invalid_masked}) {
    const unsigned before = _mm_getcsr();
    _mm_setcsr(state);
    const Array<TypeParam> y = forward(pool, x), with_indices = jvp(pool, x, x);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after & (invalid | invalid_masked), state & (invalid | invalid_masked));
    for (Index i = 0; i < y.size(); ++i) {
      ASSERT_TRUE(same(y[i], expected[i])) << "output " << i;
      ASSERT_TRUE(same(with_indices[i], expected[i])) << "output " << i;
    }
  }
}
#endif

/// The same where all indices but one name the winners, so that only that one can be detected.
TEST(KernelIndices, MayNameOneCellOfAnotherWindow) {
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const char* line : {"max shape=6,18 kernel=3,3 stride=2,2 padding=1,1", "max shape=7,33 kernel=3,3 stride=2,2",
                             "max shape=5,8,4 axes=0,1 kernel=3,3 stride=2,2 padding=1,1"}) {
      SCOPED_TRACE("target " + target + ", problem: " + line);
      const Problem problem = parse_problem(line);
      const Geometry geometry = problem.pool.geometry(problem.shape);
      std::mt19937_64 random(seed());
      const Array<float> x = whole_numbers<float>(problem.shape, random);
      const Array<float> gy = whole_numbers<float>(geometry.output_shape(), random);
      Array<Index> indices = some_indices<Index>(problem, x, random);
      Array<float> gx(problem.shape), expected(problem.shape);
      for (Index& index : indices) {
        const Index right = index;
        for (Index cell = 0; cell < geometry.cell_count(); cell += 5) {
          index = cell;
          problem.pool.vjp_from_indices(indices.view(), gy.view(), gx.view());
          problem.pool.without_kernels().vjp_from_indices(indices.view(), gy.view(), expected.view());
          ASSERT_EQ(gx, expected) << "cell " << cell;
        }
        index = right;
      }
    }
  }
}

TEST(KernelIndices, MayNameCellsOfOtherWindows) {
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const char* line :
         {"max shape=3,14,14 kernel=2,2", "max shape=3,8,8 kernel=2,2", "max shape=2,7,11 kernel=2,2",
          "max shape=2,4,6,13 kernel=2,2,2", "max shape=2,9,21 kernel=2,2", "max shape=5,36 kernel=4",
          "max shape=2,7,25 kernel=3,3", "max shape=2,5,4,19 kernel=2,2,2", "max shape=7,6,11 axes=0,1 kernel=2,2",
          "max shape=9,3 axes=0 kernel=2", "max shape=2,9,17 kernel=3,3 stride=1,1 padding=1,1",
          "max shape=2,60,50 kernel=3,2 stride=2,2", "max shape=3,6,18 kernel=3,3 stride=2,2 padding=1,1",
          "max shape=3,7,33 kernel=3,3 stride=2,2", "max shape=2,4,6,20 kernel=3,3,3 stride=2,2,2 padding=1,1,1",
          "max shape=9,8,5 axes=0,1 kernel=3,3 stride=2,2"}) {
      SCOPED_TRACE("target " + target + ", problem: " + line);
      expect_gradients_of_any_cells<float>(parse_problem(line));
      expect_gradients_of_any_cells<double>(parse_problem(line));
    }
  }
}

/// Sums at the ends of what kernels add bytes in, over divisors of all sizes.
template <class T>
void expect_averages_of_extreme_bytes() {
  for (const T value : {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()})
    for (const Shape& kernel : {Shape{16, 8}, Shape{16, 3}, Shape{2, 2}})
      for (Index divisor = 1; divisor <= 1 << 20; divisor *= 2)
        for (const Index given : {divisor, divisor + 1, -divisor}) {
          const Array<T> x({18, 10, 33}, value);
          const Window window{.kernel = kernel, .stride = {2, 2}, .axes = {0, 1}};
          const Pool pool = avg_pool(window, {.divisor = given});
          EXPECT_EQ(forward(pool, x), forward(pool.without_kernels(), x)) << "divisor " << given;
        }
}

TEST(Bytes, OfWholeWindowsAtTheirLimitsAreAveraged) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE("target " + target);
    const ForcedTarget forced(target);
    expect_averages_of_extreme_bytes<std::uint8_t>();
    expect_averages_of_extreme_bytes<std::int8_t>();
  }
}

}  // namespace ndpool::testing
