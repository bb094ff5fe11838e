// Smooth max: log-sum-exp, a differentiable stand-in for max (for min with negative beta).
//
//   y = log(exp(beta x_1) + ... + exp(beta x_n)) / beta        w_i = exp(beta x_i) / (the same sum)
//
// Kept as a pair (shift, sum) that stands for sum * exp(beta * shift), where shift is the tap with the largest beta *
// x. The differences are taken before they are scaled, so nothing overflows that the answer does not.
#pragma once

#include <ndpool/api.h>
#include <ndpool/geometry.hpp>
#include <ndpool/reducer.hpp>
#include <ndpool/spec/scalar.hpp>

namespace ndpool::spec {

/// The reducer: forward, JVP and VJP follow from its members.
template <class T>
struct NDPOOL_API SmoothMax {
  static_assert(AnalyticField<Accumulator<T>>, "ndpool: smooth max needs a scalar with exp, log and pow");
  /// The scalar of the taps.
  using Scalar = T;
  /// What sums are kept in.
  using Number = Accumulator<T>;
  /// The options that a call may give.
  using Options = BasicSmoothMaxOptions<Parameter<Number>>;
  /// What the caller has chosen.
  Options options = {};

  /// What a fold carries from tap to tap.
  struct State {
    /// The tap with the largest beta * x so far.
    Number shift{};
    /// The sum of exp(beta (x - shift)).
    Number sum{};
    /// No tap so far.
    bool empty = true;
  };

  /// The state of no taps.
  static constexpr State identity() { return {}; }
  /// The state of one tap, which has a number in its window.
  static constexpr State lift(const T& x, Index) { return {static_cast<Number>(x), Number(1), false}; }

  /// The state of the taps of both.
  constexpr State combine(const State& a, const State& b) const {
    if (a.empty) return b;
    if (b.empty) return a;
    // A NaN leads whatever it meets, so that its window is NaN in value and weights in any order of the taps.
    const bool b_leads =
        is_nan(b.shift) || (!is_nan(a.shift) && (is_smooth_min() ? b.shift < a.shift : a.shift < b.shift));
    const Number shift = b_leads ? b.shift : a.shift;
    return {shift, Number(a.sum * relative(a.shift, shift) + b.sum * relative(b.shift, shift)), false};
  }

  /// What value and weights of a window are made of.
  using Summary = State;
  /// What is known of a window when all its taps are folded.
  constexpr Summary finish(const State& state, TapCounts counts) const { return combine(state, padding(counts)); }

  /// The result of a window.
  constexpr T value(const Summary& summary) const {
    if (summary.empty) {
      const Number infinity = std::numeric_limits<Number>::infinity();
      return narrow<T>(is_smooth_min() ? infinity : Number(-infinity));
    }
    return narrow<T>(Number(summary.shift + transcendental::log_of(summary.sum) / beta()));
  }

  /// The derivative of the value by one tap, times scale().
  constexpr Number weight(const Summary& summary, const T& x, Index) const {
    if (is_lowest(summary.shift)) return Number(0);
    return relative(static_cast<Number>(x), summary.shift);
  }
  /// What all weights of a window are divided by.
  static constexpr Number scale(const Summary& summary) { return summary.sum; }

  /// What is wrong with the parameters.
  constexpr Fault fault() const {
    using Limits = std::numeric_limits<double>;
    Fault unusable{Code::beta_not_usable, Argument::beta, -1, {}, 0};
    if (beta() == Number(0)) return unusable;
    unusable.real = is_nan(beta()) ? Limits::quiet_NaN() : is_smooth_min() ? -Limits::infinity() : Limits::infinity();
    return is_nan(beta()) || is_infinite(beta()) ? unusable : Fault{};
  }
  /// True if a window without an input element is an error.
  constexpr bool rejects_empty_windows() const {
    return options.empty == Empty::error && options.pad_mode == PadMode::ignore;
  }
  /// True if an empty window has a value.
  constexpr bool has_identity_value() const {
    return options.pad_mode == PadMode::zero || std::numeric_limits<Number>::has_infinity;
  }

 protected:
  /// Padded taps are zeros: there are (counted - real) of them, which is not a product over the axes.
  constexpr State padding(TapCounts counts) const {
    const Index zeros = counts.counted - counts.real;
    if (options.pad_mode == PadMode::ignore || zeros == 0) return identity();
    return {Number(0), from_count<Number>(zeros), false};
  }

  /// Beta in the type of sums.
  constexpr const Number& beta() const { return options.beta.value; }
  /// True for a negative beta.
  constexpr bool is_smooth_min() const { return beta() < Number(0); }

  /// beta (x - shift). Equal infinities are 0 apart, which splits the weight over them.
  constexpr Number exponent(const Number& x, const Number& shift) const {
    const Number difference = x - shift;
    if (x == shift && is_nan(difference)) return Number(0);
    if (is_infinite(difference) && !is_infinite(x) && !is_infinite(shift))  // it would fit once it is scaled
      return Number(beta() * Number(x / Number(2) - shift / Number(2)) * Number(2));
    return Number(beta() * difference);
  }
  /// exp(beta (x - shift)), also where both are infinite.
  constexpr Number relative(const Number& x, const Number& shift) const {
    return transcendental::exp_of(exponent(x, shift));
  }

  /// beta * shift = -inf: every tap is, the function is flat there.
  constexpr bool is_lowest(const Number& shift) const {
    return is_infinite(shift) && (is_smooth_min() ? Number(0) < shift : shift < Number(0));
  }
};

/// dy/dbeta of smooth max, as a reducer whose value it is.
///
///   dy/dbeta = (sum w_i x_i - y) / beta = -H / beta^2        H = -sum w_i log w_i, the entropy of the weights
///
/// With t_i = beta (x_i - shift) and s = sum exp(t_i) the entropy is log s - (sum t_i exp(t_i)) / s. Neither term of
/// that difference is negative, so nothing cancels; in the first form both terms are as large as y.
template <class T>
struct NDPOOL_API SmoothMaxBeta : SmoothMax<T> {
  using typename SmoothMax<T>::Number;

  /// What a fold carries from tap to tap.
  struct State {
    /// Sums of powers and of their products with x.
    typename SmoothMax<T>::State powers{};
    Number moment{};  ///< sum t_i exp(t_i)
  };

  /// The state of no taps.
  static constexpr State identity() { return {}; }
  /// The state of one tap, which has a number in its window.
  static constexpr State lift(const T& x, Index tap) { return {SmoothMax<T>::lift(x, tap), Number(0)}; }
  /// The state of the taps of both.
  constexpr State combine(const State& a, const State& b) const {
    if (a.powers.empty) return b;
    if (b.powers.empty) return a;
    const typename SmoothMax<T>::State powers = SmoothMax<T>::combine(a.powers, b.powers);
    return {powers, Number(moved(a, powers.shift) + moved(b, powers.shift))};
  }

  /// What value and weights of a window are made of.
  using Summary = State;
  /// What is known of a window when all its taps are folded.
  constexpr Summary finish(const State& state, TapCounts counts) const {
    return combine(state, {this->padding(counts), Number(0)});
  }

  /// 0 where the value does not depend on beta: empty windows, and those whose beta x_i are all -infinity.
  constexpr T value(const Summary& summary) const {
    if (summary.powers.empty || this->is_lowest(summary.powers.shift)) return narrow<T>(Number(0));
    const Number& sum = summary.powers.sum;
    const Number entropy = transcendental::log_of(sum) - Number(summary.moment / sum);
    return narrow<T>(Number(Number(-entropy / this->beta()) / this->beta()));  // beta * beta may leave the range
  }
  /// True if an empty window has a value.
  static constexpr bool has_identity_value() { return true; }

 private:
  /// The moment of a state relative to another shift. A power of 0 has none, although its exponent may be infinite.
  constexpr Number moved(const State& state, const Number& shift) const {
    const Number power = this->relative(state.powers.shift, shift);
    if (power == Number(0)) return Number(0);
    return Number(power * Number(state.moment + this->exponent(state.powers.shift, shift) * state.powers.sum));
  }
};

}  // namespace ndpool::spec
