// Sum: the taps on input cells, added.
//
//   y = x_1 + ... + x_n        w_i = 1
#pragma once

#include <ndpool/geometry.hpp>
#include <ndpool/spec/scalar.hpp>

namespace ndpool::spec {

template <class T>
struct Sum {
  static_assert(Field<T>, "ndpool: sum and average need a scalar with +, -, * and /");
  using Scalar = T;
  using State = Accumulator<T>;

  static constexpr State identity() { return State(0); }
  static constexpr State lift(const T& x, Index) { return static_cast<State>(x); }
  static constexpr State combine(const State& a, const State& b) { return a + b; }

  using Summary = State;
  static constexpr Summary finish(const State& sum, TapCounts) { return sum; }
  static constexpr T value(const Summary& sum) { return narrow<T>(sum); }
  static constexpr State weight(const Summary&, const T&, Index) { return State(1); }
  static constexpr State scale(const Summary&) { return State(1); }
};

}  // namespace ndpool::spec
