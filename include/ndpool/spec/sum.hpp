// Sum: the taps on input cells, added.
//
//   y = x_1 + ... + x_n        w_i = 1
#pragma once

#include <ndpool/api.h>
#include <ndpool/geometry.hpp>
#include <ndpool/spec/scalar.hpp>

namespace ndpool::spec {

/// The sum of the taps; padding is 0.
template <class T>
struct NDPOOL_API Sum {
  static_assert(Field<T>, "ndpool: sum and average need a scalar with +, -, * and /");
  /// The scalar of the taps.
  using Scalar = T;
  /// What a fold carries from tap to tap.
  using State = Accumulator<T>;

  /// The state of no taps.
  static constexpr State identity() { return State(0); }
  /// The state of one tap, which has a number in its window.
  static constexpr State lift(const T& x, Index) { return static_cast<State>(x); }
  /// The state of the taps of both.
  static constexpr State combine(const State& a, const State& b) { return a + b; }

  /// What value and weights of a window are made of.
  using Summary = State;
  /// What is known of a window when all its taps are folded.
  static constexpr Summary finish(const State& sum, TapCounts) { return sum; }
  /// The result of a window.
  static constexpr T value(const Summary& sum) { return narrow<T>(sum); }
  /// The derivative of the value by one tap, times scale().
  static constexpr State weight(const Summary&, const T&, Index) { return State(1); }
  /// What all weights of a window are divided by.
  static constexpr State scale(const Summary&) { return State(1); }
};

}  // namespace ndpool::spec
