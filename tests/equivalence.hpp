// One problem by kernels and by the reference: every map, with arrays that lie in memory as the problem says.
#pragma once

#include "support/problem.hpp"

#include <random>

namespace ndpool::testing {

struct Checked {
  std::string failure;              ///< the first disagreement, empty if there is none
  bool rejected = false;            ///< the problem has no answer: nothing ran
  std::vector<unsigned char> bits;  ///< all results but those of smooth max and Lp, which need not have the same bits
};

/// Runs the problem on the current target with numbers that `random` draws. Compiled for every row of NDPOOL_SCALARS.
///
/// Extremes, winners, integers, sums, averages and their JVPs must be the numbers of the reference. VJPs may add in
/// another order, smooth max and Lp may have functions of their own: what that can change is computed, not guessed.
/// Short floats may differ by one rounding. Memory around the results must stay as it was.
template <class T>
Checked check_problem(const std::string& line, std::mt19937_64& random);

/// Numbers for a problem depend on its line alone, so that the line repeats a failure.
std::mt19937_64 numbers_for(const std::string& line);

}  // namespace ndpool::testing
