// Lp: the p-norm of the taps on input cells, for p > 0; for p = infinity the largest magnitude.
//
//   y = (|x_1|^p + ... + |x_n|^p)^(1/p)        w_i = sign(x_i) (|x_i| / y)^(p-1), 0 where x_i = 0
//
// Kept as a pair (largest, sum) that stands for sum * largest^p, so that squares of large numbers do not overflow.
#pragma once

#include <ndpool/api.h>
#include <ndpool/spec/max.hpp>

namespace ndpool::spec {

template <class T>
constexpr T magnitude(const T& x) {
  if (x < T(0)) return T(-x);
  return x;
}

/// -1, 0 or 1; 1 for NaN, so that a NaN that wins is treated as max treats it.
template <class T>
constexpr T sign(const T& x) {
  return x < T(0) ? T(-1) : x == T(0) ? T(0) : T(1);
}

/// p < infinity.
template <class T>
struct NDPOOL_API Lp {
  static_assert(AnalyticField<Accumulator<T>>, "ndpool: Lp needs a scalar with exp, log and pow");
  /// The scalar of the taps.
  using Scalar = T;
  /// What sums are kept in.
  using Number = Accumulator<T>;
  /// The exponent.
  double p = 2;
  /// What the caller has chosen.
  LpOptions options = {};

  /// What a fold carries from tap to tap.
  struct State {
    /// The largest magnitude so far.
    Number largest{};
    /// The sum of (|x| / largest)^p.
    Number sum{};
  };

  /// The state of no taps.
  static constexpr State identity() { return {Number(0), Number(0)}; }
  /// The state of one tap, which has a number in its window.
  static constexpr State lift(const T& x, Index) { return {magnitude(static_cast<Number>(x)), Number(1)}; }

  /// The state of the taps of both.
  constexpr State combine(const State& a, const State& b) const {
    const Number largest = a.largest < b.largest ? b.largest : a.largest;
    return {largest, Number(a.sum * relative(a.largest, largest) + b.sum * relative(b.largest, largest))};
  }

  /// What value and weights of a window are made of.
  struct Summary {
    /// The p-norm.
    Number norm;
  };
  /// What is known of a window when all its taps are folded.
  constexpr Summary finish(const State& state, TapCounts) const {
    if (state.largest == Number(0) && !is_nan(state.sum)) return {Number(0)};
    return {Number(state.largest * transcendental::pow_of(state.sum, Number(Number(1) / Number(p))))};
  }

  /// The result of a window.
  constexpr T value(const Summary& summary) const { return narrow<T>(summary.norm); }

  /// The derivative of the value by one tap, times scale().
  constexpr Number weight(const Summary& summary, const T& tap_value, Index) const {
    const Number x = static_cast<Number>(tap_value);
    if (x == Number(0)) return Number(0);
    const Number share = magnitude(x) / summary.norm;
    return sign(x) * transcendental::pow_of(share, Number(Number(p) - Number(1)));
  }
  /// What all weights of a window are divided by.
  static constexpr Number scale(const Summary&) { return Number(1); }

  /// What is wrong with the parameters.
  constexpr Fault fault() const {
    // As the scalar sees it: 1e-46 is positive, but not as a float.
    const Number power = static_cast<Number>(p);
    if (!(Number(0) < power) || is_infinite(Number(Number(1) / power)))
      return {Code::p_not_positive, Argument::p, -1, {}, p};
    if (is_infinite(power)) return {Code::p_not_finite, Argument::p, -1, {}, p};
    if (options.ties != Ties::standard) return {Code::ties_without_extreme, Argument::ties, -1, {}, p};
    return {};
  }
  /// True if a window without an input element is an error.
  constexpr bool rejects_empty_windows() const { return options.empty == Empty::error; }

 private:
  /// (x / largest)^p, also where both are infinite.
  constexpr Number relative(const Number& x, const Number& largest) const {
    if (x == Number(0)) return Number(0);
    const Number ratio = x / largest;
    if (x == largest && is_nan(ratio)) return Number(1);
    return transcendental::pow_of(ratio, Number(p));
  }
};

/// p = infinity: max of the magnitudes, with max's ties; an empty window gives 0.
template <class T>
struct NDPOOL_API LargestMagnitude : Max<T> {
  using typename Max<T>::Number;
  using typename Max<T>::State;
  using typename Max<T>::Summary;

  /// The state of one tap, which has a number in its window.
  static constexpr State lift(const T& x, Index tap) { return Max<T>::lift(magnitude(x), tap); }
  /// What is known of a window when all its taps are folded.
  constexpr Summary finish(State state, TapCounts) const {
    if (state.ties == 0) state.value = T(0);
    return state;
  }
  /// The derivative of the value by one tap, times scale().
  constexpr Number weight(const Summary& summary, const T& x, Index tap) const {
    return sign(static_cast<Number>(x)) * Max<T>::weight(summary, magnitude(x), tap);
  }
  /// True if an empty window has a value.
  static constexpr bool has_identity_value() { return true; }
};

}  // namespace ndpool::spec
