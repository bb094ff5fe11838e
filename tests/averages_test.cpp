// Averages are divided as floats are divided, to the last bit, however kernels do it.
#include "support/kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <vector>

namespace ndpool::testing {
namespace {

/// Divides numbers by averaging windows of 2x2 cells, of which one holds the number and the others what changes none.
class Quotients {
 public:
  Quotients(Index count, Index divisor)
      : count_(count),
        x_(static_cast<std::size_t>(4 * count), -0.0F),
        y_(static_cast<std::size_t>(count)),
        plan_(avg_pool({.kernel = {2, 2}}, {.divisor = divisor}).plan<float>({2, 2 * count})) {}

  template <class Number>
  const std::vector<float>& operator()(const Number& number) {
    for (Index i = 0; i < count_; ++i) x_[static_cast<std::size_t>(2 * i)] = number(i);
    plan_.forward(x_.data(), y_.data());
    return y_;
  }

 private:
  const Index count_;
  std::vector<float> x_, y_;
  const Plan<float> plan_;
};

/// How many of some numbers are not divided as they should be.
template <class Number>
Index wrong_quotients(Quotients& quotients, Index count, Index divisor, const Number& number) {
  const std::vector<float>& made = quotients(number);
  Index wrong = 0;
  for (Index i = 0; i < count; ++i) {
    const float expected = number(i) / static_cast<float>(divisor), found = made[static_cast<std::size_t>(i)];
    const bool both_nan = std::isnan(expected) && std::isnan(found);
    wrong += !both_nan && std::bit_cast<std::uint32_t>(expected) != std::bit_cast<std::uint32_t>(found);
  }
  return wrong;
}

constexpr Index divisors[] = {3, 4, 6, 7, 9, 11, 25, 63, 1001, (1 << 20) - 1, (1 << 20) + 1, -9};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr Index mantissa_step = 61;  // sanitizers take their time
#else
constexpr Index mantissa_step = 1;
#endif

TEST(Averages, OfEveryMantissaAreQuotientsRoundedOnce) {
  constexpr Index count = 1 << 16;
  for (const Index divisor : divisors) {
    Quotients quotients(count, divisor);
    Index wrong = 0;
    for (Index first = 0; first < 1 << 23; first += count * mantissa_step)
      wrong += wrong_quotients(quotients, count, divisor, [&](Index i) {
        const auto mantissa = static_cast<std::uint32_t>(std::min<Index>(first + i * mantissa_step, (1 << 23) - 1));
        return std::bit_cast<float>(std::uint32_t{127} << 23 | mantissa);
      });
    EXPECT_EQ(wrong, 0) << "divisor " << divisor;
  }
}

TEST(Averages, OfNumbersAtTheEndsOfTheirRangeAreQuotientsToo) {
  std::vector<float> numbers;
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent)
    for (const std::uint32_t mantissa : {0U, 1U, 2U, 9U, 0x2AAAAAU, 0x400000U, 0x7FFFFEU, 0x7FFFFFU})
      for (const std::uint32_t sign : {0U, 1U}) {
        numbers.push_back(std::bit_cast<float>(sign << 31 | exponent << 23 | mantissa));
      }
  const auto count = static_cast<Index>(numbers.size());
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    for (const Index divisor : divisors) {
      Quotients quotients(count, divisor);
      const auto each = [&](Index i) { return numbers[static_cast<std::size_t>(i)]; };
      EXPECT_EQ(wrong_quotients(quotients, count, divisor, each), 0) << "divisor " << divisor << ", " << target;
      // One at a time among ordinary numbers: nothing else gives it away.
      Quotients few(64, divisor);
      for (Index n = 0; n < count; ++n)
        EXPECT_EQ(wrong_quotients(few, 64, divisor, [&](Index i) { return i == 37 ? each(n) : 1.0F; }), 0)
            << "divisor " << divisor << ", " << target << ", " << each(n);
    }
  }
}

TEST(Averages, LeaveTheCallersFlagsAsTheyWere) {
  Quotients quotients(64, 9);
  std::feclearexcept(FE_ALL_EXCEPT);
  quotients([](Index) { return std::numeric_limits<float>::min(); });
  EXPECT_FALSE(std::fetestexcept(FE_INVALID));
  std::feraiseexcept(FE_UNDERFLOW | FE_INVALID);
  quotients([](Index) { return 1.0F; });
  EXPECT_TRUE(std::fetestexcept(FE_UNDERFLOW));
  EXPECT_TRUE(std::fetestexcept(FE_INVALID));
  std::feclearexcept(FE_ALL_EXCEPT);
}

}  // namespace
}  // namespace ndpool::testing
