// One spec for every scalar: integers of every width and bool, short floats, complex numbers, intervals.
#include "support/sweep.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <boost/numeric/interval.hpp>

#include <cmath>
#include <complex>

using Interval = boost::numeric::interval<double>;

// The customisation a user writes for intervals: the extremes of the ends enclose the extreme of what they enclose.
template <>
struct ndpool::spec::Join<Interval> {
  static Interval max(const Interval& a, const Interval& b) { return boost::numeric::max(a, b); }
  static Interval min(const Interval& a, const Interval& b) { return boost::numeric::min(a, b); }
};

namespace ndpool::testing {

using Rational = boost::multiprecision::cpp_rational;
using Integer = boost::multiprecision::cpp_int;

/// The rounding rules, written from their definitions in terms of exact numbers.
Integer rounded(const Rational& value, Rounding rounding) {
  const Integer n = numerator(value), d = denominator(value);
  const Integer below = n >= 0 ? Integer(n / d) : Integer(-((-n + d - 1) / d));
  const Rational fraction = value - Rational(below), half(1, 2);
  switch (rounding) {
    case Rounding::floor: return below;
    case Rounding::toward_zero: return value < 0 && fraction > 0 ? Integer(below + 1) : below;
    case Rounding::half_even:
      return fraction > half || (fraction == half && below % 2 != 0) ? Integer(below + 1) : below;
    case Rounding::half_away: return fraction > half || (fraction == half && value > 0) ? Integer(below + 1) : below;
  }
  return below;
}

Rounding rounding_of(const std::string& line) {
  if (line.find("rounding=floor") != std::string::npos) return Rounding::floor;
  if (line.find("rounding=toward_zero") != std::string::npos) return Rounding::toward_zero;
  if (line.find("rounding=half_away") != std::string::npos) return Rounding::half_away;
  return Rounding::half_even;
}

/// Problems that integers and rationals share: no transcendentals, no empty window that would need a lowest rational.
bool is_exact(const std::string& line) {
  if (is_transcendental(line)) return false;
  const Problem problem = parse_problem(line);
  const bool is_extreme = line.find("max") != std::string::npos || line.find("min") != std::string::npos;
  return !is_extreme || !problem.pool.geometry(problem.shape).empty_window();
}

template <class T>
class IntegerScalar : public ::testing::Test {};
using Integers = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                  std::int64_t, std::uint64_t, bool>;
TYPED_TEST_SUITE(IntegerScalar, Integers);

/// Any value of the type, its ends as often as all others together.
template <class T>
Array<T> integers(const Shape& shape, std::mt19937_64& random) {
  Array<T> values(shape);
  for (T& value : values) {
    const std::uint64_t bits = random();
    value = bits % 4 == 0   ? std::numeric_limits<T>::max()
            : bits % 4 == 1 ? std::numeric_limits<T>::lowest()
                            : static_cast<T>(bits >> 8);
  }
  return values;
}

TYPED_TEST(IntegerScalar, IsTheExactResultRoundedAndClamped) {
  int count = 0;
  for (const std::string& line : sweep_problems()) {
    if (!is_exact(line)) continue;
    SCOPED_TRACE("NDPOOL_SEED=" + std::to_string(seed()) + ", problem: " + line);
    std::mt19937_64 random(seed() + std::hash<std::string>()(line));
    const Problem problem = parse_problem(line);
    const Array<TypeParam> x = integers<TypeParam>(problem.shape, random);
    Array<Rational> exact_x(problem.shape);
    for (Index i = 0; i < x.size(); ++i) exact_x[i] = Rational(Integer(x[i]));
    const Array<TypeParam> y = forward(problem.pool, x);
    const Array<Rational> exact_y = forward(problem.pool, exact_x);
    const Integer lowest = std::numeric_limits<TypeParam>::lowest(), highest = std::numeric_limits<TypeParam>::max();
    for (Index i = 0; i < y.size(); ++i) {
      const Integer whole = rounded(exact_y[i], rounding_of(line));
      const Integer clamped = whole < lowest ? lowest : whole > highest ? highest : whole;
      ASSERT_EQ(Integer(y[i]), clamped) << "output " << i;
    }
    ++count;
  }
  EXPECT_GE(count, 1000);
}

TYPED_TEST(IntegerScalar, EmptyWindowGivesTheEndsOfTheType) {
  const Window beyond = {.kernel = {2}, .stride = {2}, .padding = {{0, 3}}};
  const Array<TypeParam> x({2}, TypeParam(1));
  EXPECT_EQ(forward(max_pool(beyond, {.empty = Empty::identity}), x)[1], std::numeric_limits<TypeParam>::lowest());
  EXPECT_EQ(forward(min_pool(beyond, {.empty = Empty::identity}), x)[1], std::numeric_limits<TypeParam>::max());
}

template <class T>
class ShortFloatScalar : public ::testing::Test {
 public:
  /// Numbers with few digits, so that there are ties, and sometimes a NaN or an infinity. `wide` gets the same numbers.
  static Array<T> numbers(const Shape& shape, std::mt19937_64& random, Array<float>& wide) {
    Array<T> values(shape);
    wide = Array<float>(shape);
    for (Index i = 0; i < values.size(); ++i) {
      const std::uint64_t bits = random();
      const int exponent = static_cast<int>(bits % 8) - 4, digits = static_cast<int>(bits / 8 % 64) - 32;
      values[i] = bits % 1009 == 0   ? std::numeric_limits<T>::quiet_NaN()
                  : bits % 1013 == 0 ? std::numeric_limits<T>::infinity()
                                     : T(std::ldexp(digits, exponent));
      wide[i] = values[i];
    }
    return values;
  }

  static void expect_rounded(const Array<T>& results, const Array<float>& wide, const char* map) {
    ASSERT_EQ(results.size(), wide.size());
    for (Index i = 0; i < results.size(); ++i)
      ASSERT_TRUE(results[i].bits == T(wide[i]).bits || (spec::is_nan(results[i]) && spec::is_nan(wide[i])))
          << map << " at " << i << ": " << results[i] << " instead of " << wide[i] << " rounded";
  }
};
using ShortFloats = ::testing::Types<f16, bf16>;
TYPED_TEST_SUITE(ShortFloatScalar, ShortFloats);

TYPED_TEST(ShortFloatScalar, EveryMapIsThatOfFloatRoundedOnce) {
  const int count = sweep(every_problem, [](const Problem& problem, std::mt19937_64& random) {
    const Pool pool = problem.pool.without_kernels();
    const Shape shape = problem.shape, output_shape = pool.output_shape(shape);
    Array<float> wide_x, wide_dx, wide_gy;
    const Array<TypeParam> x = TestFixture::numbers(shape, random, wide_x),
                           dx = TestFixture::numbers(shape, random, wide_dx),
                           gy = TestFixture::numbers(output_shape, random, wide_gy);
    TestFixture::expect_rounded(forward(pool, x), forward(pool, wide_x), "value");
    TestFixture::expect_rounded(jvp(pool, x, dx), jvp(pool, wide_x, wide_dx), "JVP");
    TestFixture::expect_rounded(vjp(pool, x, gy), vjp(pool, wide_x, wide_gy), "VJP");
  });
  EXPECT_GE(count, 2000);
}

TEST(ComplexScalar, SumAndAveragePoolRealAndImaginaryPartsIndependently) {
  using Complex = std::complex<double>;
  const auto is_linear = [](const std::string& line) {
    const std::string op = line.substr(0, line.find(' '));
    return op.ends_with("sum") || op.ends_with("avg");
  };
  sweep(is_linear, [](const Problem& problem, std::mt19937_64& random) {
    const Array<double> real = uniform_numbers(problem.shape, random),
                        imaginary = uniform_numbers(problem.shape, random);
    Array<Complex> x(problem.shape);
    for (Index i = 0; i < x.size(); ++i) x[i] = {real[i], imaginary[i]};
    const Array<double> y_real = forward(problem.pool, real), y_imaginary = forward(problem.pool, imaginary);
    const Array<Complex> y = forward(problem.pool, x), dy = jvp(problem.pool, x, x);
    for (Index i = 0; i < y.size(); ++i) {
      EXPECT_LE(std::abs(y[i] - Complex(y_real[i], y_imaginary[i])), 4e-16 * std::abs(y[i]));
      EXPECT_EQ(dy[i], y[i]) << "a linear map is its own derivative";
    }
  });
}

TEST(ComplexScalar, HasNoMaximum) {
  const Array<std::complex<float>> x({4});
  for (const Pool& pool : {max_pool({.kernel = {2}}), min_pool({.kernel = {2}})}) try {
      forward(pool, x);
      FAIL() << "complex numbers have no order";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::no_order);
    }
}

TEST(IntervalScalar, ResultEnclosesThePoolOfEverySampledPoint) {
  const int count = sweep(is_exact, [](const Problem& problem, std::mt19937_64& random) {
    const auto eighths = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random) / 8.0; };
    Array<Interval> x(problem.shape);
    for (Interval& element : x) {
      const double low = eighths(-40, 40);
      element = Interval(low, low + eighths(0, 24));
    }
    const Array<Interval> y = forward(problem.pool, x);
    for (int sample = 0; sample < 4; ++sample) {
      Array<double> point(problem.shape);
      for (Index i = 0; i < x.size(); ++i)
        point[i] = sample == 0   ? x[i].lower()
                   : sample == 1 ? x[i].upper()
                                 : std::min(x[i].upper(), x[i].lower() + eighths(0, 24));
      // In rationals the pool of the point is exact, so that the enclosure is not judged by a rounded sum.
      Array<Rational> exact(problem.shape);
      for (Index i = 0; i < x.size(); ++i) exact[i] = Rational(point[i]);
      const Array<Rational> value = forward(problem.pool, exact);
      for (Index i = 0; i < y.size(); ++i)
        EXPECT_TRUE(Rational(y[i].lower()) <= value[i] && value[i] <= Rational(y[i].upper())) << "output " << i;
    }
  });
  EXPECT_GE(count, 1000);
}

TEST(IntervalScalar, HasNoDerivativeAndNoWinner) {
  const Array<Interval> x({4});
  Array<Interval> y({2}), gx({4});
  Array<Index> winners({2});
  const Pool pool = max_pool({.kernel = {2}});
  EXPECT_THROW(pool.vjp(x.view(), y.view(), gx.view()), Error);
  EXPECT_THROW(pool.jvp(x.view(), gx.view(), y.view()), Error);
  EXPECT_THROW(pool.forward(x.view(), y.view(), winners.view()), Error);
}

TEST(RationalScalar, AverageIsExact) {
  const Array<Rational> x({3}, std::vector<Rational>{Rational(1, 2), Rational(1, 3), Rational(1, 7)});
  EXPECT_EQ(forward(avg_pool({.kernel = {3}}), x)[0], Rational(41, 126));
}

TEST(RationalScalar, HasNoSmoothMax) {
  const Array<Rational> x({4});
  EXPECT_THROW(forward(smooth_max_pool({.kernel = {2}}), x), Error);
  EXPECT_THROW(forward(lp_pool(2, {.kernel = {2}}), x), Error);
}

// Values decide what a sum means; the order of the additions decides its bits. k = 7 splits as 4 + (2 + 1).
TEST(FloatScalar, SumsSplitTheKernelIntoPowersOfTwo) {
  // Half a unit in the last place of 1 is lost when it is added to 1 alone, but not together with another half.
  const float half = std::numeric_limits<float>::epsilon() / 2;
  const Array<float> x({7}, std::vector<float>{1, 0, 0, 0, half, 0, half});
  EXPECT_EQ(forward(sum_pool({.kernel = {7}}), x)[0], 1 + 2 * half);
  const Array<float> reversed({7}, std::vector<float>{1, half, 0, half, 0, 0, 0});
  EXPECT_EQ(forward(sum_pool({.kernel = {7}}), reversed)[0], 1);
}

TEST(FloatScalar, SumsFoldTheFirstAxisFirst) {
  const Array<float> x({2, 2}, std::vector<float>{1e8F, 1.0F, -1e8F, 1.0F});
  EXPECT_EQ(forward(sum_pool({.kernel = {2, 2}}), x)[0], 2.0F);
}

}  // namespace ndpool::testing
