// Quantised numbers, q = real / scale + zero_point: their average, where input and output share scale and zero point,
// and the factor between numbers of different scales.
//
//   y = (q_1 + ... + q_n + padded cells * zero_point) / divisor, rounded half away from 0
//
// The scale of an average cancels out. A padded cell is the real number 0, which is stored as the zero point; padding
// is not counted unless the caller asks for it, as in TensorFlow Lite.
#pragma once

#include <ndpool/spec/average.hpp>

#include <cstdint>

namespace ndpool::spec {

/// The average of integers that stand for real numbers: rounded half away from 0; padding is the zero point.
template <std::integral T>
struct QuantisedAverage {
  static_assert(sizeof(T) <= 2, "ndpool: quantised averages are of numbers of 8 or 16 bits");
  /// The scalar of the taps.
  using Scalar = T;
  using State = std::int32_t;  ///< exact up to most_taps, and what a microcontroller adds in one instruction
  /// Taps up to which the sum cannot overflow.
  static constexpr Index most_taps = INT32_MAX / (2 * (Index{std::numeric_limits<T>::max()} + 1));

  /// What the number 0 is stored as.
  T zero_point = 0;
  /// Divides by taps on input and padding, else by those on input.
  bool count_include_pad = false;

  /// The state of no taps.
  static constexpr State identity() { return 0; }
  /// The state of one tap, which has a number in its window.
  static constexpr State lift(const T& x, Index) { return x; }
  /// The state of the taps of both.
  static constexpr State combine(State a, State b) { return a + b; }

  /// What value and weights of a window are made of.
  struct Summary {
    /// The sum of the taps and of what padding counts as.
    State sum;
    /// The taps that are counted.
    State divisor;
  };
  /// What is known of a window when all its taps are folded.
  constexpr Summary finish(State sum, TapCounts counts) const {
    const State real = static_cast<State>(counts.real), counted = static_cast<State>(counts.counted);
    if (!count_include_pad) return {sum, real};
    return {sum + zero_point * (counted - real), counted};
  }
  /// The result of a window.
  static constexpr T value(const Summary& summary) {
    return narrow<T>(round_divide(summary.sum, summary.divisor, Rounding::half_away));
  }
  /// True if a window without an input element is an error.
  constexpr bool rejects_empty_windows() const { return !count_include_pad; }
};

/// A factor between two scales, as a fraction mantissa / 2^shift that needs no floating-point unit.
class Multiplier {
 public:
  /// 1.
  constexpr Multiplier() = default;
  /// The fraction nearest to `real` with a mantissa of 31 bits. Numbers from 2^31 on become the largest fraction, those
  /// below 2^-63, NaN and what is not positive become 0.
  constexpr explicit Multiplier(double real) : mantissa_(0), shift_(0) {
    if (!(real > 0)) return;
    while (real < 0x1p30 && shift_ < most_shift) {
      real *= 2;
      ++shift_;
    }
    // 2^31 itself has one bit too many; only rounding up, or a number that is too large, gets there.
    real = real + 0.5;
    if (real >= 0x1p31 && shift_ > 0) {
      real /= 2;
      --shift_;
    }
    mantissa_ = real >= 0x1p31 ? INT32_MAX : static_cast<std::int32_t>(real);
  }

  /// sum times the factor, rounded half away from 0. `sum` must be between -2^32 and 2^32, so that the product fits.
  constexpr std::int64_t operator()(std::int64_t sum) const {
    const bool negative = sum < 0;
    const auto product = static_cast<std::uint64_t>(negative ? -sum : sum) * static_cast<std::uint64_t>(mantissa_);
    const std::uint64_t half = shift_ == 0 ? 0 : std::uint64_t{1} << (shift_ - 1);
    const auto rounded = static_cast<std::int64_t>((product + half) >> shift_);
    return negative ? -rounded : rounded;
  }

  /// The factor as the nearest float.
  constexpr float real() const {
    return static_cast<float>(mantissa_) / static_cast<float>(std::uint64_t{1} << shift_);
  }
  /// The mantissa of the fraction.
  constexpr std::int32_t mantissa() const { return mantissa_; }
  /// The binary logarithm of its denominator.
  constexpr int shift() const { return shift_; }

 private:
  static constexpr int most_shift = 62;

  std::int32_t mantissa_ = 1;
  int shift_ = 0;
};

}  // namespace ndpool::spec
