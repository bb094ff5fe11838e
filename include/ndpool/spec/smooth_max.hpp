// Smooth max: log-sum-exp, a differentiable stand-in for max (for min with negative beta).
//
//   y = log(exp(beta x_1) + ... + exp(beta x_n)) / beta        w_i = exp(beta x_i) / (the same sum)
//
// Kept as a pair (shift, sum) that stands for sum * exp(beta * shift), where shift is the tap with the largest beta *
// x. The differences are taken before they are scaled, so nothing overflows that the answer does not.
#pragma once

#include <ndpool/geometry.hpp>
#include <ndpool/reducer.hpp>
#include <ndpool/spec/scalar.hpp>

namespace ndpool::spec {

template <class T>
struct SmoothMax {
  static_assert(AnalyticField<Accumulator<T>>, "ndpool: smooth max needs a scalar with exp, log and pow");
  using Scalar = T;
  using Number = Accumulator<T>;
  SmoothMaxOptions options = {};

  struct State {
    Number shift{};
    Number sum{};
    bool empty = true;
  };

  static constexpr State identity() { return {}; }
  static constexpr State lift(const T& x, Index) { return {static_cast<Number>(x), Number(1), false}; }

  constexpr State combine(const State& a, const State& b) const {
    if (a.empty) return b;
    if (b.empty) return a;
    // A NaN leads whatever it meets, so that its window is NaN in value and weights in any order of the taps.
    const bool b_leads =
        is_nan(b.shift) || (!is_nan(a.shift) && (options.beta < 0 ? b.shift < a.shift : a.shift < b.shift));
    const Number shift = b_leads ? b.shift : a.shift;
    return {shift, Number(a.sum * relative(a.shift, shift) + b.sum * relative(b.shift, shift)), false};
  }

  using Summary = State;
  /// Padded taps are zeros: there are (counted - real) of them, which is not a product over the axes.
  constexpr Summary finish(const State& state, TapCounts counts) const {
    const Index zeros = counts.counted - counts.real;
    if (options.pad_mode == PadMode::ignore || zeros == 0) return state;
    return combine(state, {Number(0), from_count<Number>(zeros), false});
  }

  constexpr T value(const Summary& summary) const {
    if (summary.empty) {
      const Number infinity = std::numeric_limits<Number>::infinity();
      return narrow<T>(options.beta < 0 ? infinity : Number(-infinity));
    }
    return narrow<T>(Number(summary.shift + transcendental::log_of(summary.sum) / beta()));
  }

  constexpr Number weight(const Summary& summary, const T& x, Index) const {
    if (is_lowest(summary.shift)) return Number(0);
    return relative(static_cast<Number>(x), summary.shift);
  }
  static constexpr Number scale(const Summary& summary) { return summary.sum; }

  constexpr Fault fault() const {
    // As the scalar sees it: 1e39 is finite, but not as a float.
    if (!is_infinite(beta()) && !is_nan(beta()) && !(beta() == Number(0))) return {};
    return {Code::beta_not_usable, Argument::beta, -1, {}, options.beta};
  }
  constexpr bool rejects_empty_windows() const {
    return options.empty == Empty::error && options.pad_mode == PadMode::ignore;
  }
  constexpr bool has_identity_value() const {
    return options.pad_mode == PadMode::zero || std::numeric_limits<Number>::has_infinity;
  }

 private:
  constexpr Number beta() const { return Number(options.beta); }

  /// exp(beta (x - shift)). Equal infinities count as one unit each, which splits the weight over them.
  constexpr Number relative(const Number& x, const Number& shift) const {
    const Number difference = x - shift;
    if (x == shift && is_nan(difference)) return Number(1);
    if (is_infinite(difference) && !is_infinite(x) && !is_infinite(shift))  // it would fit once it is scaled
      return transcendental::exp_of(Number(beta() * Number(x / Number(2) - shift / Number(2)) * Number(2)));
    return transcendental::exp_of(Number(beta() * difference));
  }

  /// beta * shift = -inf: every tap is, the function is flat there.
  constexpr bool is_lowest(const Number& shift) const {
    return is_infinite(shift) && (options.beta < 0 ? Number(0) < shift : shift < Number(0));
  }
};

}  // namespace ndpool::spec
