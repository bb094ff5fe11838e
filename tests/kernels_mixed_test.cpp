// Results of another type than the input: the implementation of the list against the reference, bit for bit.
#include "support/generated.hpp"
#include "support/kernels.hpp"

#include <gtest/gtest.h>

namespace ndpool::testing {

template <class X, class Y>
struct Types {
  using Input = X;
  using Result = Y;
};
template <class>
class MixedTypes : public ::testing::Test {};
using Pairs =
    ::testing::Types<Types<std::uint8_t, float>, Types<std::uint8_t, double>, Types<std::uint8_t, f16>,
                     Types<std::uint8_t, std::uint32_t>, Types<std::int8_t, std::int64_t>, Types<std::uint16_t, float>,
                     Types<std::int32_t, double>, Types<std::int32_t, std::uint8_t>, Types<std::int64_t, std::int16_t>,
                     Types<std::uint64_t, float>, Types<bool, float>, Types<bf16, float>, Types<f16, double>,
                     Types<float, bf16>, Types<float, double>, Types<double, float>, Types<float, std::uint8_t>,
                     Types<double, std::int32_t>>;
TYPED_TEST_SUITE(MixedTypes, Pairs);

TYPED_TEST(MixedTypes, EqualTheReferenceBitForBit) {
  using X = typename TypeParam::Input;
  using Y = typename TypeParam::Result;
  std::mt19937_64 random(seed());
  const int count = has_sanitizer ? 60 : 400;
  int pooled = 0;
  for (int i = 0; i < count; ++i) {
    const std::string line = generated_problem(random, false);
    if (is_transcendental(line)) continue;
    const Problem problem = parse_problem(line);
    const Array<X> x = awkward_numbers<X>(problem.shape, random);
    try {
      const Shape out = problem.pool.output_shape(problem.shape);
      Array<Y> y(out), expected(out);
      problem.pool.without_kernels().forward(view(x.begin(), problem.shape), view(expected.begin(), out));
      problem.pool.forward(view(x.begin(), problem.shape), view(y.begin(), out));
      for (Index o = 0; o < y.size(); ++o)
        ASSERT_TRUE(y[o] == expected[o] || (spec::is_nan(y[o]) && spec::is_nan(expected[o])))
            << "output " << o << ": " << static_cast<double>(y[o]) << " instead of " << static_cast<double>(expected[o])
            << ", problem " << line;
      ++pooled;
    } catch (const Error&) {
      continue;
    }
  }
  EXPECT_GT(pooled, count / 4);
}

TEST(MixedTypes, OfPicturesRunWithoutTheReference) {
  const Shape shape = {3, 480, 640};
  std::vector<std::uint8_t> x(3 * 480 * 640, 7);
  std::vector<float> y(3 * 240 * 320);
  bool asked = false;
  const auto keep_going = [](void* context, double) { return *static_cast<bool*>(context) = true; };
  avg_pool({.kernel = {2, 2}}).forward(view(x, shape), view(y, {3, 240, 320}), {keep_going, &asked});
  EXPECT_TRUE(asked);
  EXPECT_EQ(y.front(), 7.0F);
  EXPECT_EQ(y.back(), 7.0F);
}

}  // namespace ndpool::testing
