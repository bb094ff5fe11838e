// Sums and averages of integers at the ends of what kernels add and divide them in.
#include "support/kernels.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ndpool::testing {
namespace {

template <class T>
class Integers : public ::testing::Test {};
using LongerThanBytes = ::testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Integers, LongerThanBytes);

/// Every power of two of a type, its neighbours, and their negatives.
template <class T>
std::vector<T> numbers_at_ends() {
  std::vector<T> numbers = {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
  for (int bit = 1; bit < std::numeric_limits<T>::digits; ++bit)
    for (const int more : {-1, 0, 1}) {
      numbers.push_back(static_cast<T>((T{1} << bit) + more));
      numbers.push_back(static_cast<T>(-numbers.back()));
    }
  return numbers;
}

template <class T>
void expect_equal_to_spec(const Pool& pool, const Array<T>& x) {
  for (const std::string& target : targets()) {
    const ForcedTarget forced(target);
    EXPECT_EQ(forward(pool, x), forward(pool.without_kernels(), x)) << "target " << target;
  }
}

TYPED_TEST(Integers, OfAnySizeAreSummedExactly) {
  for (const TypeParam number : numbers_at_ends<TypeParam>()) {
    SCOPED_TRACE(number);
    const Array<TypeParam> x({4, 34}, number);
    expect_equal_to_spec(sum_pool({.kernel = {2, 2}}), x);
    expect_equal_to_spec(sum_pool({.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1}}), x);
    expect_equal_to_spec(avg_pool({.kernel = {2, 2}}), x);
    expect_equal_to_spec(avg_pool({.kernel = {3, 3}, .stride = {1, 1}}), x);
    expect_equal_to_spec(avg_pool({.kernel = {4}, .axes = {0}}), x);
  }
}

TYPED_TEST(Integers, OneLargeNumberAmongSmallOnesIsNotLost) {
  for (const TypeParam number : numbers_at_ends<TypeParam>()) {
    SCOPED_TRACE(number);
    for (const Index place : {0, 17, 66, 135}) {
      Array<TypeParam> x({4, 34}, TypeParam(3));
      x[place] = number;
      expect_equal_to_spec(sum_pool({.kernel = {2, 2}}), x);
      expect_equal_to_spec(avg_pool({.kernel = {2, 3}, .stride = {1, 1}}), x);
    }
  }
}

/// Sums of four numbers of many sizes, over divisors of both signs, small, large and powers of two.
TYPED_TEST(Integers, AveragesAreRoundedHalfToEvenWhateverTheDivisor) {
  for (const Index divisor : {1, 2, 3, 5, 7, 9, 64, 128, 129, 1000, 65537, 16777217, 2147483647, -2, -3, -64, -1000}) {
    Array<TypeParam> x({2, 2, 64});
    for (Index i = 0; i < x.size(); ++i) x[i] = static_cast<TypeParam>((i * 2654435761) >> (i % 2 == 0 ? 12 : 3));
    for (const Rounding rounding : {Rounding::half_even, Rounding::toward_zero, Rounding::floor, Rounding::half_away}) {
      SCOPED_TRACE(divisor);
      const AverageOptions options{.divisor = divisor, .rounding = rounding};
      expect_equal_to_spec(avg_pool({.kernel = {2, 2}, .axes = {0, 1}}, options), x);
      expect_equal_to_spec(avg_pool({.kernel = {2, 2}, .axes = {1, 2}}, options), x);
    }
  }
}

}  // namespace
}  // namespace ndpool::testing
