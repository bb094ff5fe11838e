// Per-target code: what elements are combined as, and how. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_REDUCTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_REDUCTION_INL_H_
#undef NDPOOL_REDUCTION_INL_H_
#else
#define NDPOOL_REDUCTION_INL_H_
#endif

#include <ndpool/half.hpp>
#include "kernels/kernels.hpp"
#include <ndpool/spec/scalar.hpp>

#include <hwy/highway.h>

#include <bit>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Written so that the compiler selects instead of branching: one maximum or minimum, and one choice for NaN.
template <Combine kind, Nan nan, class T>
HWY_INLINE T extreme(T current, T candidate) {
  const T number = (kind == Combine::max ? candidate > current : candidate < current) ? candidate : current;
  if constexpr (!std::numeric_limits<T>::has_quiet_NaN) return number;
  // A comparison with NaN is false, so `number` is `current` where either is NaN.
  if constexpr (nan == Nan::propagate) return candidate != candidate ? candidate : number;
  return current != current ? candidate : number;
}

template <Combine combine_kind, Nan nan, class T>
struct Combiner {
  static constexpr Combine kind = combine_kind;
  static constexpr bool is_sum = kind == Combine::sum;
  static HWY_INLINE T combine(T a, T b) {
    if constexpr (kind == Combine::sum)
      return static_cast<T>(a + b);
    else
      return extreme<kind, nan>(a, b);
  }
  /// True if combining numbers alone is cheaper than `combine`.
  static constexpr bool minds_nan = kind != Combine::sum && std::numeric_limits<T>::has_quiet_NaN;
  static HWY_INLINE T combine_numbers(T a, T b) {
    if constexpr (kind == Combine::max) return b > a ? b : a;
    return b < a ? b : a;
  }
  static constexpr T identity() {
    using Limits = std::numeric_limits<T>;
    if constexpr (kind == Combine::sum) return T(0);
    if constexpr (Limits::has_infinity) {
      if (nan == Nan::ignore) return Limits::quiet_NaN();  // the one value that loses to every number
      return kind == Combine::max ? -Limits::infinity() : Limits::infinity();
    }
    return kind == Combine::max ? Limits::lowest() : Limits::max();
  }
};

/// The nearest short float, ties to even: the same as the constructor of the type, in steps that vectors can take.
template <int ExponentBits>
HWY_INLINE ShortFloat<ExponentBits> nearest_short(float value) {
  using Short = ShortFloat<ExponentBits>;
  constexpr int missing = 24 - Short::digits;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  constexpr std::uint32_t smallest_normal = static_cast<std::uint32_t>(Short::lowest_exponent + 127) << 23;
  const std::uint32_t rounded = magnitude + (1U << (missing - 1)) - 1 + (magnitude >> missing & 1);
  std::uint32_t result = (rounded - (smallest_normal - (1U << 23))) >> missing;
  if constexpr (ExponentBits < 8) {
    // Adding a number whose last place is the smallest subnormal number lets the addition round.
    constexpr float magic = std::bit_cast<float>(smallest_normal + (static_cast<std::uint32_t>(missing) << 23));
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + magic) - std::bit_cast<std::uint32_t>(magic);
    result = magnitude < smallest_normal ? subnormal : result;
  }
  result = result > Short::infinity_bits ? Short::infinity_bits : result;
  result = magnitude > 0x7f800000 ? Short::infinity_bits | Short::quiet_bit : result;
  return Short::from_bits(sign | result);
}

/// What sums of integers are exact in, as long as the window is not enormous; of few_bytes, not even large.
inline constexpr Index few_bytes = 255;
template <class T, bool few>
using Sum = std::conditional_t<
    std::is_floating_point_v<T>, T,
    std::conditional_t<(sizeof(T) >= 4), std::conditional_t<sizeof(T) == 4, std::int64_t, spec::Wide>,
                       std::conditional_t<!few || sizeof(T) == 2, std::int32_t,
                                          std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>>>>;

/// How one scalar is reduced: elements are lifted, combined, and lowered again.
template <class T, Combine kind, Nan nan, bool few = false>
struct Reduction {
  using Element = T;
  using Accumulator = std::conditional_t<kind != Combine::sum, T, Sum<T, few>>;
  using Op = Combiner<kind, nan, Accumulator>;
  static HWY_INLINE Accumulator lift(T x) { return static_cast<Accumulator>(x); }
  template <class A>
  static HWY_INLINE T lower(A value) {
    if constexpr (std::is_unsigned_v<A>) {
      const A highest = std::numeric_limits<T>::max();
      value = highest < value ? highest : value;
    } else if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(A)) {
      const A lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
      value = value < lowest ? lowest : value;
      value = highest < value ? highest : value;
    }
    return static_cast<T>(value);
  }
};

/// Short floats are summed as floats.
template <int ExponentBits, Nan nan>
struct Reduction<ShortFloat<ExponentBits>, Combine::sum, nan, false> {
  using Element = ShortFloat<ExponentBits>;
  using Accumulator = float;
  using Op = Combiner<Combine::sum, nan, float>;
  static HWY_INLINE float lift(Element x) { return static_cast<float>(x); }
  static HWY_INLINE Element lower(float value) { return nearest_short<ExponentBits>(value); }
};

/// Their extremes are those of integers in the same order: NaN first or last, as the policy asks, and one zero.
template <int ExponentBits, Combine kind, Nan nan>
requires(kind != Combine::sum) struct Reduction<ShortFloat<ExponentBits>, kind, nan, false> {
  using Element = ShortFloat<ExponentBits>;
  using Accumulator = std::int16_t;
  using Op = Combiner<kind, nan, std::int16_t>;
  static HWY_INLINE std::int16_t lift(Element x) {
    constexpr bool nan_is_largest = (kind == Combine::max) == (nan == Nan::propagate);
    const std::uint16_t magnitude = x.bits & 0x7fff;
    const auto mask = static_cast<std::uint16_t>(x.bits & 0x8000 ? 0x7fff : 0);
    std::uint16_t key = magnitude == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(x.bits ^ mask);
    key = magnitude > Element::infinity_bits ? std::uint16_t{nan_is_largest ? 0x7fff : 0x8000} : key;
    return static_cast<std::int16_t>(key);
  }
  static HWY_INLINE Element lower(std::int16_t key) {
    return Element::from_bits(static_cast<std::uint16_t>(key ^ (key < 0 ? 0x7fff : 0)));
  }
};

/// Scalars with fractions, which average by dividing.
template <class T>
inline constexpr bool is_real = !std::is_integral_v<T>;

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_REDUCTION_INL_H_
