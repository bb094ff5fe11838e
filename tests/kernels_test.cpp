// Every kernel against the spec, on every instruction set this machine has.
#include "support/sweep.hpp"

namespace ndpool::testing {

/// Restores the choice of instruction set.
struct ForcedTarget {
  explicit ForcedTarget(const std::string& name) { force_target(name); }
  ~ForcedTarget() { force_target(""); }
};

bool has_kernels(const std::string& line) { return !is_transcendental(line); }

/// Numbers that make rounding, ties and NaN visible.
template <class T>
Array<T> awkward_numbers(const Shape& shape, std::mt19937_64& random) {
  Array<T> values(shape);
  const bool with_nan = random() % 4 == 0;
  for (T& value : values) {
    const std::uint64_t bits = random();
    if constexpr (std::is_floating_point_v<T>) {
      value = bits % 5 == 0 ? static_cast<T>(bits >> 8 & 3) : std::ldexp(static_cast<T>(bits >> 40), -20) - T(8);
      if (with_nan && bits % 7 == 0) value = std::numeric_limits<T>::quiet_NaN();
      if (bits % 41 == 0) value = -std::numeric_limits<T>::infinity();
    } else {
      value = bits % 8 == 0   ? std::numeric_limits<T>::max()
              : bits % 8 == 1 ? std::numeric_limits<T>::lowest()
                              : static_cast<T>(bits >> 8);
    }
  }
  return values;
}

/// The same number, or both NaN.
template <class T>
bool same(const T& a, const T& b) {
  return a == b || (a != a && b != b);
}

template <class T>
Array<T> spec_forward(const Problem& problem, const Array<T>& x) {
  Array<T> y(problem.pool.output_shape(problem.shape));
  problem.pool.forward_by_spec(x.view(), y.view());
  return y;
}

template <class T>
class KernelScalar : public ::testing::Test {};
#define NDPOOL_ROW(name, type) type,
using KernelScalars = ::testing::Types<NDPOOL_SCALARS(NDPOOL_ROW) float>;
#undef NDPOOL_ROW
TYPED_TEST_SUITE(KernelScalar, KernelScalars);

TYPED_TEST(KernelScalar, ForwardEqualsTheSpecBitForBitOnEveryTarget) {
  int with_kernels = 0;
  for (const std::string& target : targets()) {
    SCOPED_TRACE("target " + target);
    const ForcedTarget forced(target);
    sweep(has_kernels, [&](const Problem& problem, std::mt19937_64& random) {
      const Array<TypeParam> x = awkward_numbers<TypeParam>(problem.shape, random);
      const Array<TypeParam> expected = spec_forward(problem, x), y = forward(problem.pool, x);
      with_kernels += problem.pool.plan<TypeParam>(problem.shape).has_kernels() ? 1 : 0;
      for (Index i = 0; i < y.size(); ++i)
        ASSERT_TRUE(same(y[i], expected[i])) << "output " << i << ": " << +y[i] << " instead of " << +expected[i];
    });
  }
  EXPECT_GE(with_kernels, 1000);
}

}  // namespace ndpool::testing
