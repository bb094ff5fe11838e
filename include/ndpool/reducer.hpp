// The choices each reducer leaves to the caller. Their meaning is in docs/semantics.md; the reference of each reducer
// is in spec/<its name>.hpp.
#pragma once

#include <ndpool/fault.hpp>

namespace ndpool {

/// Which of several equal extremes carry the derivative.
enum class Ties : unsigned char {
  standard,  ///< `first` for windowed and adaptive pools, `all` for global ones
  first,     ///< the first in row-major order, with weight 1
  all,       ///< every one, each with weight 1
  split,     ///< every one of m, each with weight 1/m
};

/// What a NaN does in max and min.
enum class Nan : unsigned char {
  propagate,  ///< it beats every number
  ignore,     ///< it counts only where there is no number
};

/// What a window without an input element does.
enum class Empty : unsigned char {
  error,     ///< is an error
  identity,  ///< the value that changes no other: lowest for max, highest for min, 0 for Lp and average
};

/// How an average of integers is rounded.
enum class Rounding : unsigned char {
  half_even,    ///< to nearest, halves to the even neighbour
  toward_zero,  ///< the fraction is dropped
  floor,        ///< down
  half_away,    ///< to nearest, halves away from zero
};

/// What a padded tap is to smooth max.
enum class PadMode : unsigned char {
  zero,    ///< a value 0 that takes part in the sum and receives no derivative
  ignore,  ///< nothing
};

/// Options of max and min.
struct ExtremeOptions {
  Ties ties = Ties::standard;  ///< which extremes carry the derivative
  Nan nan = Nan::propagate;    ///< what a NaN does
  Empty empty = Empty::error;  ///< what a window without an input element does
};

/// Options of average.
struct AverageOptions {
  bool count_include_pad = true;            ///< divide by the taps on input and padding; otherwise by the taps on input
  Index divisor = no_divisor;               ///< replaces both counts; must not be 0
  Rounding rounding = Rounding::half_even;  ///< of averages of integers
  Empty empty = Empty::error;               ///< what a window without a counted tap does

  /// No divisor is given.
  static constexpr Index no_divisor = INT64_MIN;
};

/// Options of smooth max, with beta in a type of the caller's choice; they convert to those of another type.
template <class Beta>
struct BasicSmoothMaxOptions {
  Beta beta = 1;                     ///< finite and not 0; negative gives a smooth min
  PadMode pad_mode = PadMode::zero;  ///< what a padded tap is
  Empty empty = Empty::error;        ///< what a window without an input element does

  /// The same options with beta in another type.
  template <class Other>
  constexpr operator BasicSmoothMaxOptions<Other>() const {
    return {Other(beta), pad_mode, empty};
  }
};
using SmoothMaxOptions = BasicSmoothMaxOptions<double>;

/// Options of Lp; p itself is an argument of its own.
struct LpOptions {
  Ties ties = Ties::standard;  ///< for p = infinity only
  Empty empty = Empty::error;  ///< what a window without an input element does
};

}  // namespace ndpool
