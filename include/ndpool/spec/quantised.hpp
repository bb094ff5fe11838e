// Average of quantised numbers, q = real / scale + zero_point, where input and output share scale and zero point.
//
//   y = (q_1 + ... + q_n + padded cells * zero_point) / divisor, rounded half away from 0
//
// The scale cancels out. A padded cell is the real number 0, which is stored as the zero point; padding is not counted
// unless the caller asks for it, as in TensorFlow Lite.
#pragma once

#include <ndpool/spec/average.hpp>

#include <cstdint>

namespace ndpool::spec {

template <std::integral T>
struct QuantisedAverage {
  static_assert(sizeof(T) <= 2, "ndpool: quantised averages are of numbers of 8 or 16 bits");
  using Scalar = T;
  using State = std::int32_t;  ///< exact up to most_taps, and what a microcontroller adds in one instruction
  static constexpr Index most_taps = INT32_MAX / (2 * (Index{std::numeric_limits<T>::max()} + 1));

  T zero_point = 0;
  bool count_include_pad = false;

  static constexpr State identity() { return 0; }
  static constexpr State lift(const T& x, Index) { return x; }
  static constexpr State combine(State a, State b) { return a + b; }

  struct Summary {
    State sum;
    State divisor;
  };
  constexpr Summary finish(State sum, TapCounts counts) const {
    const State real = static_cast<State>(counts.real), counted = static_cast<State>(counts.counted);
    if (!count_include_pad) return {sum, real};
    return {sum + zero_point * (counted - real), counted};
  }
  static constexpr T value(const Summary& summary) {
    return narrow<T>(round_divide(summary.sum, summary.divisor, Rounding::half_away));
  }
  constexpr bool rejects_empty_windows() const { return !count_include_pad; }
};

}  // namespace ndpool::spec
