// Results of another type than the input: the type that a reducer works in, and its value brought to the result's type
// with one rounding. Where both types are the same none of this takes part: a reducer's own `value` is the result.
//
//   integers to a float      the exact sum or quotient, rounded once
//   integers to integers     the exact sum, or the quotient rounded as the average's options say, clamped to the result
//   floats to integers       rounded half to even (averages: as their options say), clamped; NaN gives 0
//   floats to floats         computed in a type that holds both, rounded once
#pragma once

#include <ndpool/spec/average.hpp>
#include <ndpool/spec/max.hpp>
#include <ndpool/spec/min.hpp>

namespace ndpool::spec {

/// Binary floats, short ones included.
template <class T>
concept Real = !std::integral<T> && std::floating_point<Accumulator<T>>;

namespace detail {

/// True if every number of B is one of A.
template <class A, class B>
inline constexpr bool holds =
    std::numeric_limits<A>::digits >= std::numeric_limits<B>::digits&& std::numeric_limits<A>::max_exponent >=
    std::numeric_limits<B>::max_exponent;

/// The first of Reals that has the digits of an integer, or the last.
template <class Whole, class First, class... Reals>
struct RealFor : std::type_identity<First> {};
template <class Whole, class First, class Second, class... Reals>
struct RealFor<Whole, First, Second, Reals...>
    : std::conditional_t<(std::numeric_limits<First>::digits >= std::numeric_limits<Whole>::digits),
                         std::type_identity<First>, RealFor<Whole, Second, Reals...>> {};

template <class X, class Y>
consteval auto work_scalar() {
  if constexpr (std::same_as<X, Y> || (std::integral<X> && (std::integral<Y> || Real<Y>)))
    return std::type_identity<X>();  // integers are summed exactly whatever the result is
  else if constexpr (Real<X> && Real<Y>)
    return std::conditional_t<holds<X, Y>, std::type_identity<X>,
                              std::conditional_t<holds<Y, X>, std::type_identity<Y>, std::type_identity<float>>>();
  else if constexpr (Real<X> && std::integral<Y>)
    return RealFor<Y, Accumulator<X>, double, long double>();
  else if constexpr (std::integral<X> || Real<X>)
    return std::conditional_t<std::constructible_from<Y, X>, std::type_identity<Y>, std::type_identity<X>>();
  else
    return std::type_identity<X>();
}

}  // namespace detail

/// The scalar of the reducer that reads X and writes Y: wide enough for both. Integers keep their type, whose sums are
/// exact; a scalar that is no number of C++, such as an exact rational, is worked in if it is the result.
template <class X, class Y>
using WorkScalar = typename decltype(detail::work_scalar<std::remove_const_t<X>, std::remove_const_t<Y>>())::type;

namespace detail {

template <class X, class From, class To>
consteval auto derivative_scalar() {
  if constexpr (Real<X> && Real<From> && Real<To>)
    return std::type_identity<WorkScalar<WorkScalar<X, From>, To>>();
  else
    return std::type_identity<X>();
}

}  // namespace detail

/// The scalar of the reducer whose derivative at X maps From to To: the widest of three floats, else X.
template <class X, class From, class To>
using DerivativeScalar = typename decltype(detail::derivative_scalar<std::remove_const_t<X>, std::remove_const_t<From>,
                                                                     std::remove_const_t<To>>())::type;

/// A float as a whole number, clamped to the range of T; 0 for NaN.
template <std::integral T, std::floating_point R>
constexpr T round_to(R value, Rounding rounding = Rounding::half_even) {
  if (is_nan(value)) return T(0);
  const bool negative = value < 0;
  const R magnitude = negative ? -value : value;
  const T clamped = negative ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  if (!(magnitude < R(18446744073709551616.0))) return clamped;  // 2^64
  std::uint64_t whole = static_cast<std::uint64_t>(magnitude);
  const R fraction = magnitude - static_cast<R>(whole);
  switch (rounding) {
    case Rounding::floor: whole += negative && fraction > 0 ? 1 : 0; break;
    case Rounding::toward_zero: break;
    case Rounding::half_even: whole += fraction > R(0.5) || (fraction == R(0.5) && whole % 2 != 0) ? 1 : 0; break;
    case Rounding::half_away: whole += fraction >= R(0.5) ? 1 : 0; break;
  }
  const std::uint64_t largest =
      negative ? 0 - static_cast<std::uint64_t>(clamped) : static_cast<std::uint64_t>(clamped);
  if (whole >= largest) return clamped;
  return static_cast<T>(negative ? 0 - whole : whole);
}

/// An integer of any type, clamped to the range of T.
template <std::integral T, class Whole>
constexpr T clamp_to(const Whole& value) {
  if (value < 0) {
    if constexpr (std::is_unsigned_v<T>) return T(0);  // bool, too
    if constexpr (sizeof(Whole) > sizeof(T) && Whole(-1) < Whole(0))
      if (value < std::numeric_limits<T>::lowest()) return std::numeric_limits<T>::lowest();
    return static_cast<T>(value);
  }
  if constexpr (sizeof(Whole) > sizeof(T) || (sizeof(Whole) == sizeof(T) && Whole(-1) > 0 && std::is_signed_v<T>) ||
                std::same_as<T, bool>)
    if (value > static_cast<Whole>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

/// sum / divisor as a float, rounded once; for divisor != 0. (A long double, which is no dtype, may be rounded twice.)
template <Real Y>
constexpr Y real_quotient(Wide sum, Index divisor) {
  using Bits = std::uint64_t;
#ifdef __SIZEOF_INT128__
  __extension__ using UnsignedWide = unsigned __int128;
#else
  using UnsignedWide = Bits;
#endif
  if (sum == 0) return Y(0);
  constexpr int digits = std::numeric_limits<Y>::digits;
  const bool negative = (sum < 0) != (divisor < 0);
  const UnsignedWide numerator = sum < 0 ? 0 - static_cast<UnsignedWide>(sum) : static_cast<UnsignedWide>(sum);
  const Bits denominator = divisor < 0 ? 0 - static_cast<Bits>(divisor) : static_cast<Bits>(divisor);
  const auto with_sign = [&](Y magnitude) { return negative ? Y(-magnitude) : magnitude; };
  if constexpr (digits >= 63) return with_sign(static_cast<Y>(numerator) / static_cast<Y>(denominator));
  // Both exact in Y: its own division rounds once.
  if (numerator >> (digits % 63) == 0 && denominator >> (digits % 63) == 0)
    return with_sign(static_cast<Y>(static_cast<Bits>(numerator)) / static_cast<Y>(denominator));
  // 64 bits of the quotient, the last of which stands for all that follow (rounded to odd): whatever is rounded to
  // fewer digits afterwards is rounded as the quotient itself would be.
  UnsignedWide whole = numerator / denominator;
  Bits rest = static_cast<Bits>(numerator % denominator);
  bool sticky = false;
  int exponent = 0;
  for (; whole > ~Bits{0}; ++exponent) sticky = sticky || whole % 2 != 0, whole /= 2;
  for (; whole <= ~Bits{0} / 2; --exponent) {
    const bool bit = rest >= denominator - rest;
    rest = bit ? rest - (denominator - rest) : 2 * rest;
    whole = 2 * whole + (bit ? 1 : 0);
  }
  const Bits odd = static_cast<Bits>(whole) | (sticky || rest != 0 ? 1 : 0);
  using Step = std::conditional_t<std::floating_point<Y>, Y, double>;
  constexpr Bits dropped = 2047;  // short floats are rounded from a double, which has 53 bits
  Step value = std::floating_point<Y> ? static_cast<Step>(odd)
                                      : static_cast<Step>((odd & ~dropped) | ((odd & dropped) != 0 ? dropped + 1 : 0));
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return with_sign(static_cast<Y>(value));
}

/// A number of one type as the nearest of another: the rules above.
template <class Y, class V>
constexpr Y convert(const V& value) {
  constexpr bool is_whole = std::integral<V> || std::same_as<V, Wide>;
  if constexpr (std::same_as<Y, V>)
    return value;
  else if constexpr (std::integral<Y> && is_whole)
    return clamp_to<Y>(+value);  // bool becomes a number
  else if constexpr (std::integral<Y> && Real<V>)
    return round_to<Y>(static_cast<Accumulator<V>>(value));
  else if constexpr (Real<Y> && is_whole && sizeof(V) <= sizeof(Wide))
    return real_quotient<Y>(static_cast<Wide>(value), 1);
  else if constexpr (std::constructible_from<Y, V>)
    return static_cast<Y>(value);
  else
    return static_cast<Y>(static_cast<double>(value));
}

/// The value of a reducer in another type than its own. Only for exactly these reducers: one that is derived from them
/// has a value of its own, which is converted.
template <class Y, class Reducer>
struct ResultOf {
  /// The value of a window in the type Y.
  static constexpr Y get(const Reducer& reducer, const typename Reducer::Summary& summary) {
    return convert<Y>(reducer.value(summary));
  }
};

/// Results of this reducer in another type.
template <class Y, class T>
struct ResultOf<Y, Sum<T>> {
  /// The value of a window in the type Y.
  static constexpr Y get(const Sum<T>&, const typename Sum<T>::Summary& sum) { return convert<Y>(sum); }
};

/// Results of this reducer in another type.
template <class Y, class T>
struct ResultOf<Y, Average<T>> {
  /// The value of a window in the type Y.
  static constexpr Y get(const Average<T>& reducer, const typename Average<T>::Summary& summary) {
    if (summary.divisor == 0) return Y(0);  // as in Average::value
    if constexpr (!std::integral<T> && std::integral<Y> && Real<T>)
      return round_to<Y>(summary.sum / reducer.scale(summary), reducer.options.rounding);
    else if constexpr (!std::integral<T>)
      return convert<Y>(reducer.value(summary));
    else if constexpr (std::integral<Y>)
      return clamp_to<Y>(round_divide(summary.sum, reducer.scale(summary), reducer.options.rounding));
    else if constexpr (Real<Y>)
      return real_quotient<Y>(summary.sum, summary.divisor);
    else
      return Y(convert<Y>(summary.sum) / from_count<Y>(summary.divisor));
  }
};

/// An empty window gets the value of the result's type that loses to every other.
template <class Y, class Reducer, class Direction>
struct ExtremeResult {
  /// The value of a window in the type Y.
  static constexpr Y get(const Reducer& reducer, const typename Reducer::Summary& summary) {
    if constexpr (std::numeric_limits<Y>::has_infinity || std::numeric_limits<Y>::is_bounded)
      if (summary.ties == 0) return Direction::template identity<Y>();
    return convert<Y>(reducer.value(summary));
  }
};
template <class Y, class T>
struct ResultOf<Y, Max<T>> : ExtremeResult<Y, Max<T>, Largest> {};
template <class Y, class T>
struct ResultOf<Y, Min<T>> : ExtremeResult<Y, Min<T>, Smallest> {};

/// The value of a reducer in the type of the result.
template <class Y, class Reducer>
constexpr Y result(const Reducer& reducer, const typename Reducer::Summary& summary) {
  if constexpr (std::same_as<Y, std::remove_cvref_t<decltype(reducer.value(summary))>>)
    return reducer.value(summary);
  else
    return ResultOf<Y, Reducer>::get(reducer, summary);
}

}  // namespace ndpool::spec
