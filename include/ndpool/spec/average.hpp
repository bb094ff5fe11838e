// Average: the sum of the taps on input cells over a divisor.
//
//   y = (x_1 + ... + x_n) / divisor        w_i = 1 / divisor
#pragma once

#include <ndpool/api.h>
#include <ndpool/reducer.hpp>
#include <ndpool/spec/sum.hpp>

namespace ndpool::spec {

/// sum / divisor as a whole number, for divisor != 0. In terms of floor division: q = floor(sum / divisor), rest in
/// [0, divisor), and the rounding decides between q and q + 1.
template <class Integer>
constexpr Integer round_divide(Integer sum, Integer divisor, Rounding rounding) {
  if (divisor < 0) {
    sum = -sum;
    divisor = -divisor;
  }
  Integer quotient = sum / divisor, rest = sum % divisor;
  if (rest < 0) {
    --quotient;
    rest += divisor;
  }
  const Integer other = divisor - rest;  // compared instead of 2 * rest, which could overflow
  bool up = false;
  switch (rounding) {
    case Rounding::floor: break;
    case Rounding::toward_zero: up = sum < 0 && rest > 0; break;
    case Rounding::half_even: up = rest > other || (rest == other && quotient % 2 != 0); break;
    case Rounding::half_away: up = rest > other || (rest == other && sum > 0); break;
  }
  return up ? quotient + 1 : quotient;
}

/// The sum over a divisor: taps on input or padding, taps on input, or a given number.
template <class T>
struct NDPOOL_API Average : Sum<T> {
  /// What a fold carries from tap to tap.
  using State = Accumulator<T>;
  /// The options that a call may give.
  using Options = AverageOptions;
  /// What the caller has chosen.
  Options options = {};

  /// What value and weights of a window are made of.
  struct Summary {
    /// The sum of the taps.
    State sum;
    /// What it is divided by.
    Index divisor;
  };
  /// What is known of a window when all its taps are folded.
  constexpr Summary finish(const State& sum, TapCounts counts) const {
    const Index taps = options.count_include_pad ? counts.counted : counts.real;
    return {sum, options.divisor == AverageOptions::no_divisor ? taps : options.divisor};
  }

  /// Always a division, never a multiplication by the reciprocal: the average of equal numbers is that number.
  constexpr T value(const Summary& summary) const {
    if (summary.divisor == 0) return T(0);  // no real tap, and the caller asked for the identity
    if constexpr (std::integral<T>)
      return narrow<T>(round_divide(summary.sum, scale(summary), options.rounding));
    else
      return narrow<T>(State(summary.sum / scale(summary)));
  }

  /// The derivative of the value by one tap, times scale().
  static constexpr State weight(const Summary&, const T&, Index) { return State(1); }
  /// What all weights of a window are divided by.
  static constexpr State scale(const Summary& summary) { return from_count<State>(summary.divisor); }

  /// What is wrong with the parameters.
  constexpr Fault fault() const {
    if (options.divisor == 0) return {Code::zero_divisor, Argument::divisor, -1, {}};
    return {};
  }
  /// True if a window without an input element is an error.
  constexpr bool rejects_empty_windows() const {
    return options.empty == Empty::error && !options.count_include_pad && options.divisor == AverageOptions::no_divisor;
  }
};

}  // namespace ndpool::spec
