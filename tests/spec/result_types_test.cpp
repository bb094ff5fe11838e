// Results of another type than the input have the value in their own type, rounded and clamped once.
#include "support/sweep.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <bit>

namespace ndpool::testing {

using Rational = boost::multiprecision::cpp_rational;
using Integer = boost::multiprecision::cpp_int;

template <class Y, class X>
Array<Y> forward_to(const Pool& pool, const Array<X>& x) {
  Array<Y> y(pool.output_shape(x.shape()));
  pool.forward(x.view(), y.view());
  return y;
}

template <class X>
Array<X> list(const std::vector<X>& values) {
  return {{static_cast<Index>(values.size())}, values};
}

const Pool average = global_avg_pool({}), sum = global_sum_pool({}), largest = global_max_pool({});

TEST(ResultType, WiderThanIntegersGetsTheExactValue) {
  const Array<std::uint8_t> few = list<std::uint8_t>({1, 2, 2, 2}), many = list<std::uint8_t>({200, 200, 200, 200});
  EXPECT_EQ(forward_to<float>(average, few)[0], 1.75F);
  EXPECT_EQ(forward_to<double>(average, few)[0], 1.75);
  EXPECT_EQ(forward_to<f16>(average, few)[0], f16(1.75F));
  EXPECT_EQ(forward_to<std::uint8_t>(average, few)[0], 2);
  EXPECT_EQ(forward_to<std::uint32_t>(sum, many)[0], 800U);
  EXPECT_EQ(forward_to<std::int16_t>(sum, many)[0], 800);
  EXPECT_EQ(forward_to<float>(sum, many)[0], 800.0F);
  EXPECT_EQ(forward_to<std::uint8_t>(sum, many)[0], 255);
  EXPECT_EQ(forward_to<int>(sum, list<bool>({true, true, true}))[0], 3);
  EXPECT_EQ(forward_to<double>(average, list<bool>({true, false, false, false}))[0], 0.25);
  EXPECT_EQ(forward_to<Rational>(average, list<int>({1, 1, 5}))[0], Rational(7, 3));
  EXPECT_EQ(forward_to<std::uint64_t>(sum, list<std::uint8_t>({255, 255}))[0], 510U);
}

TEST(ResultType, NarrowerIsRoundedAndClampedOnce) {
  EXPECT_EQ(forward_to<std::uint8_t>(sum, list<int>({300, -50}))[0], 250);  // 300 alone would be clamped
  EXPECT_EQ(forward_to<std::uint8_t>(sum, list<int>({-300, 50}))[0], 0);
  EXPECT_EQ(forward_to<std::int8_t>(average, list<int>({-300, -301}))[0], -128);
  EXPECT_EQ(forward_to<std::int8_t>(largest, list<float>({2.5F, -9}))[0], 2);
  EXPECT_EQ(forward_to<std::int8_t>(largest, list<float>({3.5F, -9}))[0], 4);
  EXPECT_EQ(forward_to<std::int8_t>(largest, list<float>({1e9F}))[0], 127);
  EXPECT_EQ(forward_to<std::int64_t>(sum, list<double>({-1e300}))[0], std::numeric_limits<std::int64_t>::lowest());
  EXPECT_EQ(forward_to<std::uint64_t>(sum, list<double>({1.8e19}))[0], 18000000000000000000U);
  EXPECT_EQ(forward_to<int>(largest, list<float>({std::nanf("")}))[0], 0);
  EXPECT_EQ(forward_to<bool>(sum, list<int>({-2, 1}))[0], false);
  EXPECT_EQ(forward_to<std::int8_t>(largest, list<std::uint8_t>({200}))[0], 127);
}

TEST(ResultType, AveragesRoundAsTheirOptionsSay) {
  const Array<double> x = list<double>({-1, -2, -3, -4});
  const std::pair<Rounding, int> expected[] = {
      {Rounding::half_even, -2}, {Rounding::toward_zero, -2}, {Rounding::floor, -3}, {Rounding::half_away, -3}};
  for (const auto& [rounding, value] : expected) {
    const Pool pool = global_avg_pool({}, {.rounding = rounding});
    EXPECT_EQ(forward_to<int>(pool, x)[0], value);
    EXPECT_EQ(forward_to<int>(pool, list<std::int8_t>({-1, -2, -3, -4}))[0], value);
  }
}

TEST(ResultType, OfFloatsIsComputedInTheWiderType) {
  const Array<float> x = list<float>({1e8F, 1, 1, 1});  // each 1 is lost in a float
  EXPECT_EQ(forward_to<double>(sum, x)[0], 100000003.0);
  EXPECT_EQ(forward_to<double>(average, x)[0], 25000000.75);
  EXPECT_EQ(forward_to<double>(global_smooth_max_pool({}), list<float>({1, 2}))[0],
            forward_to<double>(global_smooth_max_pool({}).without_kernels(), list<double>({1, 2}))[0]);
  EXPECT_EQ(forward_to<float>(sum, list<f16>({f16(60000.0F), f16(60000.0F)}))[0], 120000.0F);
  EXPECT_EQ(forward_to<bf16>(sum, list<f16>({f16(60000.0F), f16(60000.0F)}))[0], bf16(120000.0F));
  // 1 + 2^-8 + 2^-30 is above the middle of two bf16, which a float between would hide.
  EXPECT_EQ(forward_to<bf16>(sum, list<double>({1 + 0x1p-8, 0x1p-30}))[0], bf16::from_bits(bf16(1.0F).bits + 1U));
  EXPECT_EQ(forward_to<std::int32_t>(sum, list<float>({16777216.0F, 1}))[0], 16777217);
}

TEST(ResultType, EmptyWindowsGetTheIdentityOfTheResult) {
  const Window beyond = {.kernel = {2}, .stride = {2}, .padding = {{0, 2}}};
  const Array<std::uint8_t> x = list<std::uint8_t>({7, 8});
  EXPECT_EQ(forward_to<float>(max_pool(beyond, {.empty = Empty::identity}), x)[1],
            -std::numeric_limits<float>::infinity());
  EXPECT_EQ(forward_to<int>(min_pool(beyond, {.empty = Empty::identity}), x)[1], std::numeric_limits<int>::max());
  EXPECT_EQ(forward_to<int>(max_pool(beyond, {.empty = Empty::identity}), x)[0], 8);
}

TEST(ResultType, IsTheSameWithIndicesAndInTheSpec) {
  const Array<std::int64_t> x = list<std::int64_t>({(std::int64_t{1} << 60) + 1, 3});
  Array<float> y{Shape{}};
  Array<Index> winner{Shape{}};
  largest.forward(x.view(), y.view(), winner.view());
  EXPECT_EQ(y[0], 0x1p60F);
  EXPECT_EQ(winner[0], 0);
  const Array<std::uint8_t> few = list<std::uint8_t>({1, 2, 2, 2});
  const Geometry geometry = spec::make_geometry(Window{.kernel = {4}}, few.shape());
  Array<double> mean({1});
  spec::forward(geometry, spec::Average<std::uint8_t>{}, few.view(), mean.view());
  EXPECT_EQ(mean[0], 1.75);
  spec::forward(geometry, spec::Average<double>{}, few.view(), mean.view());
  EXPECT_EQ(mean[0], 1.75);
}

/// A reducer of a user's that is derived from one of ours keeps its own value.
template <class T>
struct TwiceTheSum : spec::Sum<T> {
  static constexpr T value(const typename spec::Sum<T>::Summary& total) { return static_cast<T>(2 * total); }
};

TEST(ResultType, OfADerivedReducerIsItsOwnValue) {
  const Array<std::uint8_t> x = list<std::uint8_t>({1, 2});
  Array<float> y({1});
  spec::forward(spec::make_geometry(Window{.kernel = {2}}, x.shape()), TwiceTheSum<std::uint8_t>{}, x.view(), y.view());
  EXPECT_EQ(y[0], 6.0F);
}

template <class Y>
class RealQuotient : public ::testing::Test {};
using Reals = ::testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(RealQuotient, Reals);

/// The numbers next to y on both sides; those that are not finite are left out by the caller.
template <class Y>
std::vector<Y> neighbours(Y y) {
  using Bits = std::conditional_t<sizeof(Y) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(Y) == 4, std::uint32_t, std::uint16_t>>;
  const Bits bits = std::bit_cast<Bits>(y);
  if (y == Y(0)) return {};
  return {std::bit_cast<Y>(static_cast<Bits>(bits + 1)), std::bit_cast<Y>(static_cast<Bits>(bits - 1))};
}

TYPED_TEST(RealQuotient, IsTheNearestNumber) {
  std::mt19937_64 random(seed());
  const auto exact = [](TypeParam y) { return Rational(static_cast<double>(y)); };
  int compared = 0;
  for (int i = 0; i < 20000; ++i) {
    const spec::Wide numerator = (spec::Wide(static_cast<std::int64_t>(random())) << random() % 60) >> random() % 124;
    Index divisor = static_cast<Index>(random()) >> random() % 63;
    if (divisor == 0) divisor = 3;
    const TypeParam got = spec::real_quotient<TypeParam>(numerator, divisor);
    const Rational quotient = Rational(Integer(numerator)) / Rational(Integer(divisor));
    if (spec::is_infinite(static_cast<double>(got))) {
      EXPECT_GT(abs(quotient), exact(std::numeric_limits<TypeParam>::max()));
      continue;
    }
    for (const TypeParam other : neighbours(got)) {
      if (spec::is_infinite(static_cast<double>(other))) continue;
      const Rational error = abs(exact(got) - quotient), other_error = abs(exact(other) - quotient);
      ASSERT_LE(error, other_error) << static_cast<double>(got) << " for " << quotient;
      ++compared;
    }
  }
  EXPECT_GT(compared, 10000);
}

TEST(DerivativeTypes, SumInTheWiderType) {
  const Array<float> x = list<float>({0, 0}), dx = list<float>({1e8F, 1});
  Array<double> dy{Shape{}};
  sum.jvp(x.view(), dx.view(), dy.view());
  EXPECT_EQ(dy[0], 100000001.0);
  const Pool both = sum_pool({.kernel = {1}, .stride = {1}});
  Array<float> gx({2});
  both.vjp(x.view(), list<double>({1 + 0x1p-40, 2}).view(), gx.view());
  EXPECT_EQ(gx[0], 1.0F);
}

TEST(DerivativeTypes, MayNotBeIntegers) {
  const Array<float> x = list<float>({1, 2});
  const Array<int> whole = list<int>({1, 2});
  Array<int> dy{Shape{}}, gx({2});
  Array<float> real_dy{Shape{}};
  const auto argument_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::no_derivative);
      return error.fault().argument;
    }
    return Argument::none;
  };
  EXPECT_EQ(argument_of([&] { sum.jvp(x.view(), x.view(), dy.view()); }), Argument::dy);
  EXPECT_EQ(argument_of([&] { sum.jvp(x.view(), whole.view(), real_dy.view()); }), Argument::dx);
  EXPECT_EQ(argument_of([&] { sum.vjp(x.view(), real_dy.view(), gx.view()); }), Argument::gx);
  EXPECT_EQ(argument_of([&] { global_smooth_max_pool({}).beta_derivative(x.view(), dy.view()); }), Argument::dy);
}

TEST(UnpoolTypes, ConvertByTheSameRules) {
  const Array<float> values = list<float>({2.5F, -300, 1e9F});
  const Array<Index> indices = list<Index>({0, 1, 2});
  Array<std::int8_t> x({4});
  max_unpool({.output_size = {4}}).forward(values.view(), indices.view(), x.view());
  EXPECT_EQ(x, list<std::int8_t>({2, -128, 127, 0}));
}

}  // namespace ndpool::testing
