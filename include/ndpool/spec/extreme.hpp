// What max and min share: the extreme of the taps, its first winner, and how often it occurs.
#pragma once

#include <ndpool/geometry.hpp>
#include <ndpool/reducer.hpp>
#include <ndpool/spec/scalar.hpp>

namespace ndpool::spec {

/// `Direction::before(a, b)` says that a is the more extreme number; `Direction::identity<T>()` loses to every number.
template <class T, class Direction>
struct Extreme {
  static_assert(Ordered<T> || Joined<T>, "ndpool: max and min need a scalar with an order or a Join");
  /// The scalar of the taps.
  using Scalar = T;
  /// What sums are kept in.
  using Number = Accumulator<T>;
  /// The options that a call may give.
  using Options = ExtremeOptions;
  /// What the caller has chosen.
  Options options = {};

  /// The extreme of some taps, the number of the first tap that holds it, and how many hold it. No tap: ties = 0.
  struct State {
    /// The extreme itself.
    T value{};
    /// The number of the first tap that holds it.
    Index tap = -1;
    /// How many taps hold it.
    Index ties = 0;
  };

  /// The state of no taps.
  static constexpr State identity() { return {}; }
  /// The state of one tap, which has a number in its window.
  static constexpr State lift(const T& x, Index tap) { return {x, tap, 1}; }

  /// The state of the taps of both.
  constexpr State combine(const State& a, const State& b) const {
    if (a.ties == 0) return b;
    if (b.ties == 0) return a;
    if constexpr (Joined<T>) {
      return {Direction::join(a.value, b.value), -1, a.ties + b.ties};
    } else {
      if (beats(a.value, b.value)) return a;
      if (beats(b.value, a.value)) return b;
      // A tie: the tap with the smaller number is first in row-major order, whatever order the taps came in.
      return {a.tap < b.tap ? a.value : b.value, a.tap < b.tap ? a.tap : b.tap, a.ties + b.ties};
    }
  }

  /// What value and weights of a window are made of.
  using Summary = State;
  /// What is known of a window when all its taps are folded.
  constexpr Summary finish(State state, TapCounts) const {
    if constexpr (has_identity_value())
      if (state.ties == 0) state.value = Direction::template identity<T>();
    return state;
  }

  /// The extreme itself.
  constexpr T value(const Summary& summary) const { return summary.value; }

  /// Number of the winning tap, -1 if the window is empty.
  constexpr Index winner(const Summary& summary) const requires Ordered<T> { return summary.tap; }

  /// The derivative of the value by one tap, times scale().
  constexpr Number weight(const Summary& summary, const T& x, Index tap) const requires Ordered<T> {
    if (options.ties == Ties::all || options.ties == Ties::split)
      return Number(beats(x, summary.value) || beats(summary.value, x) ? 0 : 1);
    return Number(tap == summary.tap ? 1 : 0);
  }
  /// An accumulator, because a short float cannot count to any number of ties.
  constexpr Number scale(const Summary& summary) const requires Ordered<T> {
    return options.ties == Ties::split ? from_count<Number>(summary.ties) : Number(1);
  }

  /// True if a window without an input element is an error.
  constexpr bool rejects_empty_windows() const { return options.empty == Empty::error; }
  /// True if T has a number, or an infinity, that no other is less (for min: more) extreme than.
  static constexpr bool has_identity_value() {
    return std::numeric_limits<T>::has_infinity || std::numeric_limits<T>::is_bounded;
  }

  /// Strictly more extreme, NaN rule included. Two NaNs tie, and so do +0 and -0.
  constexpr bool beats(const T& a, const T& b) const requires Ordered<T> {
    if (Direction::before(b, a) || a == b) return false;
    return !is_nan(options.nan == Nan::propagate ? b : a);  // a is before b, or one of them is NaN
  }
};

}  // namespace ndpool::spec
