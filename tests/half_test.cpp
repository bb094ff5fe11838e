// Short floats: conversions against numbers built from the meaning of the bits, and what pools make of them.
#include "support/array.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace ndpool::testing {

/// The bits of the formats, written down once more and independently of the header.
template <class T>
struct Format;
template <>
struct Format<f16> {
  static constexpr int fraction_bits = 10, bias = 15, infinity = 0x7c00;
};
template <>
struct Format<bf16> {
  static constexpr int fraction_bits = 7, bias = 127, infinity = 0x7f80;
};

/// What a pattern without its sign stands for; for infinity the number that would come next.
template <class T>
double meaning(int pattern) {
  const int hidden = 1 << Format<T>::fraction_bits, exponent = pattern / hidden, fraction = pattern % hidden;
  if (exponent == 0) return std::ldexp(fraction, 1 - Format<T>::bias - Format<T>::fraction_bits);
  return std::ldexp(fraction + hidden, exponent - Format<T>::bias - Format<T>::fraction_bits);
}

/// Rounds a number, of either sign, from the type `Long`.
template <class T, class Long>
void expect_rounded(Long number, int pattern) {
  ASSERT_EQ(T(number).bits, pattern) << "from " << number;
  ASSERT_EQ(T(-number).bits, pattern | 0x8000) << "from " << -number;
}

template <class T>
class EachHalf : public ::testing::Test {};
using Halves = ::testing::Types<f16, bf16>;
TYPED_TEST_SUITE(EachHalf, Halves);

TYPED_TEST(EachHalf, StandsForItsBits) {
  constexpr int infinity = Format<TypeParam>::infinity;
  for (int pattern = 0; pattern < 0x10000; ++pattern) {
    const float number = TypeParam::from_bits(static_cast<std::uint16_t>(pattern));
    const int magnitude = pattern % 0x8000;
    ASSERT_EQ(std::signbit(number), pattern >= 0x8000) << pattern;
    if (magnitude < infinity)
      ASSERT_EQ(std::abs(number), meaning<TypeParam>(magnitude)) << pattern;
    else if (magnitude == infinity)
      ASSERT_TRUE(std::isinf(number)) << pattern;
    else
      ASSERT_TRUE(std::isnan(number)) << pattern;
  }
}

TYPED_TEST(EachHalf, SurvivesTheWayThroughLongerFloats) {
  constexpr int quiet = 1 << (Format<TypeParam>::fraction_bits - 1);
  for (int pattern = 0; pattern < 0x10000; ++pattern) {
    const TypeParam number = TypeParam::from_bits(static_cast<std::uint16_t>(pattern));
    const bool is_nan = pattern % 0x8000 > Format<TypeParam>::infinity;
    const int expected = is_nan ? pattern | quiet : pattern;
    ASSERT_EQ(TypeParam(static_cast<float>(number)).bits, expected);
    ASSERT_EQ(TypeParam(static_cast<double>(static_cast<float>(number))).bits, expected);
  }
}

/// Every number, every midpoint of neighbours, and what lies directly above and below, in float and in double.
TYPED_TEST(EachHalf, RoundsToTheNearestAndMidpointsToEven) {
  const auto check = [](auto beyond) {
    using Long = decltype(beyond);
    for (int pattern = 0; pattern < Format<TypeParam>::infinity; ++pattern) {
      const double low = meaning<TypeParam>(pattern), high = meaning<TypeParam>(pattern + 1);
      const Long number = static_cast<Long>(low), middle = static_cast<Long>(low + (high - low) / 2);
      expect_rounded<TypeParam>(number, pattern);
      expect_rounded<TypeParam>(std::nextafter(number, beyond), pattern);
      expect_rounded<TypeParam>(std::nextafter(middle, Long(0)), pattern);
      expect_rounded<TypeParam>(middle, pattern % 2 == 0 ? pattern : pattern + 1);
      expect_rounded<TypeParam>(std::nextafter(middle, beyond), pattern + 1);
    }
    expect_rounded<TypeParam>(beyond, Format<TypeParam>::infinity);
    expect_rounded<TypeParam>(std::numeric_limits<Long>::max(), Format<TypeParam>::infinity);
    expect_rounded<TypeParam>(std::numeric_limits<Long>::denorm_min(), 0);
  };
  check(std::numeric_limits<float>::infinity());
  check(std::numeric_limits<double>::infinity());
}

TYPED_TEST(EachHalf, RoundsWholeNumbersOnce) {
  for (Index whole = 1; whole < 70000; ++whole) expect_rounded<TypeParam>(whole, TypeParam(double(whole)).bits);
  EXPECT_EQ(TypeParam(std::int8_t{-128}), -128);
  EXPECT_EQ(TypeParam(true), 1);
}

TEST(Half, RoundsLongWholeNumbersOnce) {
  // One above a midpoint, which a float or a double on the way would turn into the midpoint.
  constexpr Index one = Index{1} << 62, half = Index{1} << 54;
  EXPECT_EQ(bf16(one + half), 0x1p62F);
  EXPECT_EQ(bf16(one + half + 1), 0x1.02p62F);
  EXPECT_EQ(bf16(std::numeric_limits<Index>::min()), -0x1p63F);
  EXPECT_EQ(bf16(std::numeric_limits<std::uint64_t>::max()), 0x1p64F);
  EXPECT_EQ(f16(std::numeric_limits<Index>::max()), std::numeric_limits<float>::infinity());
}

TYPED_TEST(EachHalf, ArithmeticIsRoundedOnce) {
  std::mt19937 random(1);
  const auto any = [&] { return TypeParam::from_bits(random() % 0x10000); };
  const auto same = [](TypeParam a, double b) { return a.bits == TypeParam(b).bits || (a != a && std::isnan(b)); };
  for (int i = 0; i < 100000; ++i) {
    const TypeParam a = any(), b = any();
    const double x = static_cast<float>(a), y = static_cast<float>(b);
    ASSERT_TRUE(same(a + b, x + y) && same(a - b, x - y) && same(a * b, x * y) && same(a / b, x / y))
        << x << " and " << y;
    ASSERT_EQ((-a).bits, a.bits ^ 0x8000);
  }
}

TYPED_TEST(EachHalf, ComparesAsAFloat) {
  constexpr TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN(), zero(0), one(1);
  static_assert(zero < one && one > zero && zero <= one && one != zero && -one < zero);
  static_assert(zero == -zero && zero.bits != (-zero).bits);
  static_assert(nan != nan && !(nan == nan) && !(nan < one) && !(nan >= one));
  static_assert(one + 0.25 == 1.25 && 3 * one == 3.0F);
}

TYPED_TEST(EachHalf, IsTwoBytesThatCanBeCopied) {
  static_assert(sizeof(TypeParam) == 2 && std::is_trivial_v<TypeParam> && std::is_standard_layout_v<TypeParam>);
  static_assert(std::is_convertible_v<TypeParam, float> && !std::is_convertible_v<float, TypeParam>);
  static_assert(!std::is_constructible_v<TypeParam, long double>, "it would be rounded twice");
  static_assert(TypeParam{}.bits == 0);
}

TYPED_TEST(EachHalf, LimitsAreThoseOfTheFormat) {
  using Limits = std::numeric_limits<TypeParam>;
  using F = Format<TypeParam>;
  static_assert(Limits::is_specialized && Limits::is_signed && Limits::is_bounded && !Limits::is_integer &&
                !Limits::is_exact && Limits::has_infinity && Limits::has_quiet_NaN && Limits::radix == 2);
  static_assert(Limits::digits == F::fraction_bits + 1);
  static_assert(Limits::infinity().bits == F::infinity && Limits::quiet_NaN() != Limits::quiet_NaN());
  EXPECT_EQ(Limits::max(), meaning<TypeParam>(F::infinity - 1));
  EXPECT_EQ(Limits::lowest(), -meaning<TypeParam>(F::infinity - 1));
  EXPECT_EQ(Limits::min(), meaning<TypeParam>(1 << F::fraction_bits));
  EXPECT_EQ(Limits::min(), std::ldexp(1.0, Limits::min_exponent - 1));
  EXPECT_EQ(Limits::denorm_min(), meaning<TypeParam>(1));
  EXPECT_EQ(Limits::epsilon(), std::ldexp(1.0, 1 - Limits::digits));
  EXPECT_GE(double(Limits::min()), std::pow(10, Limits::min_exponent10 - 1));
  EXPECT_LE(double(Limits::min()), std::pow(10, Limits::min_exponent10));
  EXPECT_LE(std::pow(10, Limits::max_exponent10), double(Limits::max()));
  EXPECT_LT(double(Limits::max()), std::ldexp(1.0, Limits::max_exponent));
  // A signalling NaN has a fraction, but not its first bit.
  const int payload = Limits::signaling_NaN().bits - F::infinity;
  EXPECT_TRUE(0 < payload && payload < 1 << (F::fraction_bits - 1));
}

TEST(Half, LimitsInDecimals) {
  using Short = std::numeric_limits<f16>;
  using Brain = std::numeric_limits<bf16>;
  static_assert(Short::digits10 == 3 && Short::max_digits10 == 5 && Brain::digits10 == 2 && Brain::max_digits10 == 4);
  static_assert(Short::min_exponent10 == -4 && Short::max_exponent10 == 4 && Short::max_exponent == 16);
  static_assert(Brain::min_exponent10 == -37 && Brain::max_exponent10 == 38 && Brain::max_exponent == 128);
  static_assert(Short::max() == 65504 && Short::epsilon() == 0x1p-10F && Brain::epsilon() == 0x1p-7F);
}

template <class T>
Array<T> row(const std::vector<float>& numbers) {
  Array<T> array({static_cast<Index>(numbers.size())});
  for (Index i = 0; i < array.size(); ++i) array[i] = T(numbers[static_cast<std::size_t>(i)]);
  return array;
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// 60000 + 60000 is beyond the largest f16; the sums and the average are not.
TYPED_TEST(EachHalf, SumsAreNotRoundedOnTheWay) {
  const Array<TypeParam> x = row<TypeParam>({60000, 60000, 60000, -60000, -60000, -60000, 0.5F, 1});
  EXPECT_EQ(forward(sum_pool({.kernel = {8}}), x)[0], 1.5F);
  EXPECT_EQ(jvp(sum_pool({.kernel = {8}}), x, x)[0], 1.5F);
  const Array<TypeParam> many({64, 64}, TypeParam(60000)), one({1, 1}, TypeParam(1));
  EXPECT_EQ(forward(global_avg_pool({}), many)[0], TypeParam(60000));
  EXPECT_EQ(vjp(adaptive_avg_pool({.output_size = {64, 64}}), one, Array<TypeParam>({64, 64}, TypeParam(1)))[0], 4096);
}

TEST(Half, SumsThatAreTooLargeAreInfinite) {
  EXPECT_EQ(forward(sum_pool({.kernel = {2}}), row<f16>({65504, 65504}))[0], infinity);
  EXPECT_EQ(forward(avg_pool({.kernel = {2}}), row<f16>({65504, 65504}))[0], 65504);
}

TYPED_TEST(EachHalf, ExtremesFollowTheRulesOfFloats) {
  const Pool largest = max_pool({.kernel = {4}}), smallest = min_pool({.kernel = {4}});
  const Array<TypeParam> with_nan = row<TypeParam>({1, nan, infinity, nan}),
                         zeros = row<TypeParam>({-0.0F, 0, -0.0F, 0});
  for (const Pool& pool : {largest, smallest}) {
    EXPECT_TRUE(std::isnan(forward(pool, with_nan)[0]));
    EXPECT_EQ(indices(pool, with_nan)[0], 1);
    EXPECT_EQ(forward(pool, zeros)[0], 0);  // whatever its sign
    EXPECT_EQ(indices(pool, zeros)[0], 0);
  }
  EXPECT_EQ(indices(max_pool({.kernel = {4}}, {.nan = Nan::ignore}), with_nan)[0], 2);
  EXPECT_EQ(vjp(largest, row<TypeParam>({1, 3, 3, 2}), row<TypeParam>({5})), row<TypeParam>({0, 5, 0, 0}));
  EXPECT_EQ(vjp(lp_pool(infinity, {.kernel = {4}}), row<TypeParam>({1, -3, 2, 0}), row<TypeParam>({5})),
            row<TypeParam>({0, -5, 0, 0}));
  const Window beyond = {.kernel = {2}, .stride = {2}, .padding = {{0, 3}}};
  EXPECT_EQ(forward(max_pool(beyond, {.empty = Empty::identity}), row<TypeParam>({1, 1}))[1], -infinity);
  EXPECT_EQ(forward(min_pool(beyond, {.empty = Empty::identity}), row<TypeParam>({1, 1}))[1], infinity);
}

// 2049 is no f16, and 70000 is beyond the largest.
TYPED_TEST(EachHalf, TiesAreSplitInFloatAndRoundedOnce) {
  for (const Index ties : {3, 2049, 70000}) {
    const Array<TypeParam> x({ties}, TypeParam(1)), gy({1}, TypeParam(1000));
    const Pool pool = max_pool({.kernel = {ties}}, {.ties = Ties::split});
    EXPECT_EQ(vjp(pool, x, gy)[ties - 1], TypeParam(1000 / static_cast<float>(ties)));
    EXPECT_EQ(jvp(pool, x, x)[0], 1);
  }
}

TYPED_TEST(EachHalf, ResultsMayHaveOtherTypesThanInputs) {
  const Array<TypeParam> x = row<TypeParam>({1, 2, 3, 5});
  const Array<float> wide_x = row<float>({1, 2, 3, 5});
  Array<TypeParam> y({2});
  Array<float> wide_y({2});
  const Pool pool = avg_pool({.kernel = {2}});
  pool.forward(x.view(), wide_y.view());
  EXPECT_EQ(wide_y, row<float>({1.5F, 4}));
  pool.forward(wide_x.view(), y.view());
  EXPECT_EQ(y, row<TypeParam>({1.5F, 4}));
  pool.jvp(wide_x.view(), x.view(), y.view());
  EXPECT_EQ(y, row<TypeParam>({1.5F, 4}));
  Array<TypeParam> gx({4});
  pool.vjp(x.view(), wide_y.view(), gx.view());
  EXPECT_EQ(gx, row<TypeParam>({0.75F, 0.75F, 2, 2}));
}

TYPED_TEST(EachHalf, UnpoolingPlacesTheValues) {
  const Array<TypeParam> y = row<TypeParam>({1, 2, 3}), gx = row<TypeParam>({10, 20, 30});
  const Array<Index> at({3}, std::vector<Index>{1, 1, 0});
  Array<TypeParam> x({3}), gy({3});
  max_unpool({.output_size = {3}}).forward(y.view(), at.view(), x.view());
  max_unpool({.output_size = {3}}).vjp(gx.view(), at.view(), gy.view());
  EXPECT_EQ(x, row<TypeParam>({3, 2, 0}));
  EXPECT_EQ(gy, row<TypeParam>({0, 20, 10}));
}

TYPED_TEST(EachHalf, PlansHaveKernels) {
  const Array<TypeParam> x = row<TypeParam>({1, 2, 3, 5});
  Array<TypeParam> y({2});
  const auto plan = sum_pool({.kernel = {2}}).template plan<TypeParam>({4});
  EXPECT_NE(plan.implementation(MapKind::forward), "reference");
  plan.forward(x.begin(), y.begin());
  EXPECT_EQ(y, row<TypeParam>({3, 8}));
}

}  // namespace ndpool::testing
