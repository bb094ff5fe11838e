// What the tests of docs/origins.md share: windows, images, and comparisons that check shape and numbers at once.
#pragma once

#include <gtest/gtest.h>
#include <ndpool/ndpool.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <numeric>
#include <source_location>
#include <sstream>
#include <type_traits>
#include <vector>

#include "support/array.hpp"

namespace ndpool {
namespace {

using testing::arange;
using Doubles = testing::Array<double>;
template <Index... Lengths>
using Tensor = typed::Tensor<double, typed::Shape<Lengths...>>;

using Pairs = typed::Window<typed::Kernel<2>>;
using SlidingPairs = typed::Window<typed::Kernel<2>, typed::Stride<1>>;
using PaddedPairs = typed::Window<typed::Kernel<2>, typed::Padding<1>>;
using Squares = typed::Window<typed::Kernel<2, 2>>;
using SlidingSquares = typed::Window<typed::Kernel<2, 2>, typed::Stride<1, 1>>;
using Cubes = typed::Window<typed::Kernel<2, 2, 2>>;
constexpr Window pairs{.kernel = {2}};
constexpr Window sliding_pairs{.kernel = {2}, .stride = {1}};
constexpr Window padded_pairs{.kernel = {2}, .padding = {1}};
constexpr Window squares{.kernel = {2, 2}};
constexpr Window sliding_squares{.kernel = {2, 2}, .stride = {1, 1}};

// The last of its four squares has three equal winners.
constexpr Tensor<4, 4> hills{{1, 3, 2, 9,  //
                              5, 3, 1, 2,  //
                              0, 7, 6, 6,  //
                              2, 4, 6, 5}};
const Doubles hills_array({4, 4}, std::vector<double>(hills.begin(), hills.end()));
constexpr Tensor<4, 4> ramp{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

// Smooth max of logarithms is a logarithm, and its weights are fractions: exp(log n) = n.
const double log2 = std::log(2.0), log3 = std::log(3.0), log4 = std::log(4.0), log5 = std::log(5.0);
const double log7 = std::log(7.0), log8 = std::log(8.0), log9 = std::log(9.0), log16 = std::log(16.0);
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// Arrays, tensors, shapes and vectors: the same shape and the same numbers, but for the rounding of logarithms.
template <class Actual>
void expect(const Actual& actual, const std::type_identity_t<Actual>& expected,
            std::source_location where = std::source_location::current()) {
  const auto is_near = [](auto a, auto b) { return a == b || std::abs(static_cast<double>(a - b)) < 1e-12; };
  bool same = std::equal(actual.begin(), actual.end(), expected.begin(), expected.end(), is_near);
  if constexpr (requires { actual.shape(); }) same = same && actual.shape() == expected.shape();
  if (same) return;
  std::ostringstream numbers;
  for (const auto& number : actual) numbers << ' ' << number;
  ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line())) << "got" << numbers.str();
}

/// Pooling an `Input` gives an `Output`: as types, and as run-time shapes.
template <class Description, class Input, class Output>
void expect_shape(const Pool& pool, std::source_location where = std::source_location::current()) {
  static_assert(std::same_as<typed::OutputShape<Description, Input>, Output>);
  expect(pool.output_shape(Shape(Input::extents.begin(), Input::rank)), Shape(Output::extents.begin(), Output::rank),
         where);
}

template <class Call>
Fault fault_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.fault();
  }
  return {};
}

double inner(const Doubles& a, const Doubles& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

/// f(0), f(1), ...
template <class F>
std::vector<Index> tabulate(Index count, F f) {
  std::vector<Index> values;
  for (Index i = 0; i < count; ++i) values.push_back(f(i));
  return values;
}

}  // namespace
}  // namespace ndpool
