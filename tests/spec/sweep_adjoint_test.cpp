// <J dx, gy> = <dx, J' gy>, exactly, in rationals.
#include "support/sweep.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <set>

namespace ndpool::testing {

using Rational = boost::multiprecision::cpp_rational;

/// Few distinct values, so that windows have ties.
Array<Rational> small_rationals(const Shape& shape, std::mt19937_64& random) {
  Array<Rational> values(shape);
  for (Rational& value : values)
    value =
        Rational(std::uniform_int_distribution<int>(-4, 4)(random), std::uniform_int_distribution<int>(1, 3)(random));
  return values;
}

template <class T>
void expect_adjoint(const Problem& problem, const Array<T>& x, std::mt19937_64& random) {
  const Array<Rational> dx = small_rationals(problem.shape, random);
  const Array<Rational> gy = small_rationals(problem.pool.output_shape(problem.shape), random);
  EXPECT_EQ(inner_product(jvp(problem.pool, x, dx), gy), inner_product(dx, vjp(problem.pool, x, gy)));
}

TEST(Sweep, HasMoreThanTwoThousandDistinctProblems) {
  const std::vector<std::string> problems = sweep_problems();
  const std::set<std::string> distinct(problems.begin(), problems.end());
  EXPECT_EQ(distinct.size(), problems.size());
  EXPECT_GE(distinct.size(), 2000U);
}

TEST(Sweep, JvpAndVjpAreExactAdjointsInRationals) {
  const int count = sweep([](const std::string& line) { return !is_transcendental(line); },
                          [](const Problem& problem, std::mt19937_64& random) {
                            expect_adjoint(problem, small_rationals(problem.shape, random), random);
                          });
  EXPECT_GE(count, 1400);
}

// Exp and log have no exact values: the weights are computed in double and then taken as the exact numbers they are.
TEST(Sweep, JvpAndVjpOfSmoothMaxAndLpAreExactAdjointsForFrozenWeights) {
  const int count = sweep(is_transcendental, [](const Problem& problem, std::mt19937_64& random) {
    expect_adjoint(problem, uniform_numbers(problem.shape, random), random);
  });
  EXPECT_GE(count, 600);
}

}  // namespace ndpool::testing
