// Short floats: f16 (IEEE binary16) and bf16 (bfloat16). Pools read them exactly, compute in float and round each
// result once. Conversions are plain bit arithmetic, the same on every machine and in constant expressions.
#pragma once

#include <ndpool/api.h>
#include <ndpool/spec/scalar.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

namespace ndpool {

/// A float of 16 bits: a sign, `ExponentBits` bits of exponent and the fraction. It converts to float implicitly,
/// because that is exact; so it compares as a float (NaN is unordered, +0 == -0) and is one in arithmetic with other
/// types. The way back rounds to nearest, ties to even, and has to be asked for.
template <int ExponentBits>
struct NDPOOL_API ShortFloat {
  static_assert(5 <= ExponentBits && ExponentBits <= 8,
                "ndpool: neither range nor twice the digits may exceed a float");
  std::uint16_t bits;  ///< sign, exponent, fraction

  static constexpr int digits = 16 - ExponentBits;                       ///< with the hidden bit
  static constexpr int lowest_exponent = 2 - (1 << (ExponentBits - 1));  ///< of normal numbers
  static constexpr std::uint32_t sign_bit = 0x8000;                      ///< of the sign
  static constexpr std::uint32_t hidden_bit = 1U << (digits - 1);        ///< the lowest bit of the exponent
  static constexpr std::uint32_t quiet_bit = hidden_bit / 2;             ///< set in quiet NaNs
  static constexpr std::uint32_t infinity_bits = sign_bit - hidden_bit;  ///< of positive infinity

  /// Not initialised, as a float is not.
  ShortFloat() = default;
  /// Rounded to nearest, ties to even; a NaN becomes quiet and keeps its leading payload.
  explicit constexpr ShortFloat(float value) : bits(from_float<std::uint32_t>(value)) {}
  /// Rounded once, to nearest, ties to even.
  explicit constexpr ShortFloat(double value) : bits(from_float<std::uint64_t>(value)) {}
  /// Rounded to nearest, ties to even.
  template <std::integral Whole>
  requires(sizeof(Whole) <= 8) explicit constexpr ShortFloat(Whole value) {
    const std::uint64_t extended = static_cast<std::uint64_t>(value);
    const bool negative = std::signed_integral<Whole> && extended >> 63 != 0;
    bits = with_sign(negative, nearest(negative ? 0 - extended : extended, 0));
  }
  /// The number with these bits.
  [[nodiscard]] static constexpr ShortFloat from_bits(std::uint32_t pattern) {
    return std::bit_cast<ShortFloat>(static_cast<std::uint16_t>(pattern));
  }

  /// Exact.
  constexpr operator float() const {
    constexpr int missing = 24 - digits;
    constexpr std::uint32_t smallest_normal = (lowest_exponent + 127) << 23;  // as a float
    const std::uint32_t sign = (bits & sign_bit) << 16, magnitude = (bits & (sign_bit - 1)) << missing;
    if (ExponentBits == 8) return std::bit_cast<float>(sign | magnitude);  // the first half of a float
    if (magnitude >= infinity_bits << missing) return std::bit_cast<float>(sign | 0x7f800000 | magnitude);
    if (magnitude >= 1U << 23) return std::bit_cast<float>(sign | (smallest_normal - (1U << 23) + magnitude));
    // A subnormal number has no hidden bit: put one in front and take it away again, which is exact.
    const float value = std::bit_cast<float>(smallest_normal | magnitude) - std::bit_cast<float>(smallest_normal);
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }

  // Correctly rounded: a float has more than twice the digits, so that rounding twice does no harm.
  friend constexpr ShortFloat operator+(ShortFloat a, ShortFloat b) { return ShortFloat(float(a) + float(b)); }
  friend constexpr ShortFloat operator-(ShortFloat a, ShortFloat b) { return ShortFloat(float(a) - float(b)); }
  friend constexpr ShortFloat operator*(ShortFloat a, ShortFloat b) { return ShortFloat(float(a) * float(b)); }
  friend constexpr ShortFloat operator/(ShortFloat a, ShortFloat b) { return ShortFloat(float(a) / float(b)); }
  friend constexpr ShortFloat operator-(ShortFloat a) { return from_bits(a.bits ^ sign_bit); }

 private:
  static constexpr std::uint16_t with_sign(bool negative, std::uint32_t magnitude) {
    return static_cast<std::uint16_t>(negative ? magnitude | sign_bit : magnitude);
  }

  /// The bits of the number nearest to whole * 2^exponent, ties to even.
  static constexpr std::uint32_t nearest(std::uint64_t whole, int exponent) {
    if (whole == 0) return 0;
    const int top = exponent + 63 - std::countl_zero(whole);
    const int binade = top > lowest_exponent ? top - lowest_exponent : 0;   // the lowest one holds the subnormals, too
    const int excess = lowest_exponent + binade - (digits - 1) - exponent;  // as many bits have no place
    const int dropped = excess < 0 ? 0 : excess < 63 ? excess : 63;
    std::uint64_t kept = excess < 0 ? whole << -excess : whole >> dropped;
    const std::uint64_t unit = std::uint64_t{1} << dropped, rest = whole & (unit - 1);
    if (rest > unit / 2 || (rest == unit / 2 && rest != 0 && kept % 2 != 0)) ++kept;
    // The hidden bit, or a carry into its place, adds one to the exponent, as it should.
    const std::uint64_t magnitude = kept + static_cast<std::uint64_t>(binade) * hidden_bit;
    return magnitude < infinity_bits ? static_cast<std::uint32_t>(magnitude) : infinity_bits;
  }

  /// The nearest number to a longer float with as many bits as `Bits`. NaN becomes quiet and keeps its leading payload.
  template <class Bits, class Float>
  static constexpr std::uint16_t from_float(Float value) {
    using Limits = std::numeric_limits<Float>;
    constexpr Bits hidden = Bits{1} << (Limits::digits - 1), sign = ~(~Bits{0} >> 1);
    const Bits pattern = std::bit_cast<Bits>(value), fraction = pattern & (hidden - 1);
    const int exponent = static_cast<int>((pattern & ~sign) / hidden), scale = Limits::min_exponent - Limits::digits;
    std::uint32_t magnitude = infinity_bits;
    if (exponent == 0)
      magnitude = nearest(fraction, scale);
    else if (exponent < 2 * Limits::max_exponent - 1)
      magnitude = nearest(fraction | hidden, exponent - 1 + scale);
    else if (fraction != 0)
      magnitude |= quiet_bit | static_cast<std::uint32_t>(fraction >> (Limits::digits - digits));
    return with_sign((pattern & sign) != 0, magnitude);
  }
};

/// IEEE binary16.
using f16 = ShortFloat<5>;
/// bfloat16: the first half of a float.
using bf16 = ShortFloat<8>;

/// Short floats are summed in float.
template <int ExponentBits>
struct spec::AccumulatorOf<ShortFloat<ExponentBits>> {
  /// The type of sums.
  using type = float;
};

}  // namespace ndpool

/// What is not said here is as it is for float.
template <int ExponentBits>
struct std::numeric_limits<ndpool::ShortFloat<ExponentBits>> : std::numeric_limits<float> {
  using T = ndpool::ShortFloat<ExponentBits>;
  static constexpr int decimal(int binary) { return binary * 30103 / 100000; }  // times log10 2, towards zero
  static constexpr int digits = T::digits, digits10 = decimal(digits - 1), max_digits10 = decimal(digits) + 2;
  static constexpr int min_exponent = T::lowest_exponent + 1, min_exponent10 = decimal(min_exponent - 1);
  static constexpr int max_exponent = 2 - T::lowest_exponent, max_exponent10 = decimal(max_exponent);
  static constexpr T min() noexcept { return T::from_bits(T::hidden_bit); }
  static constexpr T max() noexcept { return T::from_bits(T::infinity_bits - 1); }
  static constexpr T lowest() noexcept { return -max(); }
  static constexpr T epsilon() noexcept { return T(2.0F / static_cast<float>(1 << digits)); }
  static constexpr T round_error() noexcept { return T(0.5F); }
  static constexpr T infinity() noexcept { return T::from_bits(T::infinity_bits); }
  static constexpr T quiet_NaN() noexcept { return T::from_bits(T::infinity_bits | T::quiet_bit); }
  static constexpr T signaling_NaN() noexcept { return T::from_bits(T::infinity_bits | 1); }
  static constexpr T denorm_min() noexcept { return T::from_bits(1); }
};
