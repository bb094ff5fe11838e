// Per-target code: loops over elements, vector by vector, and what exponents and fractions of vectors are made with.
//
// Included once per target, so the guard toggles with Highway's.
#if defined(NDPOOL_ANALYTIC_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_LANES_INL_H_
#undef NDPOOL_ANALYTIC_LANES_INL_H_
#else
#define NDPOOL_ANALYTIC_LANES_INL_H_
#endif

#include "kernels/simd/math-inl.h"

#include <ndpool/extents.hpp>

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>

// Of lambdas: vectors that a loop carries stay in registers only if its body is inlined.
#undef NDPOOL_ALWAYS_INLINE
#define NDPOOL_ALWAYS_INLINE HWY_ATTR __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace analytic {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(pointers) for vectors of W of `count` elements. The last elements go through copies, filled up with the
/// first of them.
template <class W, class F, class... T>
HWY_INLINE void for_vectors(Index count, const F& f, T*... pointers) {
  const hn::ScalableTag<W> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Index i = 0;
  for (; i + lanes <= count; i += lanes) f(pointers + i...);
  if (i == count) return;
  constexpr std::size_t most = hn::MaxLanes(d);
  const Index rest = count - i;
  const auto fill = [&](auto* from, auto& copy) {
    for (Index lane = 0; lane < lanes; ++lane) copy[lane] = from[i + (lane < rest ? lane : 0)];
  };
  const auto take_back = [&]<class To, class Copy>(To* to, const Copy& copy) {
    if constexpr (!std::is_const_v<To>) std::copy_n(&copy[0], rest, to + i);
  };
  [&]<std::size_t... k>(std::index_sequence<k...>) HWY_ATTR {
    std::tuple<std::remove_const_t<T>[most]...> copies;
    (fill(pointers, std::get<k>(copies)), ...);
    f(static_cast<T*>(std::get<k>(copies))...);
    (take_back(pointers, std::get<k>(copies)), ...);
  }
  (std::index_sequence_for<T...>());
}

/// As many elements of T as D has of its own.
template <class T, class D>
using Beside = hn::Rebind<T, D>;

/// Elements as those of D: as they are, or floats as doubles; and back.
template <class D, class V>
HWY_INLINE hn::Vec<D> widened(D d, V v) {
  if constexpr (std::is_same_v<V, hn::Vec<D>>)
    return v;
  else
    return hn::PromoteTo(d, v);
}
template <class D, class V>
HWY_INLINE hn::Vec<D> narrowed(D d, V v) {
  if constexpr (std::is_same_v<V, hn::Vec<D>>) {
    return v;
  } else {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    // Highway clamps what is too large here, infinities included.
    const hn::Rebind<double, D> wide;
    HWY_ALIGN double from[hn::MaxLanes(wide)];
    HWY_ALIGN float to[hn::MaxLanes(wide)];
    hn::Store(v, wide, from);
    for (std::size_t i = 0; i < hn::MaxLanes(wide); ++i) to[i] = static_cast<float>(from[i]);
    return hn::Load(d, to);
#else
    return hn::DemoteTo(d, v);
#endif
  }
}

/// 2^n for a whole n, if that is normal.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V power_of_two(D d, V n) {
  using T = hn::TFromD<D>;
  constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
  const hn::RebindToUnsigned<D> du;
  const V shifter =
      hn::Set(d, T(1.5) * MathTable<T>::two_to_the_fraction_bits + T(std::numeric_limits<T>::max_exponent - 1));
  return hn::BitCast(d, hn::ShiftLeft<fraction_bits>(hn::BitCast(du, n + shifter)));
}

/// x * 2^n, rounded once, for a normal x with an exponent of less than half of the range, and |n| below twice the
/// range.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V scaled_once(D d, V x, V n) {
  using T = hn::TFromD<D>;
  const T half = sizeof(T) == 4 ? T(60) : T(500);
  const auto limited = [&](V v, T bound)
                           HWY_ATTR { return hn::Min(hn::Max(v, hn::Set(d, -bound)), hn::Set(d, bound)); };
  const V first = limited(n, half), second = limited(n - first, 2 * half),
          third = limited(n - first - second, 2 * half);
  return hn::Mul(hn::Mul(hn::Mul(x, power_of_two(d, first)), power_of_two(d, second)), power_of_two(d, third));
}

/// 1, 0 or NaN, as a sum is positive, zero or NaN: a double that is not 0 may be so as a float.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sign_of_sum(D d, V sum) {
  return hn::IfThenElse(hn::Gt(sum, hn::Zero(d)), hn::Set(d, 1), sum);
}

/// f in [1, 2) and n with v = f * 2^n, of normal positive numbers; of others they are anything.
template <class D>
struct FractionAndExponent {
  hn::Vec<D> f, n;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE FractionAndExponent<D> taken_apart(D d, V v) {
  using T = hn::TFromD<D>;
  using U = hwy::MakeUnsigned<T>;
  constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
  constexpr U bias = std::numeric_limits<T>::max_exponent - 1, mask = (U{1} << fraction_bits) - 1;
  const hn::RebindToUnsigned<D> du;
  const V offset = hn::Set(d, MathTable<T>::two_to_the_fraction_bits);
  const auto bits = hn::BitCast(du, v);
  const V exponent = hn::BitCast(d, hn::Or(hn::ShiftRight<fraction_bits>(bits), hn::BitCast(du, offset)));
  const V f = hn::BitCast(d, hn::Or(hn::And(bits, hn::Set(du, mask)), hn::Set(du, bias << fraction_bits)));
  return {f, exponent - (offset + hn::Set(d, T(bias)))};
}

}  // namespace analytic
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_LANES_INL_H_
