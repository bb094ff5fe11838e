// Indices held compactly, and unpooling, which brings values back to where indices point.
#include "support/array.hpp"
#include "support/problem.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace ndpool::testing {
namespace {

using Indices = std::vector<Index>;
using Values = std::vector<double>;

template <class Small>
Array<Small> compact(const Geometry& geometry, const Array<Index>& flat) {
  Array<Small> taps(flat.shape(), Small(42));
  spec::compact_from_flat(geometry, flat.view(), taps.view());
  return taps;
}

template <class Small>
Array<Index> expand(const Geometry& geometry, const Array<Small>& taps) {
  Array<Index> flat(taps.shape(), 42);
  spec::flat_from_compact(geometry, taps.view(), flat.view());
  return flat;
}

template <class F>
Code code_of(F call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::none;
}

template <class Small>
class CompactIndices : public ::testing::Test {};
using Widths = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t>;
TYPED_TEST_SUITE(CompactIndices, Widths);

TYPED_TEST(CompactIndices, AreTapNumbersOfTheWindowPaddingIncluded) {
  using Small = TypeParam;
  struct Case {
    Window window;
    Shape shape;
    Indices flat;
    std::vector<Small> taps;
  };
  const Case cases[] = {
      {{.kernel = {2, 2}}, {4, 4}, {5, 7, 13, 15}, {3, 3, 3, 3}},
      {{.kernel = {2, 2}}, {4, 4}, {0, 3, 12, 10}, {0, 1, 2, 0}},
      // Windows start at -1 and 1: the first tap of the first window is padding and keeps its number.
      {{.kernel = {3}, .stride = {2}, .padding = {1}}, {4}, {0, 1}, {1, 0}},
      {{.kernel = {3}, .stride = {1}, .padding = {1}, .dilation = {2}}, {5}, {3, 4, 1}, {2, 2, 0}},
      {{.kernel = {2}, .axes = {0}}, {4, 2}, {0, 1, 3, 2}, {0, 1, 1, 0}},
  };
  for (const Case& one : cases) {
    const Geometry geometry = max_pool(one.window).geometry(one.shape);
    const Array<Index> flat(geometry.output_shape(), one.flat);
    const Array<Small> taps(geometry.output_shape(), one.taps);
    EXPECT_EQ(compact<Small>(geometry, flat), taps);
    EXPECT_EQ(expand(geometry, taps), flat);
  }
}

TYPED_TEST(CompactIndices, ComeBackFromEveryKindOfWindow) {
  for (const char* line :
       {"max shape=7 kernel=3 stride=1 padding=2", "max shape=3,6,5 kernel=2,3 stride=1,2 padding=1:0,2:1",
        "max shape=9,8 kernel=3,2 stride=2,1 dilation=2,3 padding=1,1", "max shape=6,3,4 kernel=2,2 axes=2,0 ceil",
        "max shape=5 kernel=2 stride=3 padding=3 empty=identity", "adaptive-max shape=5,7 output_size=3,4",
        "adaptive-min shape=2,3 output_size=5,2", "global-max shape=3,15,17 axes=1,2 keepdims"}) {
    const Problem problem = parse_problem(line);
    const Geometry geometry = problem.pool.geometry(problem.shape);
    for (unsigned seed = 1; seed <= 20; ++seed) {
      std::mt19937_64 random(seed);
      Array<double> x(problem.shape);
      for (double& element : x) element = static_cast<double>(random() % 1000);
      const Array<Index> flat = indices(problem.pool, x);
      EXPECT_EQ(expand(geometry, compact<TypeParam>(geometry, flat)), flat) << line << " seed " << seed;
    }
  }
}

TYPED_TEST(CompactIndices, HaveAllBitsSetWhereThereIsNoWinner) {
  const Pool pool = max_pool({.kernel = {2}, .padding = {2}}, {.empty = Empty::identity});
  const Array<Index> flat = indices(pool, arange<double>({4}));
  EXPECT_EQ(flat, Array<Index>({4}, Indices{-1, 1, 3, -1}));
  const Array<TypeParam> taps = compact<TypeParam>(pool.geometry({4}), flat);
  const TypeParam none = std::numeric_limits<TypeParam>::max();
  EXPECT_EQ(taps, Array<TypeParam>({4}, std::vector<TypeParam>{none, 1, 1, none}));
  EXPECT_EQ(expand(pool.geometry({4}), taps), flat);
}

struct Limit {
  Index taps;
  int bytes;
};
const Limit limits[] = {{1, 1}, {255, 1}, {256, 2}, {65535, 2}, {65536, 4}, {4294967295, 4}, {4294967296, 0}};

TEST(CompactLimits, AreOneTapBelowTheNumbersOfTheType) {
  for (const Limit& limit : limits)
    EXPECT_EQ(spec::compact_bytes(max_pool({.kernel = {limit.taps}}).geometry({limit.taps})), limit.bytes)
        << limit.taps << " taps";
}

/// The code of a round trip of the last tap of a window of `taps` taps; Code::none if it came back.
template <class Small>
Code round_trip_of_last_tap(Index taps) {
  const Geometry geometry = max_pool({.kernel = {taps}}).geometry({taps});
  const Array<Index> last({1}, taps - 1);
  return code_of([&] { EXPECT_EQ(expand(geometry, compact<Small>(geometry, last)), last); });
}

TEST(CompactLimits, HoldTheLastTapOrRefuseTheWindow) {
  for (const Limit& limit : limits) {
    SCOPED_TRACE(std::to_string(limit.taps) + " taps");
    const auto expected = [&](int bytes) {
      return limit.bytes == 0 || limit.bytes > bytes ? Code::taps_do_not_fit : Code::none;
    };
    EXPECT_EQ(round_trip_of_last_tap<std::uint8_t>(limit.taps), expected(1));
    EXPECT_EQ(round_trip_of_last_tap<std::uint16_t>(limit.taps), expected(2));
    EXPECT_EQ(round_trip_of_last_tap<std::uint32_t>(limit.taps), expected(4));
  }
}

TEST(CompactLimits, OfAdaptiveWindowsAreThoseOfTheLongestBin) {
  EXPECT_EQ(spec::compact_bytes(adaptive_max_pool({.output_size = {2}}).geometry({509})), 1);
  EXPECT_EQ(spec::compact_bytes(adaptive_max_pool({.output_size = {2}}).geometry({511})), 2);
  EXPECT_EQ(spec::compact_bytes(adaptive_max_pool({.output_size = {2}}).geometry({512})), 2);
}

TEST(CompactErrors, AreTapsThatFallOnNoCellOfTheirWindow) {
  struct Case {
    Pool pool;
    Index length;
    std::vector<std::uint8_t> taps;
    Code code;
  };
  const Pool padded = max_pool({.kernel = {2}, .padding = {1}});
  const Pool bins = adaptive_max_pool({.output_size = {3}});
  const Case cases[] = {
      {padded, 4, {1, 0, 0}, Code::none},
      {padded, 4, {0, 0, 0}, Code::index_out_of_range},
      {padded, 4, {1, 2, 0}, Code::index_out_of_range},
      {padded, 4, {1, 0, 1}, Code::index_out_of_range},
      // Bins of 5 cells have 2, 3 and 2 of them.
      {bins, 5, {1, 2, 1}, Code::none},
      {bins, 5, {2, 2, 1}, Code::index_out_of_range},
      {bins, 5, {1, 2, 2}, Code::index_out_of_range},
      {max_pool({.kernel = {2}, .stride = {3}, .ceil_mode = true}), 7, {0, 1, 0}, Code::none},
      {max_pool({.kernel = {2}, .stride = {3}, .ceil_mode = true}), 7, {0, 1, 1}, Code::index_out_of_range},
  };
  for (const Case& one : cases) {
    const Array<std::uint8_t> taps({3}, one.taps);
    EXPECT_EQ(code_of([&] { expand(one.pool.geometry({one.length}), taps); }), one.code) << taps;
  }
}

TEST(CompactErrors, AreIndicesOfCellsBetweenDilatedTaps) {
  const Geometry geometry = max_pool({.kernel = {2}, .dilation = {2}}).geometry({3});
  for (const Index cell : {-2, 1, 3})
    EXPECT_EQ(code_of([&] { compact<std::uint8_t>(geometry, Array<Index>({1}, cell)); }), Code::index_out_of_range);
}

TEST(CompactErrors, AreTapsOnPaddingThatIsFurtherAwayThanIndicesReach) {
  const Index far = Index{1} << 40, wide = Index{1} << 32;
  const Pool pool = max_pool({.kernel = {2, 1}, .stride = {1, wide}, .padding = {{far, 0}, 0}, .dilation = {far, 1}});
  const Geometry geometry = pool.geometry({1, wide});
  EXPECT_EQ(expand(geometry, Array<std::uint8_t>({1, 1}, 1)), Array<Index>({1, 1}, 0));
  EXPECT_EQ(code_of([&] { expand(geometry, Array<std::uint8_t>({1, 1}, 0)); }), Code::index_out_of_range);
}

Array<double> unpool(const Adaptive& size, const Array<double>& values, const Array<Index>& at) {
  Array<double> x(max_unpool(size).output_shape(values.shape()), -1);
  max_unpool(size).forward(values.view(), at.view(), x.view());
  return x;
}

Array<double> unpool_vjp(const Adaptive& size, const Array<Index>& at, const Array<double>& gx) {
  Array<double> gy(at.shape(), -1);
  max_unpool(size).vjp(gx.view(), at.view(), gy.view());
  return gy;
}

TEST(Unpool, PutsEachMaximumBackAndFillsWithZeros) {
  const Array<double> x({4, 4}, Values{1, 2, 3, 4, 8, 7, 6, 5, 9, 1, 9, 2, 3, 4, 5, 16});
  const Pool pool = max_pool({.kernel = {2, 2}});
  EXPECT_EQ(unpool({.output_size = {4, 4}}, forward(pool, x), indices(pool, x)),
            Array<double>({4, 4}, Values{0, 0, 0, 0, 8, 0, 6, 0, 9, 0, 0, 0, 0, 0, 0, 16}));
}

TEST(Unpool, LetsTheLastOfRepeatedIndicesWinAndSkipsMinusOne) {
  const Array<double> values({5}, Values{1, 2, 3, 4, 5});
  const Array<Index> at({5}, Indices{2, 0, 2, -1, 0});
  EXPECT_EQ(unpool({.output_size = {4}}, values, at), Array<double>({4}, Values{5, 0, 3, 0}));
  EXPECT_EQ(unpool_vjp({.output_size = {4}}, at, Array<double>({4}, Values{10, 20, 30, 40})),
            Array<double>({5}, Values{0, 0, 30, 0, 10}));
}

TEST(Unpool, LetsTheLastInRowMajorOrderWinOverAllUnpooledAxes) {
  const Array<double> values({2, 2}, Values{1, 2, 3, 4});
  EXPECT_EQ(unpool({.output_size = {1, 3}}, values, Array<Index>({2, 2}, Indices{1, 2, 1, 1})),
            Array<double>({1, 3}, Values{0, 4, 2}));
}

TEST(Unpool, KeepsToTheBatchOfEachValue) {
  const Array<double> values({2, 2}, Values{1, 2, 3, 4});
  const Array<Index> at({2, 2}, Indices{0, 2, 2, 0});
  EXPECT_EQ(unpool({.output_size = {3}}, values, at), Array<double>({2, 3}, Values{1, 0, 2, 4, 0, 3}));
  EXPECT_EQ(unpool({.output_size = {3}, .axes = {0}}, values, at), Array<double>({3, 2}, Values{1, 4, 0, 0, 3, 2}));
  EXPECT_EQ(unpool({.output_size = {3}, .axes = {-2}}, values, at), Array<double>({3, 2}, Values{1, 4, 0, 0, 3, 2}));
}

TEST(Unpool, CountsIndicesInTheOrderOfTheArrayWhateverTheOrderOfAxes) {
  const Array<double> values({1, 2, 1}, Values{7, 8});
  const Array<Index> at({1, 2, 1}, Indices{5, 1});
  const Array<double> expected({2, 2, 3}, Values{0, 0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0});
  EXPECT_EQ(unpool({.output_size = {2, 3}, .axes = {0, 2}}, values, at), expected);
  EXPECT_EQ(unpool({.output_size = {3, 2}, .axes = {2, 0}}, values, at), expected);
}

TEST(Unpool, HasTheShapeAskedFor) {
  EXPECT_EQ(max_unpool({.output_size = {7, 9}}).output_shape({2, 3, 4}), (Shape{2, 7, 9}));
  EXPECT_EQ(max_unpool({.output_size = {7}, .axes = {1}}).output_shape({2, 3, 4}), (Shape{2, 7, 4}));
}

double inner_product(const Array<double>& a, const Array<double>& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

struct UnpoolCase {
  Adaptive size;
  Shape values;
  Index cells;
};
const UnpoolCase unpool_cases[] = {
    {{.output_size = {3}}, {8}, 3},
    {{.output_size = {2, 3}}, {2, 3, 4}, 6},
    {{.output_size = {4}, .axes = {0}}, {5, 3}, 4},
    {{.output_size = {2, 5}, .axes = {2, 0}}, {3, 2, 3}, 10},
};

/// `check(case, seed, whole numbers of a shape, indices)` for many draws of indices with repeats and gaps.
template <class Check>
void for_each_draw(Check check) {
  for (const UnpoolCase& one : unpool_cases)
    for (unsigned seed = 1; seed <= 50; ++seed) {
      std::mt19937_64 random(seed);
      const auto whole_numbers = [&](const Shape& shape) {
        Array<double> array(shape);
        for (double& element : array)
          element = static_cast<double>(std::uniform_int_distribution<int>(-99, 99)(random));
        return array;
      };
      Array<Index> at(one.values);
      for (Index& index : at) index = std::uniform_int_distribution<Index>(-1, one.cells - 1)(random);
      SCOPED_TRACE(std::to_string(one.cells) + " cells, seed " + std::to_string(seed));
      check(one, whole_numbers, at);
    }
}

TEST(Unpool, HasItsTrueAdjointAsVjp) {
  for_each_draw([](const UnpoolCase& one, const auto& whole_numbers, const Array<Index>& at) {
    const Array<double> values = whole_numbers(one.values);
    const Array<double> x = unpool(one.size, values, at), gx = whole_numbers(x.shape());
    EXPECT_EQ(inner_product(x, gx), inner_product(values, unpool_vjp(one.size, at, gx)));
  });
}

TEST(Unpool, GivesNoGradientToOverwrittenOrSkippedValues) {
  for_each_draw([](const UnpoolCase& one, const auto& whole_numbers, const Array<Index>& at) {
    const Array<double> values = whole_numbers(one.values);
    const Array<double> x = unpool(one.size, values, at);
    const Array<double> gy = unpool_vjp(one.size, at, Array<double>(x.shape(), 1));
    for (Index i = 0; i < gy.size(); ++i) {
      Array<double> changed(values.shape(), std::vector<double>(values.begin(), values.end()));
      changed[i] += 1000;
      const bool matters = !(unpool(one.size, changed, at) == x);
      EXPECT_EQ(gy[i], matters ? 1 : 0) << "value " << i;
    }
  });
}

TEST(Unpool, HasItselfAsJvp) {
  for_each_draw([](const UnpoolCase& one, const auto& whole_numbers, const Array<Index>& at) {
    const Array<double> values = whole_numbers(one.values), tangents = whole_numbers(one.values);
    Array<double> moved(values.shape());
    for (Index i = 0; i < values.size(); ++i) moved[i] = values[i] + tangents[i];
    const Array<double> x = unpool(one.size, values, at), moved_x = unpool(one.size, moved, at);
    Array<double> dx(x.shape(), -1);
    max_unpool(one.size).jvp(tangents.view(), at.view(), dx.view());
    for (Index i = 0; i < x.size(); ++i) EXPECT_EQ(dx[i], moved_x[i] - x[i]) << "cell " << i;
  });
}

}  // namespace
}  // namespace ndpool::testing
