// Window arithmetic against the definitions, tap by tap. Nothing here asks the library for what it expects.
#include <ndpool/geometry.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ndpool {
namespace {

__extension__ using Wide = __int128;

constexpr Index highest = std::numeric_limits<Index>::max();
constexpr Index two_to(int exponent) { return Index{1} << exponent; }

Index smallest_quotient_not_below(Index numerator, Index denominator) {
  Index quotient = std::min<Index>(numerator, 0);
  while (quotient * denominator < numerator) ++quotient;
  return quotient;
}

Index effective_kernel(const AxisWindow& window) { return window.dilation * (window.kernel - 1) + 1; }

/// Outputs by the definition, 0 where it has an error.
Index defined_outputs(Index length, const AxisWindow& window) {
  const Index room = length + window.lo + window.hi - effective_kernel(window);
  if (!window.ceil_mode) return room < 0 ? 0 : room / window.stride + 1;
  const Index steps = smallest_quotient_not_below(room, window.stride);
  const bool rounded_up = steps * window.stride != room;
  const bool starts_past_input = steps * window.stride >= length + window.lo;
  return std::max<Index>(0, rounded_up && starts_past_input ? steps : steps + 1);
}

/// What the taps of one output fall on, one by one.
Taps defined_taps(Index length, const AxisWindow& window, Index output) {
  Taps taps;
  taps.step = window.dilation;
  taps.length = window.kernel;
  for (Index tap = 0; tap < window.kernel; ++tap) {
    const Index cell = output * window.stride - window.lo + tap * window.dilation;
    const bool real = 0 <= cell && cell < length;
    if (real && taps.count == 0) taps.first = cell, taps.first_tap = tap;
    if (real) ++taps.count;
    if (!real && cell < length + window.hi) ++taps.padded;
  }
  return taps;
}

std::vector<Index> listed(const Progression& progression) {
  std::vector<Index> positions;
  for (Index i = 0; i < progression.count; ++i) positions.push_back(progression.first + i * progression.step);
  return positions;
}

/// outputs[i] lists the outputs that have a tap on cell i; `cells_of(output)` lists the cells of an output.
template <class CellsOf>
std::vector<std::vector<Index>> outputs_per_cell(Index length, Index outputs, CellsOf cells_of) {
  std::vector<std::vector<Index>> seen(static_cast<std::size_t>(length));
  for (Index output = 0; output < outputs; ++output)
    for (const Index cell : cells_of(output)) seen[static_cast<std::size_t>(cell)].push_back(output);
  return seen;
}

std::string describe(Index length, const AxisWindow& window) {
  const auto word = [](const char* name, Index value) { return name + std::to_string(value); };
  return word("L", length) + word(" k", window.kernel) + word(" s", window.stride) + word(" d", window.dilation) +
         word(" lo", window.lo) + word(" hi", window.hi) + (window.ceil_mode ? " ceil" : " floor");
}

class EveryWindow : public ::testing::Test {
 protected:
  static void pads_of(AxisWindow window, std::vector<AxisWindow>& windows) {
    for (window.lo = 0; window.lo <= 3; ++window.lo)
      for (window.hi = 0; window.hi <= 3; ++window.hi)
        for (const bool ceil_mode : {false, true}) {
          window.ceil_mode = ceil_mode;
          windows.push_back(window);
        }
  }

  static std::vector<AxisWindow> kernels() {
    std::vector<AxisWindow> windows;
    AxisWindow window;
    for (window.kernel = 1; window.kernel <= 4; ++window.kernel)
      for (window.stride = 1; window.stride <= 4; ++window.stride)
        for (window.dilation = 1; window.dilation <= 3; ++window.dilation) windows.push_back(window);
    return windows;
  }

  /// `check(length, window, fault, axis)` for every small window; stops at the first that breaks a property.
  template <class Check>
  static void for_each(Check check) {
    std::vector<AxisWindow> windows;
    for (const AxisWindow& kernel : kernels()) pads_of(kernel, windows);
    for (const AxisWindow& window : windows)
      for (Index length = 1; length <= 9 && !HasFailure(); ++length) {
        Axis axis;
        const Fault fault = windowed_axis(length, window, 0, axis);
        SCOPED_TRACE(describe(length, window));
        check(length, window, fault, axis);
      }
  }

  template <class Check>
  static void for_each_that_fits(Check check) {
    for_each([&](Index length, const AxisWindow& window, const Fault& fault, const Axis& axis) {
      if (!fault) check(length, window, axis);
    });
  }
};

TEST_F(EveryWindow, HasTheDefinedNumberOfOutputsOrAnError) {
  for_each([](Index length, const AxisWindow& window, const Fault& fault, const Axis& axis) {
    const Index outputs = defined_outputs(length, window);
    EXPECT_EQ(fault.code, outputs == 0 ? Code::kernel_exceeds_input : Code::none);
    EXPECT_EQ(axis.output, outputs);
  });
}

TEST_F(EveryWindow, HasTheDefinedTaps) {
  for_each_that_fits([](Index length, const AxisWindow& window, const Axis& axis) {
    for (Index output = 0; output < axis.output; ++output) {
      const Taps taps = axis.taps(output), expected = defined_taps(length, window, output);
      const auto numbers = [](const Taps& t) { return std::vector<Index>{t.count, t.padded, t.length, t.step}; };
      EXPECT_EQ(numbers(taps), numbers(expected)) << "output " << output;
      EXPECT_EQ(axis.start(output), output * window.stride - window.lo);
      if (expected.count == 0) continue;
      EXPECT_EQ(std::pair(taps.first, taps.first_tap), std::pair(expected.first, expected.first_tap))
          << "output " << output;
    }
  });
}

TEST_F(EveryWindow, KnowsForEachTapTheOutputsThatHaveItOnTheInput) {
  for_each_that_fits([](Index length, const AxisWindow& window, const Axis& axis) {
    std::vector<int> real_taps(static_cast<std::size_t>(axis.output));
    for (Index tap = 0; tap < window.kernel; ++tap) {
      const Range range = axis.outputs_with_tap(tap);
      for (Index output = 0; output < axis.output; ++output) {
        const Index cell = output * window.stride - window.lo + tap * window.dilation;
        const bool is_real = cell >= 0 && cell < length;
        real_taps[static_cast<std::size_t>(output)] += is_real ? 1 : 0;
        EXPECT_EQ(output >= range.begin && output < range.end, is_real) << "output " << output << ", tap " << tap;
      }
    }
    const Range full = axis.full_outputs();
    for (Index output = 0; output < axis.output; ++output)
      EXPECT_EQ(output >= full.begin && output < full.end,
                real_taps[static_cast<std::size_t>(output)] == window.kernel);
  });
}

TEST_F(EveryWindow, KnowsExactlyTheOutputsThatSeeACell) {
  for_each_that_fits([](Index length, const AxisWindow& window, const Axis& axis) {
    const auto expected = outputs_per_cell(length, axis.output, [&](Index output) {
      const Taps taps = defined_taps(length, window, output);
      return listed({taps.first, taps.count, taps.step});
    });
    CellWalk walk(axis);
    for (Index cell = 0; cell < length; ++cell, walk.next()) {
      EXPECT_EQ(listed(axis.outputs_seeing(cell)), expected[static_cast<std::size_t>(cell)]) << "cell " << cell;
      EXPECT_EQ(listed(walk.outputs()), expected[static_cast<std::size_t>(cell)]) << "cell " << cell;
      EXPECT_EQ(listed(CellWalk(axis, cell).outputs()), expected[static_cast<std::size_t>(cell)]) << "cell " << cell;
    }
  });
}

TEST_F(EveryWindow, NamesTheFirstOutputWithoutACell) {
  for_each_that_fits([](Index length, const AxisWindow& window, const Axis& axis) {
    Index expected = -1;
    for (Index output = axis.output - 1; output >= 0; --output)
      if (defined_taps(length, window, output).count == 0) expected = output;
    EXPECT_EQ(axis.first_empty_output(), expected);
  });
}

TEST(WindowedAxis, FindsTheFirstGapOverTheInputInEverySmallGeometry) {
  int gaps = 0;
  for (Index length = 1; length <= 4; ++length)
    for (Index kernel = 1; kernel <= 4; ++kernel)
      for (Index stride = 1; stride <= 7; ++stride)
        for (Index dilation = 1; dilation <= 11; ++dilation)
          for (Index lo = 0; lo <= 24; ++lo)
            for (const Index hi : {0, 1, 9, 24}) {
              Axis axis;
              if (windowed_axis(length, {kernel, stride, lo, hi, dilation}, 0, axis)) continue;
              Index expected = -1;
              for (Index output = axis.output - 1; output >= 0; --output)
                if (axis.taps(output).count == 0) expected = output;
              ASSERT_EQ(axis.first_empty_output(), expected)
                  << describe(length, {kernel, stride, lo, hi, dilation}) << " lo " << lo << " hi " << hi;
              gaps += expected > 0 && axis.start(expected) < 0 ? 1 : 0;
            }
  EXPECT_GT(gaps, 1000);
}

// Each of these would take years if it looked at one output after another.
TEST(WindowedAxis, FindsEmptyWindowsOfHugeExtentsAtOnce) {
  const auto first_empty = [](Index length, const AxisWindow& window) {
    Axis axis;
    EXPECT_FALSE(windowed_axis(length, window, 0, axis));
    return axis.first_empty_output();
  };
  // Windows of two taps that are one cell further apart than the input is long: only the start at -1 misses it.
  const Index cells = two_to(60);
  EXPECT_EQ(first_empty(cells, {.kernel = 2, .stride = 1, .lo = cells, .hi = cells, .dilation = cells + 1}), cells - 1);
  // Never: starts are even, and the only start that misses the input is odd.
  EXPECT_EQ(first_empty(cells, {.kernel = 2, .stride = 2, .lo = cells, .hi = cells, .dilation = cells + 1}), -1);
  // Steps of 7 on a grid of 2^40 + 1: start n is at 7 n - 2^40, which is -1 for n = (2^40 - 1) / 7 if 7 divides it.
  static_assert((two_to(39) - 1) % 7 == 0);
  EXPECT_EQ(first_empty(two_to(39), {.kernel = 2, .stride = 7, .lo = two_to(39), .hi = 8, .dilation = two_to(39) + 1}),
            (two_to(39) - 1) / 7);
  // Beyond the end, where every window over the input has a cell.
  EXPECT_EQ(first_empty(cells, {.kernel = 1, .stride = 3, .lo = 0, .hi = cells}), cells / 3 + 1);
}

TEST_F(EveryWindow, UnderSameHasOneOutputPerStrideAndTheOddCellOnTheStatedSide) {
  for (AxisWindow window : kernels())
    for (Index length = 1; length <= 9; ++length)
      for (const bool ceil_mode : {false, true}) {
        const Index outputs = smallest_quotient_not_below(length, window.stride);
        const Index total = std::max<Index>(0, (outputs - 1) * window.stride + effective_kernel(window) - length);
        SCOPED_TRACE(describe(length, window));
        Axis upper, lower;
        window.ceil_mode = ceil_mode;
        window.rule = PaddingRule::same_upper;
        ASSERT_FALSE(windowed_axis(length, window, 0, upper));
        window.rule = PaddingRule::same_lower;
        ASSERT_FALSE(windowed_axis(length, window, 0, lower));
        const std::vector<Index> pads{upper.lo, upper.hi, lower.lo, lower.hi};
        ASSERT_EQ(pads, (std::vector<Index>{total / 2, total - total / 2, total - total / 2, total / 2}));
        ASSERT_EQ(std::pair(upper.output, lower.output), std::pair(outputs, outputs));
      }
}

TEST(WindowedAxis, UnderValidHasNoPadding) {
  Axis axis;
  ASSERT_FALSE(windowed_axis(7, {.kernel = 3, .stride = 2, .rule = PaddingRule::valid}, 0, axis));
  EXPECT_EQ((std::vector<Index>{axis.lo, axis.hi, axis.output}), (std::vector<Index>{0, 0, 3}));
}

TEST(WindowedAxis, IsNotWrittenIfSomethingIsWrong) {
  Axis axis = batch_axis(42);
  EXPECT_TRUE(windowed_axis(3, {.kernel = 4}, 0, axis));
  EXPECT_TRUE(adaptive_axis(3, 0, 0, axis));
  EXPECT_EQ(axis.input, 42);
  EXPECT_FALSE(axis.pooled);
}

TEST(WindowedAxis, Has64BitExtents) {
  Axis axis;
  ASSERT_FALSE(windowed_axis(highest, {.kernel = 1, .stride = 1}, 0, axis));
  EXPECT_EQ(axis.output, highest);
  EXPECT_EQ(axis.taps(highest - 1).first, highest - 1);
  ASSERT_FALSE(windowed_axis(two_to(62), {.kernel = 3, .stride = two_to(60), .lo = 1, .hi = 1}, 0, axis));
  EXPECT_EQ(axis.output, 4);
  EXPECT_EQ(axis.taps(3).first, 3 * two_to(60) - 1);
  EXPECT_EQ(listed(axis.outputs_seeing(two_to(61))), std::vector<Index>{2});
  EXPECT_EQ(listed(axis.outputs_seeing(two_to(61) + 2)), std::vector<Index>{});
  ASSERT_FALSE(windowed_axis(two_to(62), {.kernel = 2, .stride = two_to(61), .dilation = two_to(61)}, 0, axis));
  EXPECT_EQ(axis.output, 1);
  EXPECT_EQ(axis.taps(0).count, 2);
  EXPECT_EQ(axis.first_empty_output(), -1);
}

TEST(WindowedAxis, ReportsOverflowOfEverySum) {
  struct Case {
    AxisWindow window;
    Argument argument;
  };
  const Case cases[] = {
      {{.kernel = 3, .dilation = two_to(62)}, Argument::dilation},
      {{.kernel = 2, .dilation = highest}, Argument::dilation},
      {{.kernel = 2, .lo = highest}, Argument::padding},
      {{.kernel = 2, .lo = two_to(62), .hi = two_to(62)}, Argument::padding},
      {{.kernel = highest, .rule = PaddingRule::same_upper}, Argument::kernel},
      {{.kernel = highest, .rule = PaddingRule::same_lower}, Argument::kernel},
  };
  for (const Case& one : cases) {
    Axis axis;
    const Fault fault = windowed_axis(8, one.window, 5, axis);
    EXPECT_EQ(fault.code, Code::overflow);
    EXPECT_EQ(fault.argument, one.argument);
    EXPECT_EQ(fault.axis, 5);
  }
}

struct Bin {
  Index begin;
  Index end;
};

Bin defined_bin(Index length, Index bins, Index bin) {
  const Wide begin = Wide(bin) * length / bins, end = (Wide(bin + 1) * length + bins - 1) / bins;
  return {static_cast<Index>(begin), static_cast<Index>(end)};
}

bool sees(Index length, Index bins, Index bin, Index cell) {
  if (bin < 0 || bin >= bins) return false;
  const Bin defined = defined_bin(length, bins, bin);
  return defined.begin <= cell && cell < defined.end;
}

TEST(AdaptiveAxis, HasTheDefinedBinsForEverySmallLength) {
  for (Index length = 1; length <= 12; ++length)
    for (Index bins = 1; bins <= 15; ++bins) {
      SCOPED_TRACE("L" + std::to_string(length) + " bins " + std::to_string(bins));
      Axis axis;
      ASSERT_FALSE(adaptive_axis(length, bins, 0, axis));
      Index longest = 0;
      for (Index bin = 0; bin < bins; ++bin) {
        const Bin expected = defined_bin(length, bins, bin);
        const Taps taps = axis.taps(bin);
        longest = std::max(longest, expected.end - expected.begin);
        ASSERT_EQ(std::pair(taps.first, taps.first + taps.count), std::pair(expected.begin, expected.end));
        ASSERT_EQ((std::vector<Index>{taps.step, taps.first_tap, taps.length, taps.padded}),
                  (std::vector<Index>{1, 0, taps.count, 0}));
      }
      ASSERT_EQ(std::pair(axis.kernel, axis.output), std::pair(longest, bins));
      ASSERT_EQ(axis.first_empty_output(), -1);
      for (Index cell = 0; cell < length; ++cell) {
        std::vector<Index> expected;
        for (Index bin = 0; bin < bins; ++bin)
          if (sees(length, bins, bin, cell)) expected.push_back(bin);
        ASSERT_EQ(listed(axis.outputs_seeing(cell)), expected) << "cell " << cell;
      }
    }
}

TEST(AdaptiveAxis, DoesNotOverflowWithHugeNumbers) {
  const std::pair<Index, Index> sizes[] = {{two_to(62) - 57, two_to(61) + 11},
                                           {two_to(61) + 11, two_to(62) - 57},
                                           {two_to(62), two_to(61)},
                                           {highest, 3},
                                           {3, highest},
                                           {highest, highest}};
  std::mt19937_64 random(1);
  for (const auto& [length, bins] : sizes) {
    Axis axis;
    ASSERT_FALSE(adaptive_axis(length, bins, 0, axis));
    // The bin after a start that rounds down by the most, (bins - gcd) / bins of a cell, is the longest.
    const Wide furthest = Wide(bins) - std::gcd(length, bins) + length;
    EXPECT_EQ(axis.kernel, static_cast<Index>((furthest + bins - 1) / bins));
    std::vector<Index> samples{0, 1, bins / 2, bins - 2, bins - 1};
    for (int i = 0; i < 200; ++i) samples.push_back(std::uniform_int_distribution<Index>(0, bins - 1)(random));
    for (const Index bin : samples) {
      const Bin expected = defined_bin(length, bins, bin);
      ASSERT_EQ(std::pair(axis.start(bin), axis.start(bin) + axis.taps(bin).count),
                std::pair(expected.begin, expected.end))
          << "L" << length << " bins " << bins << " bin " << bin;
      ASSERT_LE(expected.end - expected.begin, axis.kernel);
      for (const Index cell : {expected.begin, expected.end - 1}) {
        const Progression seen = axis.outputs_seeing(cell);
        const Index last = seen.first + (seen.count - 1) * seen.step;
        ASSERT_TRUE(seen.count > 0 && sees(length, bins, seen.first, cell) && sees(length, bins, last, cell));
        ASSERT_FALSE(sees(length, bins, seen.first - 1, cell) || sees(length, bins, last + 1, cell));
      }
    }
  }
}

/// The flat index under every tap of an output from the definitions, -1 for taps on no cell; in order of tap numbers.
std::vector<Index> flat_index_of_taps(const Geometry& geometry, const Shape& output) {
  std::vector<Index> flats{0};
  for (int a = 0; a < geometry.rank; ++a) {
    const Axis& axis = geometry.axes[a];
    if (!axis.pooled) continue;
    const Bin bin = axis.adaptive ? defined_bin(axis.input, axis.output, output[a])
                                  : Bin{output[a] * axis.stride - axis.lo, axis.input};
    std::vector<Index> extended;
    for (const Index flat : flats)
      for (Index tap = 0; tap < axis.kernel; ++tap) {
        const Index cell = bin.begin + tap * axis.dilation;
        const bool real = flat >= 0 && 0 <= cell && cell < bin.end;
        extended.push_back(real ? flat * axis.input + cell : -1);
      }
    flats = extended;
  }
  return flats;
}

void expect_round_trips(const Geometry& geometry, const Shape& output) {
  const std::vector<Index> flats = flat_index_of_taps(geometry, output);
  ASSERT_EQ(static_cast<Index>(flats.size()), geometry.tap_count());
  std::vector<Index> tap_of_cell(static_cast<std::size_t>(geometry.cell_count()), -1);
  for (std::size_t tap = 0; tap < flats.size(); ++tap) {
    if (flats[tap] < 0) continue;
    tap_of_cell[static_cast<std::size_t>(flats[tap])] = static_cast<Index>(tap);
    ASSERT_EQ(geometry.flat_from_tap(output, static_cast<Index>(tap)), flats[tap]);
  }
  for (Index flat = 0; flat < geometry.cell_count(); ++flat)
    ASSERT_EQ(geometry.tap_from_flat(output, flat), tap_of_cell[static_cast<std::size_t>(flat)]) << "flat " << flat;
  ASSERT_EQ(geometry.tap_from_flat(output, -1), -1);
  ASSERT_EQ(geometry.tap_from_flat(output, geometry.cell_count()), -1);
}

template <class Description>
void expect_round_trips_everywhere(const Description& description, const Shape& shape) {
  Geometry geometry;
  ASSERT_EQ(resolve(description, shape, geometry).code, Code::none);
  const Shape outputs = geometry.output_shape();
  for (Index number = 0; number < element_count(outputs); ++number) {
    Shape output = outputs;
    Index rest = number;
    for (int a = outputs.size() - 1; a >= 0; --a) output[a] = rest % outputs[a], rest /= outputs[a];
    expect_round_trips(geometry, output);
  }
}

TEST(Geometry, FlatIndicesAndTapNumbersAreTwoNamesOfACell) {
  expect_round_trips_everywhere(Window{.kernel = {3}, .stride = {1}, .padding = {2}}, {5});
  expect_round_trips_everywhere(Window{.kernel = {2, 3}, .stride = {1, 2}, .padding = {{1, 0}, {2, 1}}}, {4, 5});
  expect_round_trips_everywhere(Window{.kernel = {3, 2}, .padding = {1, 1}, .dilation = {2, 3}, .axes = {2, 0}},
                                {6, 2, 7});
  expect_round_trips_everywhere(Window{.kernel = {2, 2, 2}, .stride = {2, 3, 1}, .ceil_mode = true}, {3, 5, 2});
  expect_round_trips_everywhere(Adaptive{.output_size = {3, 4}}, {5, 7});
  expect_round_trips_everywhere(Adaptive{.output_size = {5, 2}, .axes = {0, 2}}, {3, 2, 5});
  expect_round_trips_everywhere(Global{.axes = {1, 2}}, {2, 3, 4});
}

TEST(Geometry, CellOfAFlatIndexStaysInTheBatchOfItsOutput) {
  Geometry geometry;
  ASSERT_FALSE(resolve(Window{.kernel = {2, 2}, .axes = {0, 2}}, Shape{4, 3, 6}, geometry));
  EXPECT_EQ(geometry.cell_from_flat({1, 2, 0}, 3 * 6 + 5), (Shape{3, 2, 5}));
}

TEST(Geometry, ReportsOverflowOfEveryProduct) {
  struct Case {
    Fault fault;
    Argument argument;
  };
  Geometry geometry;
  const Case cases[] = {
      {resolve(Global{}, Shape{two_to(32), two_to(32)}, geometry), Argument::shape},
      {resolve(Window{.kernel = {1}}, Shape{two_to(32), two_to(32)}, geometry), Argument::shape},
      {resolve(Window{.kernel = {two_to(32), two_to(32)}, .padding = PaddingRule::same_upper}, Shape{1, 1}, geometry),
       Argument::kernel},
      {resolve(Adaptive{.output_size = {two_to(32), two_to(32)}}, Shape{1, 1}, geometry), Argument::output_size},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(one.fault.code, Code::overflow);
    EXPECT_EQ(one.fault.argument, one.argument);
  }
  EXPECT_FALSE(resolve(Global{}, Shape{two_to(31), two_to(31)}, geometry));
  EXPECT_EQ(geometry.cell_count(), two_to(62));
}

constexpr Geometry resolved_at_compile_time() {
  Geometry geometry;
  const bool wrong(
      resolve(Window{.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}, Shape{64, 112, 112}, geometry));
  return wrong ? Geometry{} : geometry;
}

constexpr Code code_at_compile_time(const Window& window, const Shape& shape) {
  Geometry geometry;
  return resolve(window, shape, geometry).code;
}

static_assert(resolved_at_compile_time().output_shape() == Shape{64, 56, 56});
static_assert(resolved_at_compile_time().axes[1].taps(0).count == 2);
static_assert(resolved_at_compile_time().axes[1].taps(0).padded == 1);
static_assert(resolved_at_compile_time().axes[2].outputs_seeing(1).count == 2);
static_assert(resolved_at_compile_time().flat_from_tap({0, 1, 1}, 4) == 2 * 112 + 2);
static_assert(code_at_compile_time({.kernel = {5}}, {4}) == Code::kernel_exceeds_input);
static_assert(code_at_compile_time({.kernel = {2}, .stride = {0}}, {4}) == Code::not_positive);
static_assert(adaptive_start(two_to(62), two_to(61), two_to(60)) == two_to(61));
static_assert(adaptive_end(5, 3, 0) == 2);
// Without bins there is no bin to begin or end: 0, as division by 0 gives for natural numbers in TorchLean.
static_assert(adaptive_start(5, 0, 1) == 0 && adaptive_end(5, 0, 1) == 0);
static_assert(adaptive_start(0, 0, 0) == 0 && adaptive_end(0, 0, 0) == 0 && adaptive_start(5, -3, 1) == 0);
static_assert(Axis{.output = 3, .adaptive = true}.outputs_seeing(0).count == 0);
static_assert(Axis{.input = 3, .adaptive = true}.taps(0).count == 0);

}  // namespace
}  // namespace ndpool
