// What the spec asks of a scalar, and the few things it must be told about one.
//
// Order and transcendentals are separate concepts, so that rationals have max, min, sum and average, complex numbers
// have sum and average, and nothing pretends to more than it can do.
#pragma once

#include <ndpool/fault.hpp>

#include <concepts>
#include <limits>
#include <type_traits>

namespace ndpool::spec {

#ifdef __SIZEOF_INT128__
__extension__ using Wide = __int128;
#else
using Wide = std::int64_t;
#endif

/// What a scalar is summed in. Built-in integers are summed in a type wide enough to be exact; everything else in
/// itself. Specialise it for a short float that should be summed in a longer one.
template <class T>
struct AccumulatorOf {
  /// The type of sums.
  using type = T;
};
/// Integers are summed exactly.
template <std::integral T>
struct AccumulatorOf<T> {
  static_assert(sizeof(T) < 8 || sizeof(Wide) > 8, "sums of 64-bit integers need a 128-bit integer type");
  /// The type of sums.
  using type = std::conditional_t<(sizeof(T) < 4), std::int64_t, Wide>;
};
/// The type in which a scalar is summed.
template <class T>
using Accumulator = typename AccumulatorOf<T>::type;

/// A parameter of a reducer in the type that its scalar is summed in. Converts implicitly from everything that type can
/// be constructed from, also where that rounds: `{.beta = 0.1}` is a float for `f16`, and a dual number stays one.
template <class Number>
struct Parameter {
  Number value;  ///< in the type that the scalar is summed in

  /// From anything that Number can be constructed from; may round.
  template <class From>
  requires std::constructible_from<Number, const From&>
  constexpr Parameter(const From& from) : value(static_cast<Number>(from)) {}
  /// The number.
  constexpr operator const Number&() const { return value; }
};

/// Sum and average: +, -, *, / and the numbers 0 and 1.
template <class T>
concept Field = requires(const T a, const T b, T c) {
  c = a + b;
  c = a - b;
  c = a * b;
  c = a / b;
  T(0);
  T(1);
};

/// Pointwise extremes for scalars that are not totally ordered. Specialise it with static functions
/// `T max(const T&, const T&)` and `T min(const T&, const T&)`; the results then are values only, without winners
/// and derivatives. For intervals both act on the ends, so that the result encloses every extreme of enclosed numbers.
template <class T>
struct Join {};

/// Scalars whose extremes are pointwise: those with a Join.
template <class T>
concept Joined = requires(const T a) {
  { Join<T>::max(a, a) } -> std::convertible_to<T>;
  { Join<T>::min(a, a) } -> std::convertible_to<T>;
};

/// Max and min with winners and derivatives.
template <class T>
concept Ordered = !Joined<T> && requires(const T a, const T b) {
  { a < b } -> std::convertible_to<bool>;
  { a == b } -> std::convertible_to<bool>;
};

template <class T>
concept OrderedField = Field<T> && Ordered<T>;

namespace transcendental {
// Declared so that the unqualified calls below find the functions of a user's type by argument-dependent look-up.
// Built-in floats are served by builtins, which need no header and work without a hosted library.
inline float exp(float x) { return __builtin_expf(x); }
inline float log(float x) { return __builtin_logf(x); }
inline float pow(float x, float p) { return __builtin_powf(x, p); }
inline double exp(double x) { return __builtin_exp(x); }
inline double log(double x) { return __builtin_log(x); }
inline double pow(double x, double p) { return __builtin_pow(x, p); }
inline long double exp(long double x) { return __builtin_expl(x); }
inline long double log(long double x) { return __builtin_logl(x); }
inline long double pow(long double x, long double p) { return __builtin_powl(x, p); }

template <class T>
concept Has = requires(const T a, const T b, T c) {
  c = exp(a);
  c = log(a);
  c = pow(a, b);
};
template <class T>
constexpr T exp_of(const T& x) {
  return T(exp(x));
}
template <class T>
constexpr T log_of(const T& x) {
  return T(log(x));
}
template <class T>
constexpr T pow_of(const T& x, const T& p) {
  return T(pow(x, p));
}
}  // namespace transcendental

/// Smooth max and Lp: an ordered field with exp, log and pow.
template <class T>
concept AnalyticField = OrderedField<T> && !std::integral<T> && transcendental::Has<T>;

/// Scalars whose pools have derivatives: not integers (nor bool), not joined scalars such as intervals.
template <class T>
concept Differentiable = Field<T> && !std::integral<T> && !Joined<T>;

template <class T>
constexpr bool is_nan(const T& x) {
  if constexpr (std::integral<T>)
    return false;
  else
    return !(x == x);
}

template <class T>
constexpr bool is_infinite(const T& x) {
  return !is_nan(x) && is_nan(T(x - x));
}

/// A whole number as a scalar, without a silent narrowing inside a constructor of the scalar.
template <class T>
constexpr T from_count(Index count) {
  if constexpr (std::is_arithmetic_v<T> || std::same_as<T, Wide>)
    return static_cast<T>(count);
  else if constexpr (requires { T{count}; })
    return T{count};
  else if constexpr (requires { typename T::value_type; })
    return T(static_cast<typename T::value_type>(count));
  else
    return T(static_cast<double>(count));
}

/// A sum brought back to the type of its terms; integers are clamped to the range of the type.
template <class T, class Sum>
constexpr T narrow(const Sum& sum) {
  if constexpr (std::integral<T>) {
    constexpr Sum lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
    return static_cast<T>(sum < lowest ? lowest : highest < sum ? highest : sum);
  } else {
    return static_cast<T>(sum);
  }
}

}  // namespace ndpool::spec
