// VJP against finite differences.
#include "support/sweep.hpp"

namespace ndpool::testing {

/// Infinite outputs (of empty windows) do not depend on x.
double finite_inner_product(const Array<double>& y, const Array<double>& gy) {
  double sum = 0;
  for (Index i = 0; i < y.size(); ++i)
    if (std::isfinite(y[i])) sum += y[i] * gy[i];
  return sum;
}

TEST(Sweep, VjpEqualsFiniteDifferences) {
  constexpr double step = 1e-4;
  constexpr int cells_per_problem = 12;
  const int count = sweep(every_problem, [](const Problem& problem, std::mt19937_64& random) {
    Array<double> x = distinct_numbers(problem.shape, random);
    const Array<double> gy = uniform_numbers(problem.pool.output_shape(problem.shape), random);
    const Array<double> gx = vjp(problem.pool, x, gy);
    for (int tried = 0; tried < cells_per_problem; ++tried) {
      const Index cell = std::uniform_int_distribution<Index>(0, x.size() - 1)(random);
      const double middle = x[cell];
      x[cell] = middle + step;
      const double above = finite_inner_product(forward(problem.pool, x), gy);
      x[cell] = middle - step;
      const double below = finite_inner_product(forward(problem.pool, x), gy);
      x[cell] = middle;
      EXPECT_NEAR((above - below) / (2 * step), gx[cell], 2e-6 * (1 + std::abs(gx[cell]))) << "cell " << cell;
    }
  });
  EXPECT_GE(count, 2000);
}

}  // namespace ndpool::testing
