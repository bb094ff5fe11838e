// The vector functions of the kernels against long double, on every instruction set this machine has.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "math_test.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/simd/math-inl.h"

#ifndef NDPOOL_MATH_TEST_FUNCTIONS_
#define NDPOOL_MATH_TEST_FUNCTIONS_
namespace ndpool::testing {

/// A function of one target over arrays of `count` arguments, a multiple of every number of lanes.
template <class T>
using Function = void (*)(const T* x, const T* second, const T* third, T* out, std::size_t count);

template <class T>
struct Functions {
  std::int64_t target;
  Function<T> exp_of_scaled, exp, log, pow;  // the second argument of pow is read once
};

struct MathFunctions {
  Functions<float> of_float;
  Functions<double> of_double;
};

}  // namespace ndpool::testing
#endif

HWY_BEFORE_NAMESPACE();
namespace ndpool::testing {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
namespace target = ndpool::HWY_NAMESPACE;

template <class T, class Body>
HWY_INLINE void for_each_vector(T* out, std::size_t count, Body body) {
  const hn::ScalableTag<T> d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::StoreU(body(d, i), d, out + i);
}

template <class T>
void exp_of_scaled(const T* x, const T* shift, const T* beta, T* out, std::size_t count) {
  for_each_vector(out, count, [&](auto d, std::size_t i) HWY_ATTR {
    return target::ExpOfScaled(d, hn::LoadU(d, x + i), hn::LoadU(d, shift + i), hn::LoadU(d, beta + i));
  });
}

template <class T>
void exp(const T* x, const T*, const T*, T* out, std::size_t count) {
  for_each_vector(out, count, [&](auto d, std::size_t i) HWY_ATTR { return target::Exp(d, hn::LoadU(d, x + i)); });
}

template <class T>
void log(const T* x, const T*, const T*, T* out, std::size_t count) {
  for_each_vector(out, count, [&](auto d, std::size_t i) HWY_ATTR { return target::Log(d, hn::LoadU(d, x + i)); });
}

template <class T>
void pow(const T* x, const T* p, const T*, T* out, std::size_t count) {
  for_each_vector(out, count,
                  [&](auto d, std::size_t i) HWY_ATTR { return target::PowPositive(d, hn::LoadU(d, x + i), *p); });
}

const MathFunctions* math_functions() {
  static constexpr MathFunctions functions = {
      {HWY_TARGET, exp_of_scaled<float>, exp<float>, log<float>, pow<float>},
      {HWY_TARGET, exp_of_scaled<double>, exp<double>, log<double>, pow<double>}};
  return &functions;
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool::testing
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "support/generated.hpp"

#include "kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace ndpool::testing {

HWY_EXPORT(math_functions);

/// What was compiled for the targets that this machine has.
std::vector<const MathFunctions*> runnable() {
  std::vector<const MathFunctions*> found;
  for (const auto& compiled : HWY_DISPATCH_TABLE(math_functions)) {
    const MathFunctions* functions = compiled == nullptr ? nullptr : compiled();
    if (functions == nullptr || (functions->of_float.target & hwy::SupportedTargets()) == 0) continue;
    if (std::find(found.begin(), found.end(), functions) == found.end()) found.push_back(functions);
  }
  return found;
}

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <class T>
class VectorMath : public ::testing::Test {
 protected:
  using Limits = std::numeric_limits<T>;
  using Member = Function<T> Functions<T>::*;
  static constexpr std::size_t arguments = 1 << 20, block = 1 << 10;  // blocks share their second argument of pow

  struct Arguments {
    std::vector<T> x = std::vector<T>(arguments), second = x, third = x;
    std::vector<long double> expected = std::vector<long double>(arguments);
  };

  /// Calls body(functions of T) for every target.
  template <class Body>
  static void for_each_target(Body body) {
    const std::vector<const MathFunctions*> all = runnable();
    std::vector<std::string> names = targets();
    std::erase(names, "AVX3");  // smooth max and Lp are not compiled for it
    ASSERT_EQ(all.size(), names.size()) << "not compiled as the library is";
    for (const MathFunctions* functions : all) {
      SCOPED_TRACE(hwy::TargetName(functions->of_float.target));
      if constexpr (std::is_same_v<T, float>)
        body(functions->of_float);
      else
        body(functions->of_double);
    }
  }

  static void expect_within(long double bound, const Arguments& a, Member member) {
    for_each_target([&](const Functions<T>& functions) {
      std::vector<T> got(arguments);
      for (std::size_t i = 0; i < arguments; i += block)
        (functions.*member)(&a.x[i], &a.second[i], &a.third[i], &got[i], block);
      long double largest = -1;
      std::size_t worst = 0;
      for (std::size_t i = 0; i < arguments; ++i) {
        const long double error = ulps(got[i], a.expected[i]);
        if (error <= largest) continue;
        largest = error;
        worst = i;
      }
      ::testing::Test::RecordProperty(std::string("ulp_") + hwy::TargetName(functions.target), std::to_string(largest));
      EXPECT_LE(largest, bound) << "x = " << a.x[worst] << ", second = " << a.second[worst]
                                << ", third = " << a.third[worst] << ": " << got[worst] << " instead of "
                                << a.expected[worst] << ", NDPOOL_SEED=" << seed();
    });
  }

  /// Numbers that overflow count as the power of two beyond the largest number. Below the normal range everything down
  /// to 0 is right, but from half of its least number on nothing else is.
  static long double ulps(T got, long double expected) {
    const long double beyond = std::ldexp(1.0L, Limits::max_exponent), magnitude = std::fabs(expected);
    if (magnitude < Limits::min() / 2) return got == 0 ? 0 : infinity<T>;
    if (magnitude < Limits::min()) return got >= 0 && got <= Limits::min() ? 0 : infinity<T>;
    if (std::isnan(got)) return infinity<T>;
    const int exponent = std::min(std::ilogb(expected), Limits::max_exponent - 1);
    const auto clamped = [&](long double value) { return std::clamp(value, -beyond, beyond); };
    return std::ldexp(std::fabs(clamped(got) - clamped(expected)), Limits::digits - 1 - exponent);
  }

  static T call(Function<T> function, T x, T second = 0, T third = 0) {
    constexpr std::size_t lanes = 16;
    const std::vector<T> xs(lanes, x), seconds(lanes, second), thirds(lanes, third);
    std::vector<T> out(lanes);
    function(xs.data(), seconds.data(), thirds.data(), out.data(), lanes);
    for (const T value : out) EXPECT_TRUE(value == out[0] || (value != value && out[0] != out[0]));
    return out[0];
  }

  T uniform(double low, double high) {
    return static_cast<T>(std::uniform_real_distribution<long double>(low, high)(random_));
  }
  T sign() { return random_() % 2 == 0 ? T(1) : T(-1); }
  /// A positive number with a random exponent, which may be subnormal.
  T random_magnitude(int least = Limits::min_exponent - Limits::digits, int most = Limits::max_exponent) {
    return std::ldexp(uniform(0.5, 1), std::uniform_int_distribution<int>(least, most)(random_));
  }
  /// What exp can take and a little more, with tiny numbers among it, and the ends of the range more often.
  T random_exponent() {
    constexpr double lowest = (Limits::min_exponent - 1) * 0.6931471805599453,
                     highest = Limits::max_exponent * 0.6931471805599453;
    switch (random_() % 8) {
      case 0: return sign() * random_magnitude(-Limits::digits - 5, 5);
      case 1: return static_cast<T>(lowest) + uniform(-1, 1) * random_magnitude(-30, 0);
      case 2: return static_cast<T>(highest) + uniform(-1, 1) * random_magnitude(-30, 0);
      default: return uniform(lowest - 5, highest + 5);
    }
  }
  static T step(T from, int steps) {
    for (; steps > 0; --steps) from = std::nextafter(from, infinity<T>);
    for (; steps < 0; ++steps) from = std::nextafter(from, -infinity<T>);
    return from;
  }

  std::mt19937_64 random_{seed()};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(VectorMath, Scalars);

TYPED_TEST(VectorMath, ExpOfScaledIsWithin2UlpAlsoOfLargeProducts) {
  using T = TypeParam;
  typename TestFixture::Arguments a;
  for (std::size_t i = 0; i < this->arguments; ++i) {
    const T beta = this->sign() * this->random_magnitude(-40, 40), wanted = this->random_exponent() / beta;
    const T shift = i % 4 == 0 ? T(0) : this->sign() * wanted * this->random_magnitude(-12, 6);
    const T x = shift + wanted;
    a.x[i] = x;
    a.second[i] = shift;
    a.third[i] = beta;
    // The product in two parts: for double even the rounding error of a long double is too large.
    const long double difference = static_cast<long double>(x) - shift, minus_shift = difference - x;
    const long double rest = (x - (difference - minus_shift)) - (shift + minus_shift);
    const long double product = beta * difference;
    a.expected[i] =
        std::exp(product) * (1 + (std::fma(difference, static_cast<long double>(beta), -product) + beta * rest));
  }
  this->expect_within(2, a, &Functions<T>::exp_of_scaled);
}

TYPED_TEST(VectorMath, ExpIsWithin2Ulp) {
  typename TestFixture::Arguments a;
  for (std::size_t i = 0; i < this->arguments; ++i) {
    a.x[i] = this->random_exponent();
    a.expected[i] = std::exp(static_cast<long double>(a.x[i]));
  }
  this->expect_within(2, a, &Functions<TypeParam>::exp);
}

TYPED_TEST(VectorMath, LogIsWithin2UlpAlsoNear1AndOfSubnormalNumbers) {
  using T = TypeParam;
  typename TestFixture::Arguments a;
  for (std::size_t i = 0; i < this->arguments; ++i) {
    switch (i % 4) {
      case 0: a.x[i] = this->random_magnitude(); break;
      case 1: a.x[i] = 1 + this->sign() * this->random_magnitude(1 - TestFixture::Limits::digits, -1); break;
      case 2: a.x[i] = this->uniform(0.25, 4); break;
      default:
        a.x[i] =
            this->step(i % 8 == 3 ? T(0.70710678118654752) : T(1.41421356237309505), static_cast<int>(i / 8 % 64) - 32);
    }
    a.expected[i] = std::log(static_cast<long double>(a.x[i]));
  }
  this->expect_within(2, a, &Functions<T>::log);
}

TYPED_TEST(VectorMath, PowIsWithin4UlpAlsoOfLargePowers) {
  using T = TypeParam;
  typename TestFixture::Arguments a;
  const T usual[] = {T(0.5), T(1.5), T(2), T(2.5), T(3), T(4), T(10), T(1) / 3, T(-0.5)};
  for (std::size_t i = 0; i < this->arguments; ++i) {
    const std::size_t number = i / this->block;
    if (i % this->block != 0)
      a.second[i] = a.second[i - 1];
    else if (number % 4 == 0)
      a.second[i] = usual[number / 4 % std::size(usual)];
    else
      a.second[i] = number % 4 == 1 ? this->uniform(-1, 1) : this->random_magnitude(-10, number % 4 == 2 ? 30 : 6);
    const T p = a.second[i];
    const T x = i % 2 == 0 ? this->random_magnitude() : static_cast<T>(std::exp(this->random_exponent() / p));
    a.x[i] = std::min(x, std::numeric_limits<T>::max());
    a.expected[i] = std::pow(static_cast<long double>(a.x[i]), static_cast<long double>(p));
  }
  this->expect_within(4, a, &Functions<T>::pow);
}

TYPED_TEST(VectorMath, ExpHasItsLimits) {
  using T = TypeParam;
  const T inf = infinity<T>, max = std::numeric_limits<T>::max();
  this->for_each_target([&](const Functions<T>& functions) {
    const auto exp = [&](T x) { return this->call(functions.exp, x); };
    EXPECT_EQ(exp(0), 1);
    EXPECT_EQ(exp(T(-0.0)), 1);
    EXPECT_EQ(exp(inf), inf);
    EXPECT_EQ(exp(max), inf);
    EXPECT_EQ(exp(-inf), 0);
    EXPECT_EQ(exp(-max), 0);
    EXPECT_FALSE(std::signbit(exp(-inf)));
    EXPECT_EQ(exp(std::log(max) * T(1.001)), inf);
    EXPECT_EQ(exp(std::log(std::numeric_limits<T>::min()) * T(1.001)), 0);
    // The bits of a NaN survive the arithmetic on bits.
    for (const char* bits : {"", "1", "2", "127", "255", "256", "511", "1023", "2047", "4095"}) {
      const T number = sizeof(T) == 4 ? static_cast<T>(std::nanf(bits)) : static_cast<T>(std::nan(bits));
      EXPECT_TRUE(std::isnan(exp(number))) << bits;
      EXPECT_TRUE(std::isnan(exp(-number))) << bits;
    }
  });
}

TYPED_TEST(VectorMath, ExpOfScaledHasItsLimits) {
  using T = TypeParam;
  const T inf = infinity<T>, nan = std::numeric_limits<T>::quiet_NaN(), max = std::numeric_limits<T>::max();
  this->for_each_target([&](const Functions<T>& functions) {
    const auto exp = [&](T x, T shift, T beta) { return this->call(functions.exp_of_scaled, x, shift, beta); };
    for (const T beta : {T(1), T(-3), T(0.1), max, T(1) / max})
      for (const T x : {T(0), T(1) / 3, max, -max, std::numeric_limits<T>::denorm_min()}) EXPECT_EQ(exp(x, x, beta), 1);
    EXPECT_EQ(exp(-inf, 3, 2), 0);
    EXPECT_EQ(exp(inf, 3, -2), 0);
    EXPECT_EQ(exp(3, inf, 2), 0);
    EXPECT_EQ(exp(inf, 3, 2), inf);
    EXPECT_EQ(exp(-1e6, 0, 1e6), 0);
    EXPECT_EQ(exp(-max / 2, max / 2, 1), 0);
    EXPECT_EQ(exp(-max, 1, max), 0);
    EXPECT_EQ(exp(max, 1, max), inf);
    EXPECT_EQ(exp(-max, max, 1), 0);
    EXPECT_TRUE(std::isnan(exp(nan, 0, 1)));
    EXPECT_TRUE(std::isnan(exp(nan, inf, -1)));
    EXPECT_TRUE(std::isnan(exp(0, nan, 1)));
    EXPECT_TRUE(std::isnan(exp(-inf, -inf, 1)));
    // A difference of the largest numbers, scaled back to one.
    EXPECT_LE(this->ulps(exp(-max / 2, max / 2, 1 / max), std::exp(-static_cast<long double>(max) * (1 / max))), 2);
  });
}

TYPED_TEST(VectorMath, LogHasItsLimits) {
  using T = TypeParam;
  const T inf = infinity<T>, nan = std::numeric_limits<T>::quiet_NaN();
  this->for_each_target([&](const Functions<T>& functions) {
    const auto log = [&](T x) { return this->call(functions.log, x); };
    EXPECT_EQ(log(1), 0);
    EXPECT_FALSE(std::signbit(log(1)));
    EXPECT_EQ(log(0), -inf);
    EXPECT_EQ(log(T(-0.0)), -inf);
    EXPECT_EQ(log(inf), inf);
    for (const T x : {-inf, T(-1), -std::numeric_limits<T>::denorm_min(), nan, -nan})
      EXPECT_TRUE(std::isnan(log(x))) << x;
    for (const T x :
         {std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()})
      EXPECT_LE(this->ulps(log(x), std::log(static_cast<long double>(x))), 2) << x;
  });
}

TYPED_TEST(VectorMath, PowHasItsLimits) {
  using T = TypeParam;
  const T inf = infinity<T>, nan = std::numeric_limits<T>::quiet_NaN(), max = std::numeric_limits<T>::max(),
          tiny = std::numeric_limits<T>::denorm_min();
  this->for_each_target([&](const Functions<T>& functions) {
    const auto pow = [&](T x, T p) { return this->call(functions.pow, x, p); };
    for (const T p : {T(0.01), T(0.5), T(2), T(1000), max}) {
      EXPECT_EQ(pow(0, p), 0);
      EXPECT_EQ(pow(1, p), 1);
      EXPECT_EQ(pow(inf, p), inf);
      EXPECT_TRUE(std::isnan(pow(nan, p)));
    }
    EXPECT_EQ(pow(0, T(-0.5)), inf);
    EXPECT_EQ(pow(1, T(-0.5)), 1);
    EXPECT_EQ(pow(inf, T(-0.5)), 0);
    for (const T x : {T(0), tiny, T(1) / 3, T(1), max, inf}) {
      EXPECT_EQ(pow(x, 1), x);
      EXPECT_EQ(pow(x, 0), 1);
    }
    EXPECT_EQ(pow(max, 2), inf);
    EXPECT_EQ(pow(max, max), inf);
    EXPECT_EQ(pow(tiny, 2), 0);
    EXPECT_EQ(pow(T(0.5), max), 0);
    EXPECT_LE(this->ulps(pow(tiny, T(0.5)), std::sqrt(static_cast<long double>(tiny))), 4);
  });
}

}  // namespace ndpool::testing
#endif
