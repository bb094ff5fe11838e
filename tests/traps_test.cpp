// Bugs of other systems, under the numbers of docs/semantics.md. Every expected value is a literal.
#include "support/array.hpp"
#include "support/problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace ndpool::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<Index> listed(const Shape& shape) { return {shape.begin(), shape.end()}; }
template <class T>
std::vector<T> listed(const Array<T>& array) {
  return {array.begin(), array.end()};
}

std::vector<Index> output_shape(const std::string& line) {
  const Problem problem = parse_problem(line);
  return listed(problem.pool.output_shape(problem.shape));
}

template <class T = double>
std::vector<T> values(const std::string& line, const std::vector<T>& x) {
  const Problem problem = parse_problem(line);
  return listed(forward(problem.pool, Array<T>(problem.shape, x)));
}

std::vector<Index> winners(const std::string& line, const std::vector<double>& x) {
  const Problem problem = parse_problem(line);
  return listed(indices(problem.pool, Array<double>(problem.shape, x)));
}

template <class T = double>
std::vector<T> gradient(const std::string& line, const std::vector<T>& x, const std::vector<T>& gy) {
  const Problem problem = parse_problem(line);
  return listed(vjp(problem.pool, Array<T>(problem.shape, x), Array<T>(problem.pool.output_shape(problem.shape), gy)));
}

template <class T = double>
std::vector<T> counting(Index count, Index first) {
  return listed(arange<T>({count}, first));
}

Code code_of(const std::string& line) {
  try {
    output_shape(line);
  } catch (const Error& error) {
    return error.code();
  }
  return Code::none;
}

using Lengths = std::vector<Index>;
using Values = std::vector<double>;

TEST(Trap01, CeilModeDropsAWindowThatStartsInTheEndPadding) {
  EXPECT_EQ(output_shape("max shape=5 kernel=2 stride=2 padding=1 ceil"), Lengths{3});
  EXPECT_EQ(values("max shape=5 kernel=2 stride=2 padding=1 ceil", {1, 2, 3, 4, 5}), (Values{1, 3, 5}));
}

TEST(Trap02, CeilModeDropsAWindowThatStartsPastTheInput) {
  EXPECT_EQ(output_shape("max shape=9 kernel=4 stride=4 padding=2 ceil"), Lengths{3});
}

TEST(Trap03, CeilModeDecidesOnEachAxisAlone) {
  EXPECT_EQ(output_shape("max shape=8,10 kernel=3,3 stride=4,4 ceil"), (Lengths{2, 3}));
}

TEST(Trap04, CeilModeWithAStrideLargerThanTheKernel) {
  EXPECT_EQ(output_shape("max shape=6,7 kernel=1,1 stride=2,2 ceil"), (Lengths{3, 4}));
}

TEST(Trap05, AverageInCeilModeHasNoWindowWithoutTaps) {
  const std::string line = "avg shape=4,4 kernel=1,2 stride=2,2 padding=0,1 ceil";
  EXPECT_EQ(output_shape(line), (Lengths{2, 3}));
  EXPECT_EQ(values(line, counting(16, 1)), (Values{0.5, 2.5, 2, 4.5, 10.5, 6}));
}

TEST(Trap06, AverageOfAnInputSmallerThanItsKernel) {
  const std::string line = "avg shape=2,2 kernel=3,3 stride=3,3 padding=1,1 ceil";
  EXPECT_EQ(output_shape(line), (Lengths{1, 1}));
  EXPECT_EQ(values(line, {9, 18, 27, 36}), Values{10});
}

TEST(Trap07, CeilModeRoundsMathematicallyAndMayFitNothing) {
  EXPECT_EQ(code_of("max shape=1 kernel=4 stride=1 ceil"), Code::kernel_exceeds_input);
  EXPECT_EQ(output_shape("max shape=1 kernel=2 stride=2 ceil"), Lengths{1});
}

TEST(Trap08, SamePaddingFitsADilatedKernelOnOneCell) {
  EXPECT_EQ(output_shape("max shape=1 kernel=3 stride=1 dilation=3 padding=same"), Lengths{1});
  EXPECT_EQ(output_shape("max shape=1 kernel=3 stride=1 dilation=3 padding=same_lower"), Lengths{1});
  EXPECT_EQ(code_of("max shape=1 kernel=3 stride=1 dilation=3 padding=valid"), Code::kernel_exceeds_input);
}

TEST(Trap09, PaddingMayExceedHalfAKernelThatIsDilated) {
  const std::string line = "max shape=40 kernel=3 stride=2 padding=2 dilation=10";
  EXPECT_EQ(output_shape(line), Lengths{12});
  EXPECT_EQ(values(line, counting(40, 0)), (Values{18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 30}));
}

TEST(Trap10, AverageIncludingPaddingOfWindowsInThePadding) {
  EXPECT_EQ(values("avg shape=5 kernel=2 stride=2 padding=2:3", {1, 2, 3, 4, 5}), (Values{0, 1.5, 3.5, 2.5, 0}));
}

TEST(Trap11, IncludingPaddingCountsNoOverhang) {
  EXPECT_EQ(values("avg shape=4,4 kernel=3,3 stride=2,2 padding=1,1 ceil", counting(16, 1)),
            (Values{14.0 / 9, 30.0 / 9, 2, 57.0 / 9, 11, 6, 4.5, 7.5, 4}));
}

TEST(Trap12, OverhangWithoutPaddingCountsNothing) {
  EXPECT_EQ(values("avg shape=4,4 kernel=3,3 stride=2,2 ceil", counting(16, 1)), (Values{6, 7.5, 12, 13.5}));
}

TEST(Trap13, LastDivisorCountsPaddingButNoOverhang) {
  EXPECT_EQ(values("avg shape=9 kernel=7 stride=3 padding=3 ceil", Values(9, 42)), (Values{24, 42, 36, 21}));
}

TEST(Trap14, SameLowerIncludingPaddingCountsTheEndPadding) {
  EXPECT_EQ(values("avg shape=6 kernel=5 stride=1 padding=same_lower", Values(6, 5)), (Values{3, 4, 5, 5, 4, 3}));
  EXPECT_EQ(values("avg shape=6 kernel=5 padding=same_lower", Values(6, 5)), (Values{3, 3}));
}

TEST(Trap15, AdaptiveBinsOverlapAndMayOutnumberTheCells) {
  EXPECT_EQ(values("adaptive-max shape=5,5 output_size=3,3", counting(25, 0)),
            (Values{6, 8, 9, 16, 18, 19, 21, 23, 24}));
  EXPECT_EQ(values("adaptive-max shape=2,2 output_size=4,4", counting(4, 0)),
            (Values{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}));
}

TEST(Trap16, WindowOfInfinitiesKeepsItsInfinityAndNamesItsFirstCell) {
  const Values lowest(5, -infinity), highest(5, infinity);
  EXPECT_EQ(values("max shape=5 kernel=3 stride=2 padding=1", lowest), Values(3, -infinity));
  EXPECT_EQ(winners("max shape=5 kernel=3 stride=2 padding=1", lowest), (Lengths{0, 1, 3}));
  EXPECT_EQ(values("min shape=5 kernel=3 stride=2 padding=1", highest), Values(3, infinity));
  EXPECT_EQ(winners("min shape=5 kernel=3 stride=2 padding=1", highest), (Lengths{0, 1, 3}));
}

TEST(Trap17, PaddingNeverWins) {
  EXPECT_EQ(values("max shape=3 kernel=3 stride=1 padding=1", {-1, -2, -3}), (Values{-1, -1, -2}));
  EXPECT_EQ(values("min shape=3 kernel=3 stride=1 padding=1", {1, 2, 3}), (Values{1, 1, 2}));
  EXPECT_EQ(values("lp shape=2 kernel=2 stride=1 padding=1 p=inf", {-1, -2}), (Values{1, 2, 2}));
  const std::vector<std::int8_t> lowest(3, -128);
  EXPECT_EQ(values("max shape=3 kernel=3 stride=1 padding=1", lowest), lowest);
}

/// The maxima of 0 1 2 ... under a window of three cells around each, with one cell replaced by NaN.
std::vector<float> maxima_around(Index width, Index nan_at) {
  std::vector<float> maxima;
  for (Index at = 0; at < width; ++at) {
    const bool sees_nan = at - 1 <= nan_at && nan_at <= at + 1;
    maxima.push_back(sees_nan ? static_cast<float>(not_a_number) : static_cast<float>(std::min(at + 1, width - 1)));
  }
  return maxima;
}

void expect_equal_channels(Index channels, Index width, Index nan_at, bool channels_last) {
  const Shape shape = channels_last ? Shape{width, channels} : Shape{channels, width};
  const auto flat = [&](Index channel, Index at) {
    return channels_last ? at * channels + channel : channel * width + at;
  };
  Array<float> x(shape);
  for (Index channel = 0; channel < channels; ++channel)
    for (Index at = 0; at < width; ++at)
      x[flat(channel, at)] = at == nan_at ? static_cast<float>(not_a_number) : static_cast<float>(at);
  const Shape axes{channels_last ? 0 : 1};
  const Array<float> y = forward(max_pool({.kernel = {3}, .stride = {1}, .padding = {1}, .axes = axes}), x);
  const std::vector<float> expected = maxima_around(width, nan_at);
  for (Index channel = 0; channel < channels; ++channel)
    for (Index at = 0; at < width; ++at) {
      const float found = y[flat(channel, at)], wanted = expected[static_cast<std::size_t>(at)];
      ASSERT_TRUE(std::isnan(wanted) ? std::isnan(found) : found == wanted)
          << found << " at " << at << " of channel " << channel << ", expected " << wanted;
    }
}

TEST(Trap18, NanGivesTheSameInEveryChannelAndAtEveryWidth) {
  for (Index channels = 1; channels <= 8; ++channels)
    for (Index width = 1; width <= 40; ++width)
      for (Index nan_at = 0; nan_at < width; ++nan_at)
        for (const bool channels_last : {false, true}) {
          SCOPED_TRACE(std::to_string(channels) + " channels of " + std::to_string(width) + ", NaN at " +
                       std::to_string(nan_at) + (channels_last ? ", channels last" : ", channels first"));
          ASSERT_NO_FATAL_FAILURE(expect_equal_channels(channels, width, nan_at, channels_last));
        }
}

template <class T>
void expect_ones_counted() {
  const std::vector<T> one(1, T(1)), ones(4096, T(1));
  EXPECT_EQ(values<T>("global-avg shape=64,64", ones), one);
  EXPECT_EQ(gradient<T>("adaptive-avg shape=1,1 output_size=64,64", one, ones), std::vector<T>(1, T(4096)));
}

// Added one by one in f16, ones stop at 2048; in bf16 at 256.
TEST(Trap19, FourThousandOnesAreCountedExactly) {
  expect_ones_counted<float>();
  expect_ones_counted<f16>();
  expect_ones_counted<bf16>();
}

TEST(Trap20, IntegerAverageOfMinusTwoAndAHalfUnderEachRounding) {
  const auto average = [](const std::string& rounding) {
    return values<std::int8_t>("avg shape=4 kernel=4 rounding=" + rounding, {-1, -2, -3, -4}).front();
  };
  EXPECT_EQ(average("half_even"), -2);
  EXPECT_EQ(average("toward_zero"), -2);
  EXPECT_EQ(average("floor"), -3);
  EXPECT_EQ(average("half_away"), -3);
  EXPECT_EQ(values<std::int8_t>("avg shape=4 kernel=4", {-1, -2, -3, -4}), std::vector<std::int8_t>{-2});
}

TEST(Trap21, DilatedTapsStayOnTheirGridInThePadding) {
  EXPECT_EQ(values("sum shape=5 kernel=3 stride=1 padding=1 dilation=2", {1, 2, 4, 8, 16}), (Values{10, 21, 10}));
  EXPECT_EQ(winners("max shape=5 kernel=3 stride=1 padding=1 dilation=2", {1, 2, 4, 8, 16}), (Lengths{3, 4, 3}));
}

TEST(Trap22, DilatedMaxOfNegativesInCeilMode) {
  EXPECT_EQ(values("max shape=2,2 kernel=2,2 stride=2,2 padding=1,1 dilation=2,2 ceil", {-1, -2, -3, -4}),
            Values(4, -4));
}

TEST(Trap23, DilatedWindowAroundTwoCells) {
  EXPECT_EQ(values("max shape=2 kernel=2 stride=1 padding=1 dilation=2", {1, 2}), (Values{2, 1}));
  EXPECT_EQ(values("max shape=2 kernel=2 stride=2 padding=1 dilation=2 ceil", {1, 2}), (Values{2, 2}));
}

TEST(Trap24, UnequalPadsGiveAsManyOutputsInBothModes) {
  EXPECT_EQ(output_shape("max shape=5 kernel=2 stride=2 padding=2:3"), Lengths{5});
  EXPECT_EQ(output_shape("max shape=5 kernel=2 stride=2 padding=2:3 ceil"), Lengths{5});
}

TEST(Trap25, IndicesAreFlatOverThePooledAxesInBothLayouts) {
  EXPECT_EQ(winners("max shape=4,4 kernel=2,2", counting(16, 0)), (Lengths{5, 7, 13, 15}));
  EXPECT_EQ(winners("max shape=2,4,4 kernel=2,2 axes=1,2", counting(32, 0)), (Lengths{5, 7, 13, 15, 5, 7, 13, 15}));
  EXPECT_EQ(winners("max shape=4,4,2 kernel=2,2 axes=0,1", counting(32, 0)), (Lengths{5, 5, 7, 7, 13, 13, 15, 15}));
}

TEST(Trap26, TiesAreGivenToTheFirstToAllOrSplit) {
  const Values tied{1, 2, 2, 2};
  EXPECT_EQ(gradient("max shape=4 kernel=4", tied, {1}), (Values{0, 1, 0, 0}));
  EXPECT_EQ(gradient("max shape=4 kernel=4 ties=first", tied, {1}), (Values{0, 1, 0, 0}));
  EXPECT_EQ(gradient("max shape=4 kernel=4 ties=all", tied, {1}), (Values{0, 1, 1, 1}));
  EXPECT_EQ(gradient("max shape=4 kernel=4 ties=split", tied, {1}), (Values{0, 1.0 / 3, 1.0 / 3, 1.0 / 3}));
  EXPECT_EQ(gradient("global-max shape=4", tied, {1}), (Values{0, 1, 1, 1}));
}

TEST(Trap26, NanWindowUnderSplitDividesByItsNans) {
  const Values some{not_a_number, 1, not_a_number, 2}, only(4, not_a_number);
  EXPECT_EQ(gradient("max shape=4 kernel=4 ties=split", some, {1}), (Values{0.5, 0, 0.5, 0}));
  EXPECT_EQ(gradient("max shape=4 kernel=4 ties=split nan=ignore", some, {1}), (Values{0, 0, 0, 1}));
  EXPECT_EQ(gradient("max shape=4 kernel=4 ties=split nan=ignore", only, {1}), Values(4, 0.25));
}

TEST(Trap27, GradientOfADilatedMaxGoesToTheWinners) {
  const std::string line = "max shape=9 kernel=3 stride=2 dilation=2";
  EXPECT_EQ(gradient(line, {0, 8, 1, 7, 2, 6, 3, 5, 4}, {1, 10, 100}), (Values{0, 0, 0, 0, 1, 0, 10, 0, 100}));
  EXPECT_EQ(gradient(line, {0, 9, 1, 9, 5, 9, 3, 9, 4}, {1, 10, 100}), (Values{0, 0, 0, 0, 111, 0, 0, 0, 0}));
}

TEST(Trap28, NormWithAFractionalPowerIsFiniteOnNegatives) {
  const std::string line = "lp shape=3 kernel=3 p=2.3";
  const Values x{-1, -2, -3}, expected{-0.192573034654650944, -0.474170431551900940, -0.803254385636090949};
  EXPECT_NEAR(values(line, x).front(), 3.550677054666725670, 1e-12);
  const Values gx = gradient(line, x, {1});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(gx[i], expected[i], 1e-12);
}

TEST(Trap28, NormOfZerosHasNoGradient) {
  for (const char* p : {"0.5", "1", "2", "2.3", "inf"}) {
    const std::string line = std::string("lp shape=3 kernel=3 p=") + p;
    EXPECT_EQ(values(line, Values(3, 0)), Values{0}) << line;
    EXPECT_EQ(gradient(line, Values(3, 0), {1}), Values(3, 0)) << line;
  }
}

TEST(Trap28, NormWithoutAPositivePowerIsAnError) {
  for (const double p : {0.0, -1.0, -infinity, not_a_number})
    EXPECT_THROW(forward(lp_pool(p, {.kernel = {2}}), arange<double>({4})), Error) << "p " << p;
}

TEST(Trap29, LastOfRepeatedIndicesWinsAndOnlyItGetsTheGradient) {
  const Array<double> y({3}, Values{1, 2, 3}), gx({3}, Values{10, 20, 30});
  const Array<Index> at({3}, Lengths{1, 1, 0});
  Array<double> x({3}, -1), gy({3}, -1);
  max_unpool({.output_size = {3}}).forward(y.view(), at.view(), x.view());
  max_unpool({.output_size = {3}}).vjp(gx.view(), at.view(), gy.view());
  EXPECT_EQ(listed(x), (Values{3, 2, 0}));
  EXPECT_EQ(listed(gy), (Values{0, 20, 10}));
}

TEST(Trap30, ExtentsWhoseProductPasses32Bits) {
  constexpr Index wide = Index{1} << 31;
  const Pool pool = max_pool({.kernel = {2, 2}, .stride = {1, wide / 2}});
  EXPECT_EQ(listed(pool.output_shape({3, wide})), (Lengths{2, 2}));
  EXPECT_EQ(pool.geometry({3, wide}).flat_from_tap({1, 1}, 3), 2 * wide + wide / 2 + 1);
  EXPECT_EQ(pool.geometry({3, wide}).tap_from_flat({1, 1}, 2 * wide + wide / 2), 2);

  const double row_values[] = {1, 3, 2};
  Array<double> y({2, 2});
  Array<Index> at({2, 2});
  pool.forward(view(row_values, {3, wide}, {1, 0}), y.view(), at.view());
  EXPECT_EQ(listed(y), Values(4, 3));
  EXPECT_EQ(listed(at), (Lengths{wide, wide + wide / 2, wide, wide + wide / 2}));
}

TEST(Trap30, BatchOfMoreThan32BitsOfElements) {
  constexpr Index wide = Index{1} << 31;
  const double row_values[] = {1, 3, 2};
  Array<double> y({3, 2});
  sum_pool({.kernel = {3}, .stride = {wide - 3}, .axes = {1}}).forward(view(row_values, {3, wide}, {1, 0}), y.view());
  EXPECT_EQ(listed(y), (Values{3, 3, 9, 9, 6, 6}));
}

TEST(Trap31, HugeDilationOfOneTapReadsOneCell) {
  const std::string line = "max shape=3 kernel=1 stride=1 dilation=2147483647";
  EXPECT_EQ(values(line, {5, 6, 7}), (Values{5, 6, 7}));
  EXPECT_EQ(winners(line, {5, 6, 7}), (Lengths{0, 1, 2}));
  EXPECT_EQ(gradient(line, {5, 6, 7}, {1, 2, 3}), (Values{1, 2, 3}));
}

TEST(Trap32, StrideZeroIsAnError) {
  EXPECT_EQ(code_of("max shape=4 kernel=2 stride=0"), Code::not_positive);
  EXPECT_EQ(code_of("avg shape=4,4 kernel=2,2 stride=2,0"), Code::not_positive);
}

std::vector<std::uint32_t> bits(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> patterns;
  for (const float number : numbers) patterns.push_back(std::bit_cast<std::uint32_t>(number));
  return patterns;
}

TEST(Trap33, ChunksGiveTheBitsOfTheWhole) {
  std::mt19937_64 random(33);
  std::vector<float> x(768);
  for (float& element : x) element = std::uniform_real_distribution<float>(-1, 1)(random);
  for (const char* line : {"max shape=768 kernel=3", "min shape=768 kernel=3", "sum shape=768 kernel=3",
                           "avg shape=768 kernel=3", "smooth-max shape=768 kernel=3", "lp shape=768 kernel=3"}) {
    const std::vector<float> whole = values(line, x);
    ASSERT_EQ(whole.size(), 256u) << line;
    // After 256, 512 and 768 elements have come, 85, 170 and 256 windows are complete; an unfinished window waits.
    std::vector<float> joined;
    for (const Index complete : {85, 170, 256}) {
      const Index done = static_cast<Index>(joined.size());
      Array<float> y({complete - done});
      parse_problem(line).pool.forward(view(x.data() + 3 * done, {3 * (complete - done)}), y.view());
      joined.insert(joined.end(), y.begin(), y.end());
    }
    EXPECT_EQ(bits(joined), bits(whole)) << line;
  }
}

}  // namespace
}  // namespace ndpool::testing
