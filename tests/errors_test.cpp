// Wrong calls: each throws its code, says in one sentence what is wrong, and writes nothing.
#include "support/array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ndpool {
namespace {

using enum Code;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr Index huge = Index{1} << 40;
constexpr Index highest = std::numeric_limits<Index>::max();

/// A scalar with an order and a field but no lowest number.
struct Exact {
  Index value = 0;
  constexpr Exact() = default;
  constexpr explicit Exact(Index number) : value(number) {}
  friend constexpr auto operator<=>(const Exact&, const Exact&) = default;
  friend constexpr Exact operator+(Exact a, Exact b) { return Exact(a.value + b.value); }
  friend constexpr Exact operator-(Exact a, Exact b) { return Exact(a.value - b.value); }
  friend constexpr Exact operator*(Exact a, Exact b) { return Exact(a.value * b.value); }
  friend constexpr Exact operator/(Exact a, Exact b) { return Exact(a.value / b.value); }
};

template <class T>
using Buffer = std::array<T, 64>;

/// All memory that a wrong call can reach. Nothing of it may change.
struct Memory {
  Buffer<float> x, dx, y, dy, gy, gx;
  Buffer<Index> indices;
  Buffer<std::uint8_t> taps;
  Buffer<int> integers, integer_results;
  Buffer<std::complex<double>> complex, complex_results;
  Buffer<Exact> exact, exact_results;

  Memory() {
    for (auto* buffer : {&x, &dx, &y, &dy, &gy, &gx}) buffer->fill(-7.5F);
    indices.fill(3);
    taps.fill(1);
    for (auto* buffer : {&integers, &integer_results}) buffer->fill(-77);
    for (auto* buffer : {&complex, &complex_results}) buffer->fill({1, 2});
    for (auto* buffer : {&exact, &exact_results}) buffer->fill(Exact(9));
  }
  bool operator==(const Memory&) const = default;
};

using Call = std::function<void(Memory&)>;

/// A wrong call, what it throws and what that says; `...` stands for any words.
struct Wrong {
  Wrong(const char* its_name, Code its_code, const char* it_says, const Call& its_call)
      : name(its_name), code(its_code), says(it_says), call(its_call) {}

  std::string name;
  Code code;
  std::string says;
  Call call;

  friend std::ostream& operator<<(std::ostream& out, const Wrong& wrong) { return out << wrong.name; }
};

template <class T>
View<T> on(Buffer<T>& buffer, const Shape& shape) {
  return view(buffer.data(), shape);
}

/// The bytes of a buffer as another type, for outputs that lie on inputs.
template <class T, class U>
View<T> over(Buffer<U>& buffer, const Shape& shape) {
  return view(reinterpret_cast<T*>(buffer.data()), shape);
}

// Calls on packed arrays of the given shapes.
Call forward(const Pool& pool, const Shape& x, const Shape& y = {}) {
  return [=](Memory& m) { pool.forward(on(m.x, x), on(m.y, y)); };
}
Call forward(const Pool& pool, const Shape& x, const Shape& y, const Shape& indices) {
  return [=](Memory& m) { pool.forward(on(m.x, x), on(m.y, y), on(m.indices, indices)); };
}
Call jvp(const Pool& pool, const Shape& x, const Shape& dx, const Shape& dy) {
  return [=](Memory& m) { pool.jvp(on(m.x, x), on(m.dx, dx), on(m.dy, dy)); };
}
Call vjp(const Pool& pool, const Shape& x, const Shape& gy, const Shape& gx) {
  return [=](Memory& m) { pool.vjp(on(m.x, x), on(m.gy, gy), on(m.gx, gx)); };
}
Call unpool(const Adaptive& size, const Shape& values, const Shape& indices, const Shape& x) {
  return [=](Memory& m) { max_unpool(size).forward(on(m.y, values), on(m.indices, indices), on(m.x, x)); };
}
Call unpool_vjp(const Adaptive& size, const Shape& indices, const Shape& gx, const Shape& gy) {
  return [=](Memory& m) { max_unpool(size).vjp(on(m.gx, gx), on(m.indices, indices), on(m.gy, gy)); };
}
Call compact(const Pool& pool, const Shape& x, const Shape& indices, const Shape& taps) {
  return [=](Memory& m) { spec::compact_from_flat(pool.geometry(x), on(m.indices, indices), on(m.taps, taps)); };
}
Call expand(const Pool& pool, const Shape& x, const Shape& taps, const Shape& indices) {
  return [=](Memory& m) { spec::flat_from_compact(pool.geometry(x), on(m.taps, taps), on(m.indices, indices)); };
}

const Pool pairs = max_pool({.kernel = {2, 2}});
const Pool couples = max_pool({.kernel = {2}});
const Unpool to_four = max_unpool({.output_size = {4}});

std::vector<Wrong> wrong_windows() {
  return {
      Wrong("KernelZero", not_positive, "kernel 0 on axis 1...at least 1",
            forward(max_pool({.kernel = {2, 0}}), {4, 4})),
      Wrong("KernelNegative", not_positive, "kernel -2 on axis 0",
            forward(max_pool({.kernel = {-2}, .axes = {0}}), {4, 4})),
      Wrong("StrideZero", not_positive, "stride 0 on axis 0...at least 1",
            forward(max_pool({.kernel = {2}, .stride = {0}}), {4})),
      Wrong("StrideNegative", not_positive, "stride -3 on axis 2",
            forward(max_pool({.kernel = {2, 2}, .stride = {2, -3}}), {4, 4, 4})),
      Wrong("DilationZero", not_positive, "dilation 0 on axis 0...at least 1",
            forward(sum_pool({.kernel = {2}, .dilation = {0}}), {4})),
      Wrong("DilationNegative", not_positive, "dilation -1 on axis 1",
            forward(sum_pool({.kernel = {2}, .dilation = {-1}}), {4, 4})),
      Wrong("PaddingBeforeNegative", negative, "padding -1 on axis 0...negative",
            forward(sum_pool({.kernel = {2}, .padding = {-1}}), {4})),
      Wrong("PaddingAfterNegative", negative, "padding -2 on axis 0...negative",
            forward(sum_pool({.kernel = {2}, .padding = {{1, -2}}}), {4})),
      Wrong("StrideCount", wrong_count, "stride has 1 entry...must be 2",
            forward(max_pool({.kernel = {2, 2}, .stride = {2}}), {4, 4})),
      Wrong("PaddingCount", wrong_count, "padding has 3 entries...must be 2",
            forward(max_pool({.kernel = {2, 2}, .padding = {0, 0, 0}}), {4, 4})),
      Wrong("DilationCount", wrong_count, "dilation has 2 entries...must be 1",
            forward(max_pool({.kernel = {2}, .dilation = {1, 1}}), {4, 4})),
      Wrong("AxesCount", wrong_count, "axes has 1 entry...must be 2",
            forward(max_pool({.kernel = {2, 2}, .axes = {0}}), {4, 4})),
      Wrong("AxesCountAdaptive", wrong_count, "axes has 2 entries...must be 1",
            forward(adaptive_max_pool({.output_size = {2}, .axes = {0, 1}}), {4, 4})),
      Wrong("NoKernel", nothing_to_pool, "no axis to pool...1 ax", forward(max_pool({}), {4})),
      Wrong("NoBins", nothing_to_pool, "no axis to pool...2 axes", forward(adaptive_max_pool({}), {4, 4})),
      Wrong("GlobalOfRankZero", nothing_to_pool, "no axis to pool...0 axes", forward(global_max_pool({}), {})),
      Wrong("MoreKernelsThanAxes", too_many_axes, "2 axes...only 1", forward(pairs, {4})),
      Wrong("MoreBinsThanAxes", too_many_axes, "3 axes...only 2",
            forward(adaptive_avg_pool({.output_size = {2, 2, 2}}), {4, 4})),
      Wrong("MoreGlobalAxesThanAxes", too_many_axes, "3 axes...only 2",
            forward(global_sum_pool({.axes = {0, 1, 2}}), {4, 4})),
      Wrong("AxisPastTheLast", axis_out_of_range, "axes names axis 2...has 2 axes",
            forward(max_pool({.kernel = {2}, .axes = {2}}), {4, 4})),
      Wrong("AxisBeforeTheFirst", axis_out_of_range, "axes names axis -3...has 2 axes",
            forward(max_pool({.kernel = {2}, .axes = {-3}}), {4, 4})),
      Wrong("GlobalAxisPastTheLast", axis_out_of_range, "axes names axis 5...has 1 axis",
            forward(global_avg_pool({.axes = {5}}), {4})),
      Wrong("AxisTwice", axis_repeated, "axes names axis 0 twice",
            forward(max_pool({.kernel = {2, 2}, .axes = {0, 0}}), {4, 4})),
      Wrong("AxisTwiceFromBothEnds", axis_repeated, "axes names axis 1 twice",
            forward(max_pool({.kernel = {2, 2}, .axes = {1, -1}}), {4, 4})),
      Wrong("KernelExceedsInput", kernel_exceeds_input, "kernel 5 on axis 1...input 4",
            forward(max_pool({.kernel = {2, 5}}), {4, 4})),
      Wrong("KernelExceedsPaddedInput", kernel_exceeds_input, "kernel 8 on axis 0...input 4...padding 1 and 2...7",
            forward(max_pool({.kernel = {8}, .padding = {{1, 2}}}), {4})),
      Wrong("DilatedKernelExceedsInput", kernel_exceeds_input, "kernel 3 on axis 0 with dilation 3...spans 7...input 6",
            forward(avg_pool({.kernel = {3}, .dilation = {3}}), {6})),
      Wrong("KernelExceedsInputInCeilMode", kernel_exceeds_input, "kernel 4 on axis 0...input 1",
            forward(max_pool({.kernel = {4}, .stride = {1}, .ceil_mode = true}), {1})),
      Wrong("KernelExceedsInputUnderValid", kernel_exceeds_input, "kernel 3 on axis 0...input 2",
            forward(max_pool({.kernel = {3}, .padding = PaddingRule::valid}), {2})),
      Wrong("BinsZero", not_positive, "output_size 0 on axis 1...at least 1",
            forward(adaptive_max_pool({.output_size = {2, 0}}), {4, 4})),
      Wrong("BinsNegative", not_positive, "output_size -1 on axis 0",
            forward(adaptive_max_pool({.output_size = {-1}}), {4})),
      Wrong("PooledAxisWithoutCells", zero_length, "axis 1...length 0", forward(couples, {3, 0})),
      Wrong("PooledAxisWithoutCellsAdaptive", zero_length, "axis 0...length 0",
            forward(adaptive_avg_pool({.output_size = {2}, .axes = {0}}), {0, 3})),
      Wrong("PooledAxisWithoutCellsGlobal", zero_length, "axis 1...length 0", forward(global_sum_pool({}), {3, 0})),
      Wrong("LengthNegative", negative, "shape -4 on axis 0", forward(couples, {-4})),
      Wrong("BatchNegative", negative, "shape -1 on axis 0", forward(couples, {-1, 4})),
      Wrong("Rank65", rank_too_large, "shape has 65 axes...64", forward(couples, Shape::filled(65, 1))),
      Wrong("Rank65Global", rank_too_large, "shape has 65 axes...64",
            forward(global_max_pool({}), Shape::filled(65, 1))),
      Wrong("Kernel65", rank_too_large, "kernel has 65 axes...64",
            forward(max_pool({.kernel = Shape::filled(65, 1)}), {4})),
      Wrong("OutputSize65", rank_too_large, "output_size has 65 axes...64",
            forward(adaptive_max_pool({.output_size = Shape::filled(65, 1)}), {4})),
  };
}

std::vector<Wrong> empty_windows_and_overflows() {
  return {
      Wrong("EmptyWindowOfMax", empty_window,
            "padding 3 on axis 1 leaves output 0 without an input element (kernel 2, stride 2, input 5)",
            forward(max_pool({.kernel = {2}, .stride = {2}, .padding = {3}}), {4, 5}, {4, 5})),
      Wrong("EmptyWindowOfMinAtTheEnd", empty_window, "padding 4 on axis 0...output 2...kernel 2...stride 2...input 4",
            forward(min_pool({.kernel = {2}, .padding = {{0, 4}}}), {4}, {4})),
      Wrong("EmptyWindowOfDilatedMax", empty_window, "padding 3 on axis 0...output 1...kernel 2...stride 1...input 2",
            forward(max_pool({.kernel = {2}, .stride = {1}, .padding = {3}, .dilation = {4}}), {2}, {4})),
      Wrong("EmptyWindowOfLp", empty_window, "padding 1 on axis 0...output 0",
            forward(lp_pool(2, {.kernel = {1}, .padding = {1}}), {4}, {6})),
      Wrong("EmptyWindowOfLargestMagnitude", empty_window, "padding 1 on axis 0...output 4",
            forward(lp_pool(infinity, {.kernel = {1}, .padding = {{0, 1}}}), {4}, {5})),
      Wrong("EmptyWindowOfAverageExcludingPadding", empty_window, "padding 1 on axis 0...output 0",
            forward(avg_pool({.kernel = {1}, .padding = {1}}, {.count_include_pad = false}), {4}, {6})),
      Wrong("EmptyWindowOfSmoothMaxIgnoringPadding", empty_window, "padding 1 on axis 0...output 0",
            forward(smooth_max_pool({.kernel = {1}, .padding = {1}}, {.pad_mode = PadMode::ignore}), {4}, {6})),
      Wrong("EmptyWindowWithIndices", empty_window, "padding 1 on axis 0...output 0",
            forward(max_pool({.kernel = {1}, .padding = {1}}), {4}, {6}, {6})),
      Wrong("EmptyWindowOfJvp", empty_window, "padding 1 on axis 0...output 0",
            jvp(max_pool({.kernel = {1}, .padding = {1}}), {4}, {4}, {6})),
      Wrong("EmptyWindowOfVjp", empty_window, "padding 1 on axis 0...output 0",
            vjp(max_pool({.kernel = {1}, .padding = {1}}), {4}, {6}, {4})),
      Wrong("NoIdentityOfAnExactScalar", no_identity, "empty...output 0...axis 0",
            [](Memory& m) {
              max_pool({.kernel = {1}, .padding = {1}}, {.empty = Empty::identity})
                  .forward(on(m.exact, {4}), on(m.exact_results, {6}));
            }),
      Wrong("DilatedKernelOverflows", overflow, "dilation 4611686018427387904 on axis 0...64 bits",
            forward(max_pool({.kernel = {3}, .dilation = {highest / 2 + 1}}), {4})),
      Wrong("PaddedLengthOverflows", overflow, "padding 9223372036854775807 on axis 0...64 bits",
            forward(sum_pool({.kernel = {2}, .padding = {highest}}), {4})),
      Wrong("PaddingMakesTooManyOutputs", overflow, "padding 1099511627776 on axis 1...64 bits",
            forward(sum_pool({.kernel = {1, 1}, .padding = {1, {0, huge}}}), {huge, 1})),
      Wrong("SameKernelOverflows", overflow, "kernel 9223372036854775807 on axis 0...64 bits",
            forward(sum_pool({.kernel = {highest}, .stride = {1}, .padding = PaddingRule::same_upper}), {4})),
      Wrong("KernelProductOverflows", overflow, "kernel 1099511627776 on axis 0...64 bits",
            forward(sum_pool({.kernel = {huge, huge}, .padding = PaddingRule::same_upper}), {1, 1})),
      Wrong("PooledProductOverflows", overflow, "shape 1099511627776 on axis 0...64 bits",
            forward(global_sum_pool({}), {huge, huge})),
      Wrong("ElementCountOverflows", overflow, "shape...64 bits", forward(couples, {huge, huge})),
      Wrong("OutputCountOverflows", overflow, "output_size...64 bits",
            forward(adaptive_sum_pool({.output_size = {huge, huge}}), {1, 1})),
      Wrong("StridesOverflow", overflow, "strides 9223372036854775807 on axis 0...64 bits",
            [](Memory& m) {
              couples.forward(view(m.x.data(), {3, 4}, {highest, 1}), on(m.y, {3, 2}));
            }),
      Wrong("ElementCountOfAContainerOverflows", overflow, "shape...64 bits",
            [](Memory& m) {
              static_cast<void>(view(m.x, {huge, huge}));
            }),
  };
}

std::vector<Wrong> wrong_options_and_scalars() {
  return {
      Wrong("DivisorZero", zero_divisor, "divisor 0", forward(avg_pool({.kernel = {2}}, {.divisor = 0}), {4}, {2})),
      Wrong("DivisorZeroInVjp", zero_divisor, "divisor 0",
            vjp(avg_pool({.kernel = {2}}, {.divisor = 0}), {4}, {2}, {4})),
      Wrong("BetaZero", beta_not_usable, "beta 0...finite",
            forward(smooth_max_pool({.kernel = {2}}, {.beta = 0}), {4}, {2})),
      Wrong("BetaInfinite", beta_not_usable, "beta inf...finite",
            forward(smooth_max_pool({.kernel = {2}}, {.beta = infinity}), {4}, {2})),
      Wrong("BetaMinusInfinite", beta_not_usable, "beta -inf...finite",
            jvp(global_smooth_max_pool({}, {.beta = -infinity}), {4}, {4}, {})),
      Wrong("BetaNan", beta_not_usable, "beta nan...finite",
            forward(smooth_max_pool({.kernel = {2}}, {.beta = not_a_number}), {4}, {2})),
      Wrong("BetaOfAMax", no_beta, "beta...smooth max only",
            [](Memory& m) { couples.beta_derivative(on(m.x, {4}), on(m.dy, {2})); }),
      Wrong("BetaOfIntegers", no_transcendentals, "x has...exp",
            [](Memory& m) {
              smooth_max_pool({.kernel = {2}}).beta_derivative(on(m.integers, {4}), on(m.integer_results, {2}));
            }),
      Wrong("DerivativeByBetaZero", beta_not_usable, "beta 0...finite",
            [](Memory& m) {
              smooth_max_pool({.kernel = {2}}, {.beta = 0}).beta_derivative(on(m.x, {4}), on(m.dy, {2}));
            }),
      Wrong("DerivativeByBetaShape", shape_mismatch, "dy has length 3 on axis 0...expected 2",
            [](Memory& m) { smooth_max_pool({.kernel = {2}}).beta_derivative(on(m.x, {4}), on(m.dy, {3})); }),
      Wrong("DerivativeByBetaOverX", overlap, "dy overlaps",
            [](Memory& m) { smooth_max_pool({.kernel = {2}}).beta_derivative(on(m.x, {4}), on(m.x, {2})); }),
      Wrong("DerivativeByBetaOfAnEmptyWindow", empty_window, "padding 4 on axis 0 leaves output 2",
            [](Memory& m) {
              smooth_max_pool({.kernel = {2}, .padding = {{0, 4}}}, {.pad_mode = PadMode::ignore})
                  .beta_derivative(on(m.x, {4}), on(m.dy, {4}));
            }),
      Wrong("PowerZero", p_not_positive, "p 0...greater than 0", forward(lp_pool(0, {.kernel = {2}}), {4}, {2})),
      Wrong("PowerNegative", p_not_positive, "p -1.5...greater than 0",
            forward(adaptive_lp_pool(-1.5, {.output_size = {2}}), {4}, {2})),
      Wrong("PowerMinusInfinite", p_not_positive, "p -inf", vjp(lp_pool(-infinity, {.kernel = {2}}), {4}, {2}, {4})),
      Wrong("PowerNan", p_not_positive, "p nan", forward(lp_pool(not_a_number, {.kernel = {2}}), {4}, {2})),
      Wrong("PowerInfiniteInTheSpecOfFiniteOnes", p_not_finite, "p inf",
            [](Memory& m) {
              spec::forward(couples.geometry({4}), spec::Lp<float>{infinity, {}}, on(m.x, {4}), on(m.y, {2}));
            }),
      Wrong("TiesOfAFinitePower", ties_without_extreme, "ties...p is 2",
            forward(lp_pool(2, {.kernel = {2}}, {.ties = Ties::all}), {4}, {2})),
      Wrong("TiesOfAFinitePowerGlobal", ties_without_extreme, "ties...p is 3",
            forward(global_lp_pool(3, {}, {.ties = Ties::first}), {4})),
      Wrong("JvpOfIntegers", no_derivative, "x has...derivative",
            [](Memory& m) { couples.jvp(on(m.integers, {4}), on(m.integers, {4}), on(m.integer_results, {2})); }),
      Wrong("VjpOfIntegers", no_derivative, "x has...derivative",
            [](Memory& m) {
              sum_pool({.kernel = {2}}).vjp(on(m.integers, {4}), on(m.integers, {2}), on(m.integer_results, {4}));
            }),
      Wrong("IndicesOfASum", no_indices, "indices...max and min", forward(sum_pool({.kernel = {2}}), {4}, {2}, {2})),
      Wrong("IndicesOfAnAverage", no_indices, "indices...max and min", forward(global_avg_pool({}), {4}, {}, {})),
      Wrong("IndicesOfASmoothMax", no_indices, "indices...max and min",
            forward(smooth_max_pool({.kernel = {2}}), {4}, {2}, {2})),
      Wrong("IndicesOfANorm", no_indices, "indices...max and min", forward(lp_pool(2, {.kernel = {2}}), {4}, {2}, {2})),
      Wrong(
          "SmoothMaxOfIntegers", no_transcendentals, "x has...exp",
          [](Memory& m) { smooth_max_pool({.kernel = {2}}).forward(on(m.integers, {4}), on(m.integer_results, {2})); }),
      Wrong("NormOfIntegers", no_transcendentals, "x has...pow",
            [](Memory& m) { lp_pool(2, {.kernel = {2}}).forward(on(m.integers, {4}), on(m.integer_results, {2})); }),
      Wrong("MaxOfComplexNumbers", no_order, "x has...order",
            [](Memory& m) { couples.forward(on(m.complex, {4}), on(m.complex_results, {2})); }),
      Wrong("MinOfComplexNumbers", no_order, "x has...order",
            [](Memory& m) { min_pool({.kernel = {2}}).forward(on(m.complex, {4}), on(m.complex_results, {2})); }),
  };
}

std::vector<Wrong> wrong_arrays() {
  return {
      Wrong("XNull", null_data, "x has elements...null",
            [](Memory& m) { couples.forward(View<float>(nullptr, {4}), on(m.y, {2})); }),
      Wrong("YNull", null_data, "y has elements...null",
            [](Memory& m) { couples.forward(on(m.x, {4}), View<float>(nullptr, {2})); }),
      Wrong("IndicesNull", null_data, "indices has elements...null",
            [](Memory& m) { couples.forward(on(m.x, {4}), on(m.y, {2}), View<Index>(nullptr, {2})); }),
      Wrong("DxNull", null_data, "dx has elements...null",
            [](Memory& m) { couples.jvp(on(m.x, {4}), View<float>(nullptr, {4}), on(m.dy, {2})); }),
      Wrong("DyNull", null_data, "dy has elements...null",
            [](Memory& m) { couples.jvp(on(m.x, {4}), on(m.dx, {4}), View<float>(nullptr, {2})); }),
      Wrong("GyNull", null_data, "gy has elements...null",
            [](Memory& m) { couples.vjp(on(m.x, {4}), View<float>(nullptr, {2}), on(m.gx, {4})); }),
      Wrong("VjpOfLinearOfAMaximum", null_data, "x has elements...null",
            [](Memory& m) { couples.plan<float>({4}).vjp_of_linear(m.gy.data(), m.gx.data()); }),
      Wrong("GxNull", null_data, "gx has elements...null",
            [](Memory& m) { couples.vjp(on(m.x, {4}), on(m.gy, {2}), View<float>(nullptr, {4})); }),
      Wrong("YShape", shape_mismatch, "y has length 2 on axis 1...expected 3", forward(pairs, {4, 6}, {2, 2})),
      Wrong("YRank", rank_mismatch, "y has 1 ax...expected 2", forward(pairs, {4, 6}, {6})),
      Wrong("YRank65", rank_too_large, "y has 65 axes...64", forward(couples, {4}, Shape::filled(65, 1))),
      Wrong("YRankOfAGlobalPoolThatDropsAxes", rank_mismatch, "y has 2 axes...expected 1",
            forward(global_max_pool({.axes = {1}}), {3, 4}, {3, 1})),
      Wrong("YRankOfAGlobalPoolThatKeepsAxes", rank_mismatch, "y has 1 ax...expected 2",
            forward(global_max_pool({.axes = {1}, .keepdims = true}), {3, 4}, {3})),
      Wrong("YBatch", shape_mismatch, "y has length 2 on axis 0...expected 3", forward(couples, {3, 4}, {2, 2})),
      Wrong("IndicesShape", shape_mismatch, "indices has length 3 on axis 0...expected 2",
            forward(couples, {4}, {2}, {3})),
      Wrong("IndicesRank", rank_mismatch, "indices has 2 axes...expected 1", forward(couples, {4}, {2}, {1, 2})),
      Wrong("DxShape", shape_mismatch, "dx has length 3 on axis 0...expected 4", jvp(couples, {4}, {3}, {2})),
      Wrong("DxRank", rank_mismatch, "dx has 2 axes...expected 1", jvp(couples, {4}, {1, 4}, {2})),
      Wrong("DyShape", shape_mismatch, "dy has length 4 on axis 0...expected 2", jvp(couples, {4}, {4}, {4})),
      Wrong("DyRank", rank_mismatch, "dy has 2 axes...expected 1", jvp(couples, {4}, {4}, {2, 1})),
      Wrong("GyShape", shape_mismatch, "gy has length 4 on axis 1...expected 2", vjp(pairs, {4, 4}, {2, 4}, {4, 4})),
      Wrong("GyRank", rank_mismatch, "gy has 1 ax...expected 2", vjp(pairs, {4, 4}, {4}, {4, 4})),
      Wrong("GyRankOfAGlobalPool", rank_mismatch, "gy has 1 ax...expected 0", vjp(global_max_pool({}), {4}, {1}, {4})),
      Wrong("GxShape", shape_mismatch, "gx has length 2 on axis 0...expected 4", vjp(pairs, {4, 4}, {2, 2}, {2, 4})),
      Wrong("GxRank", rank_mismatch, "gx has 1 ax...expected 2", vjp(pairs, {4, 4}, {2, 2}, {16})),
      Wrong("StridesCountOfX", wrong_count, "strides has 1 entry...must be 2",
            [](Memory& m) {
              pairs.forward(view(m.x.data(), {4, 4}, {4}), on(m.y, {2, 2}));
            }),
      Wrong("StridesCountOfY", wrong_count, "strides has 2 entries...must be 1",
            [](Memory& m) {
              couples.forward(on(m.x, {4}), view(m.y.data(), {2}, {2, 1}));
            }),
      Wrong("YStrideZero", zero_stride, "y has stride 0 on axis 0",
            [](Memory& m) {
              couples.forward(on(m.x, {3, 4}), view(m.y.data(), {3, 2}, {0, 1}));
            }),
      Wrong("IndicesStrideZero", zero_stride, "indices has stride 0 on axis 0",
            [](Memory& m) { couples.forward(on(m.x, {4}), on(m.y, {2}), view(m.indices.data(), {2}, {0})); }),
      Wrong("DyStrideZero", zero_stride, "dy has stride 0 on axis 0",
            [](Memory& m) { couples.jvp(on(m.x, {4}), on(m.dx, {4}), view(m.dy.data(), {2}, {0})); }),
      Wrong("GxStrideZero", zero_stride, "gx has stride 0 on axis 1",
            [](Memory& m) {
              couples.vjp(on(m.x, {2, 4}), on(m.gy, {2, 2}), view(m.gx.data(), {2, 4}, {4, 0}));
            }),
      Wrong("GlobalYStrideZero", zero_stride, "y has stride 0",
            [](Memory& m) {
              global_sum_pool({.axes = {0}}).forward(on(m.x, {4, 3}), view(m.y.data(), {3}, {0}));
            }),
      Wrong("YOverlapsX", overlap, "y overlaps",
            [](Memory& m) { couples.forward(on(m.x, {4}), view(m.x.data() + 3, {2})); }),
      Wrong("YBetweenTheElementsOfX", overlap, "y overlaps",
            [](Memory& m) { couples.forward(view(m.x.data(), {4}, {2}), view(m.x.data() + 1, {2}, {2})); }),
      Wrong("YOverlapsXThatRunsBackwards", overlap, "y overlaps",
            [](Memory& m) { couples.forward(view(m.x.data() + 9, {4}, {-1}), view(m.x.data() + 5, {2})); }),
      Wrong("IndicesOverlapX", overlap, "indices overlaps",
            [](Memory& m) { couples.forward(on(m.x, {4}), on(m.y, {2}), over<Index>(m.x, {2})); }),
      Wrong("IndicesOverlapY", overlap, "indices overlaps",
            [](Memory& m) { couples.forward(on(m.x, {4}), on(m.y, {2}), over<Index>(m.y, {2})); }),
      Wrong("DyOverlapsX", overlap, "dy overlaps",
            [](Memory& m) { couples.jvp(on(m.x, {4}), on(m.dx, {4}), on(m.x, {2})); }),
      Wrong("DyOverlapsDx", overlap, "dy overlaps",
            [](Memory& m) { couples.jvp(on(m.x, {4}), on(m.dx, {4}), on(m.dx, {2})); }),
      Wrong("GxOverlapsX", overlap, "gx overlaps",
            [](Memory& m) { couples.vjp(on(m.x, {4}), on(m.gy, {2}), on(m.x, {4})); }),
      Wrong("GxOverlapsGy", overlap, "gx overlaps",
            [](Memory& m) { couples.vjp(on(m.x, {4}), on(m.gy, {2}), on(m.gy, {4})); }),
      Wrong("ContainerTooSmall", too_few_elements, "shape...65...64",
            [](Memory& m) {
              static_cast<void>(view(m.x, {13, 5}));
            }),
      Wrong("ContainerUnder65Axes", rank_too_large, "...65 axes...64",
            [](Memory& m) { couples.forward(view(m.x, Shape::filled(65, 1)), on(m.y, {2})); }),
      Wrong("ContainerUnderANegativeShape", negative, "shape -2 on axis 1",
            [](Memory& m) {
              static_cast<void>(view(m.x, {4, -2}));
            }),
      Wrong("FoldOfAnotherShape", shape_mismatch, "x has length 5 on axis 0...expected 4",
            [](Memory& m) { spec::fold(couples.geometry({4}), on(m.x, {5}), 0.0F, [](float, float b) { return b; }); }),
      Wrong("XOfAnotherGeometry", rank_mismatch, "x has 2 axes...expected 1",
            [](Memory& m) {
              spec::forward(couples.geometry({4}), spec::Max<float>{}, on(m.x, {1, 4}), on(m.y, {2}));
            }),
  };
}

// Memory::indices holds 3 everywhere.
std::vector<Wrong> wrong_unpools() {
  return {
      Wrong("UnpoolIndexTooLarge", index_out_of_range, "indices holds 3...3 cells",
            unpool({.output_size = {3}}, {2}, {2}, {3})),
      Wrong("UnpoolIndexTooLargeInABatch", index_out_of_range, "indices holds 3...2 cells",
            unpool({.output_size = {2}}, {2, 1}, {2, 1}, {2, 2})),
      Wrong("UnpoolIndexNegative", index_out_of_range, "indices holds -2...8 cells",
            [](Memory& m) {
              const Index below = -2;
              max_unpool({.output_size = {8}}).forward(on(m.y, {1}), view(&below, {1}), on(m.x, {8}));
            }),
      Wrong("UnpoolVjpIndexTooLarge", index_out_of_range, "indices holds 3...3 cells",
            unpool_vjp({.output_size = {3}}, {2}, {3}, {2})),
      Wrong("UnpoolSizeZero", not_positive, "output_size 0 on axis 1...at least 1",
            unpool({.output_size = {0}}, {2, 2}, {2, 2}, {2, 0})),
      Wrong("UnpoolSizeMissing", nothing_to_pool, "no axis to pool", unpool({}, {2}, {2}, {2})),
      Wrong("UnpoolMoreSizesThanAxes", too_many_axes, "2 axes...only 1",
            unpool({.output_size = {4, 4}}, {2}, {2}, {4})),
      Wrong("UnpoolAxesCount", wrong_count, "axes has 2 entries...must be 1",
            unpool({.output_size = {4}, .axes = {0, 1}}, {2, 2}, {2, 2}, {4, 2})),
      Wrong("UnpoolAxisPastTheLast", axis_out_of_range, "axes names axis 3...has 1 axis",
            unpool({.output_size = {4}, .axes = {3}}, {2}, {2}, {4})),
      Wrong("UnpoolAxisTwice", axis_repeated, "axes names axis 0 twice",
            unpool({.output_size = {4, 4}, .axes = {0, -2}}, {2, 2}, {2, 2}, {4, 4})),
      Wrong("UnpoolNoValues", zero_length, "axis 0...length 0", unpool({.output_size = {4}}, {0}, {0}, {4})),
      Wrong("UnpoolRank65", rank_too_large, "...65 axes...64",
            unpool({.output_size = {4}}, Shape::filled(65, 1), {1}, {1})),
      Wrong("UnpoolCountOverflows", overflow, "...64 bits",
            unpool({.output_size = {huge, huge}}, {1, 1}, {1, 1}, {huge, huge})),
      Wrong("UnpoolValuesNull", null_data, "y has elements...null",
            [](Memory& m) { to_four.forward(View<float>(nullptr, {2}), on(m.indices, {2}), on(m.x, {4})); }),
      Wrong("UnpoolIndicesNull", null_data, "indices has elements...null",
            [](Memory& m) { to_four.forward(on(m.y, {2}), View<Index>(nullptr, {2}), on(m.x, {4})); }),
      Wrong("UnpoolIndicesShape", shape_mismatch, "indices has length 3 on axis 0...expected 2",
            unpool({.output_size = {4}}, {2}, {3}, {4})),
      Wrong("UnpoolXShape", shape_mismatch, "x has length 5 on axis 0...expected 4",
            unpool({.output_size = {4}}, {2}, {2}, {5})),
      Wrong("UnpoolXRank", rank_mismatch, "x has 2 axes...expected 1", unpool({.output_size = {4}}, {2}, {2}, {2, 2})),
      Wrong("UnpoolXStrideZero", zero_stride, "x has stride 0 on axis 0",
            [](Memory& m) { to_four.forward(on(m.y, {2}), on(m.indices, {2}), view(m.x.data(), {4}, {0})); }),
      Wrong("UnpoolXOverlapsValues", overlap, "x overlaps",
            [](Memory& m) { to_four.forward(on(m.y, {2}), on(m.indices, {2}), on(m.y, {4})); }),
      Wrong("UnpoolXOverlapsIndices", overlap, "x overlaps",
            [](Memory& m) { to_four.forward(on(m.y, {2}), on(m.indices, {2}), over<float>(m.indices, {4})); }),
      Wrong("UnpoolJvpDxShape", shape_mismatch, "dx has length 5 on axis 0...expected 4",
            [](Memory& m) { to_four.jvp(on(m.dy, {2}), on(m.indices, {2}), on(m.dx, {5})); }),
      Wrong("UnpoolVjpGxShape", shape_mismatch, "gx has length 5 on axis 0...expected 4",
            unpool_vjp({.output_size = {4}}, {2}, {5}, {2})),
      Wrong("UnpoolVjpGyShape", shape_mismatch, "gy has length 3 on axis 0...expected 2",
            unpool_vjp({.output_size = {4}}, {2}, {4}, {3})),
      Wrong("UnpoolVjpGyOverlapsGx", overlap, "gy overlaps",
            [](Memory& m) { to_four.vjp(on(m.gx, {4}), on(m.indices, {2}), on(m.gx, {2})); }),
      Wrong("UnpoolVjpGyOverlapsIndices", overlap, "gy overlaps",
            [](Memory& m) { to_four.vjp(on(m.gx, {4}), on(m.indices, {2}), over<float>(m.indices, {2})); }),
  };
}

// Memory::taps holds 1 everywhere.
std::vector<Wrong> wrong_compact_indices() {
  const Pool padded = max_pool({.kernel = {2}, .padding = {1}});
  const Pool square = max_pool({.kernel = {16, 16}});
  return {
      Wrong("CompactIndexOfAnotherWindow", index_out_of_range, "indices holds 3", compact(couples, {4}, {2}, {2})),
      Wrong("CompactIndexOutsideTheArray", index_out_of_range, "indices holds 3", compact(couples, {2}, {1}, {1})),
      Wrong("CompactOfTooManyTaps", taps_do_not_fit, "taps of 1 byte...256 taps",
            compact(square, {16, 16}, {1, 1}, {1, 1})),
      Wrong("CompactIndicesShape", shape_mismatch, "indices has length 3 on axis 0...expected 2",
            compact(couples, {4}, {3}, {2})),
      Wrong("CompactTapsShape", shape_mismatch, "taps has length 3 on axis 0...expected 2",
            compact(couples, {4}, {2}, {3})),
      Wrong("CompactTapsStrideZero", zero_stride, "taps has stride 0 on axis 0",
            [](Memory& m) {
              spec::compact_from_flat(couples.geometry({4}), on(m.indices, {2}), view(m.taps.data(), {2}, {0}));
            }),
      Wrong("CompactTapsOverlapIndices", overlap, "taps overlaps",
            [](Memory& m) {
              spec::compact_from_flat(couples.geometry({4}), on(m.indices, {2}), over<std::uint8_t>(m.indices, {2}));
            }),
      Wrong("ExpandTapOutsideTheWindow", index_out_of_range, "taps holds 1...1 cells",
            expand(max_pool({.kernel = {1}}), {2}, {2}, {2})),
      Wrong("ExpandTapOnPadding", index_out_of_range, "taps holds 1", expand(padded, {4}, {3}, {3})),
      Wrong("ExpandOfTooManyTaps", taps_do_not_fit, "taps of 1 byte...256 taps",
            expand(square, {16, 16}, {1, 1}, {1, 1})),
      Wrong("ExpandTapsRank", rank_mismatch, "taps has 2 axes...expected 1", expand(couples, {4}, {2, 1}, {2})),
      Wrong("ExpandIndicesRank", rank_mismatch, "indices has 2 axes...expected 1", expand(couples, {4}, {2}, {2, 1})),
      Wrong("ExpandIndicesOverlapTaps", overlap, "indices overlaps",
            [](Memory& m) {
              spec::flat_from_compact(couples.geometry({4}), over<std::uint8_t>(m.indices, {2}), on(m.indices, {2}));
            }),
  };
}

std::vector<Wrong> wrong_layers() {
  return {
      Wrong("LayerThatLosesEdges", edges_dropped,
            "kernel 2 on axis 2 with stride 2 leaves 1 of 5 cells, padding included, behind the last window; 1 more of "
            "padding or 1 cell fewer",
            [](Memory&) {
              nn::MaxPool1D(2, 2, {.edges = Edges::error}).output_shape({1, 1, 5});
            }),
      Wrong("BackwardBeforeForward", nothing_kept, "backward...needs a forward in training mode",
            [](Memory&) {
              nn::MaxPool1D(2).backward(nn::Tensor({1, 1, 2}));
            }),
      Wrong("MaskBeforeForward", nothing_kept, "mask...needs a forward in training mode",
            [](Memory&) { nn::MaxPool1D(2).mask(); }),
  };
}

std::vector<Wrong> wrong_views_and_plans() {
  const auto with_plan = [](const auto& call) -> Call {
    return [call](Memory& m) { call(m, couples.plan<float>({4}, {2})); };
  };
  return {
      Wrong("PlanOfNothing", empty_plan, "the plan is empty",
            [](Memory& m) { Plan<float>().forward(m.x.data(), m.y.data()); }),
      Wrong("PlanViewStride", stride_mismatch, "x has stride 1 on axis 0...made for stride 2",
            with_plan([](Memory& m, const Plan<float>& plan) { plan.forward(on(m.x, {4}), on(m.y, {2})); })),
      Wrong("PlanViewShape", shape_mismatch, "y has length 3 on axis 0; expected 2",
            with_plan(
                [](Memory& m, const Plan<float>& plan) { plan.forward(view(m.x.data(), {4}, {2}), on(m.y, {3})); })),
      Wrong("PlanGradientNotPacked", stride_mismatch, "gy has stride 3 on axis 0...made for stride 1",
            with_plan([](Memory& m, const Plan<float>& plan) {
              plan.vjp(view(m.x.data(), {4}, {2}), view(m.gy.data(), {2}, {3}), view(m.gx.data(), {4}, {2}));
            })),
      Wrong("ContainerTooSmallForStrides", too_few_elements, "strides needs 67 elements...holds 64",
            [](Memory& m) { couples.forward(view(m.x, {4}, {22}), on(m.y, {2})); }),
      Wrong("ContainerWithNegativeStrides", before_container, "strides lead 3 elements before the first",
            [](Memory& m) { couples.forward(view(m.x, {4}, {-1}), on(m.y, {2})); }),
      Wrong("ContainerStrideCount", wrong_count, "strides has 2 entries...must be 1",
            [](Memory& m) {
              couples.forward(view(m.x, {4}, {1, 1}), on(m.y, {2}));
            }),
  };
}

std::vector<Wrong> all_wrong_calls() {
  std::vector<Wrong> all;
  for (const auto& table : {wrong_windows(), empty_windows_and_overflows(), wrong_options_and_scalars(), wrong_arrays(),
                            wrong_unpools(), wrong_compact_indices(), wrong_layers(), wrong_views_and_plans()})
    all.insert(all.end(), table.begin(), table.end());
  return all;
}

bool matches(std::string_view text, std::string_view pattern) {
  for (bool anywhere = false;; anywhere = true) {
    const std::size_t end = pattern.find("...");
    const std::string_view part = pattern.substr(0, end);
    const std::size_t at = text.find(part);
    if (at == text.npos || (at != 0 && !anywhere)) return false;
    if (end == pattern.npos) return true;
    text.remove_prefix(at + part.size());
    pattern.remove_prefix(end + 3);
  }
}

/// What a call threw; no fault if it threw nothing.
Fault fault_of(const Call& call, Memory& memory, std::string& said) {
  try {
    call(memory);
  } catch (const Error& error) {
    said = error.what();
    return error.fault();
  }
  return {};
}

class WrongCalls : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongCalls, AreRefusedInOneSentenceBeforeAnythingIsWritten) {
  Memory memory;
  std::string said;
  const Fault fault = fault_of(GetParam().call, memory, said);
  EXPECT_EQ(fault.code, GetParam().code);
  EXPECT_TRUE(matches(said, GetParam().says)) << said << "\nshould say: " << GetParam().says;
  EXPECT_EQ(said, message(fault));
  EXPECT_EQ(said.find_first_of("\n\r\t"), said.npos) << said;
  EXPECT_EQ(said.find(". "), said.npos) << said << " is more than one sentence";
  EXPECT_TRUE(!said.empty() && said.back() != ' ' && said.back() != '.') << said;
  EXPECT_TRUE(memory == Memory()) << "something was written";
}

INSTANTIATE_TEST_SUITE_P(Every, WrongCalls, ::testing::ValuesIn(all_wrong_calls()),
                         [](const auto& tested) { return tested.param.name; });

TEST(TableOfWrongCalls, HasEveryCodeAndEveryArgument) {
  std::set<Code> codes;
  std::set<Argument> arguments;
  for (const Wrong& wrong : all_wrong_calls()) {
    Memory memory;
    std::string said;
    const Fault fault = fault_of(wrong.call, memory, said);
    codes.insert(fault.code);
    arguments.insert(fault.argument);
  }
  // Codes after these are about graphs: tests/graph/wrong_graphs_test.cpp.
  for (int code = 1; code <= static_cast<int>(Code::empty_plan); ++code)
    EXPECT_TRUE(codes.contains(static_cast<Code>(code))) << "no wrong call has code " << code;
  for (int argument = 1; argument <= static_cast<int>(Argument::strides); ++argument)
    EXPECT_TRUE(arguments.contains(static_cast<Argument>(argument))) << "no wrong call is about argument " << argument;
}

TEST(TableOfWrongCalls, IsCaughtAsAnInvalidArgument) {
  Memory memory;
  EXPECT_THROW(forward(pairs, {4})(memory), std::invalid_argument);
}

}  // namespace
}  // namespace ndpool
