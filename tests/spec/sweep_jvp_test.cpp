// JVP against forward-mode numbers: the reference runs on dual numbers and must carry the same derivative.
#include "support/sweep.hpp"

#include <boost/math/differentiation/autodiff.hpp>

namespace ndpool::testing {

using Dual = boost::math::differentiation::autodiff_fvar<double, 1>;

/// x + t dx for an infinitesimal t.
Array<Dual> dual_numbers(const Array<double>& x, const Array<double>& dx) {
  const Dual t = boost::math::differentiation::make_fvar<double, 1>(0.0);
  Array<Dual> duals(x.shape());
  for (Index i = 0; i < x.size(); ++i) duals[i] = x[i] + t * dx[i];
  return duals;
}

TEST(Sweep, JvpEqualsTheDerivativeOfForwardModeNumbers) {
  const int count = sweep(every_problem, [](const Problem& problem, std::mt19937_64& random) {
    const Array<double> x = distinct_numbers(problem.shape, random), dx = uniform_numbers(problem.shape, random);
    const Pool pool = problem.pool.without_kernels();
    const Array<double> y = forward(pool, x), dy = jvp(pool, x, dx);
    const Array<Dual> duals = forward(problem.pool, dual_numbers(x, dx));
    for (Index i = 0; i < dy.size(); ++i) {
      EXPECT_EQ(duals[i].derivative(0), y[i]) << "value of output " << i;
      // An empty window of max is infinite, and its derivative is the 0 of a constant.
      EXPECT_NEAR(duals[i].derivative(1), dy[i], 1e-12 * (1 + std::abs(dy[i]))) << "derivative of output " << i;
    }
  });
  EXPECT_GE(count, 2000);
}

}  // namespace ndpool::testing
