// Data for the problems of the sweep, and the loop that runs a check over all of them.
#pragma once

#include "support/array.hpp"
#include "support/generated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace ndpool::testing {

/// Calls check(problem, random) for every problem of the sweep; stops at the first that fails and prints how to repeat
/// it. Returns the number of problems that ran.
template <class Wanted, class Check>
int sweep(Wanted wanted, Check check) {
  int count = 0;
  for (const std::string& line : sweep_problems()) {
    if (!wanted(line)) continue;
    SCOPED_TRACE("NDPOOL_SEED=" + std::to_string(seed()) + ", problem: " + line);
    std::mt19937_64 random(seed() + std::hash<std::string>()(line));
    try {
      check(parse_problem(line), random);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "threw: " << error.what();
    }
    ++count;
    if (::testing::Test::HasFailure()) return count;
  }
  return count;
}

inline bool every_problem(const std::string&) { return true; }

/// Numbers of distinct magnitudes between 0.5 and 3 with random signs: no ties, no kinks nearby.
inline Array<double> distinct_numbers(const Shape& shape, std::mt19937_64& random) {
  Array<double> x(shape);
  std::vector<double> ranks(static_cast<std::size_t>(x.size()));
  std::iota(ranks.begin(), ranks.end(), 0.0);
  std::shuffle(ranks.begin(), ranks.end(), random);
  for (Index i = 0; i < x.size(); ++i) {
    const double magnitude = 0.5 + 2.5 * ranks[static_cast<std::size_t>(i)] / static_cast<double>(x.size());
    x[i] = random() % 2 == 0 ? magnitude : -magnitude;
  }
  return x;
}

inline Array<double> uniform_numbers(const Shape& shape, std::mt19937_64& random) {
  Array<double> values(shape);
  std::uniform_real_distribution<double> distribution(-1, 1);
  for (double& value : values) value = distribution(random);
  return values;
}

template <class T>
T inner_product(const Array<T>& a, const Array<T>& b) {
  T sum(0);
  for (Index i = 0; i < a.size(); ++i) sum += T(a[i] * b[i]);
  return sum;
}

}  // namespace ndpool::testing
