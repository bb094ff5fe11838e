// What the general engine has to know of a reducer at run time: how elements are flipped when they are loaded, and what
// becomes of a combined window when it is stored.
#pragma once

#include "kernels/kernels.hpp"

#include <cstdint>

namespace ndpool::general {

struct Finish {
  // Extremes.
  std::int64_t flip = 0;       ///< combined with the bits of every element: a minimum is a maximum of flipped ones
  std::int64_t infinity = 0;   ///< bits of +infinity, where floats are ordered as integers
  std::int64_t quiet_bit = 0;  ///< of a NaN
  bool ignores_nan = false;

  // Sums.
  bool averages = false;
  bool is_bool = false;
  bool quotients_fit_float = false, quotients_fit_double = false;
  Rounding rounding = Rounding::half_even;
  double count = 1;                ///< divisor, or its factor that a row has in common
  double reciprocal = 0;           ///< of the divisor, if multiplying by it is dividing
  const double* counts = nullptr;  ///< the other factor, one per element
};

}  // namespace ndpool::general
