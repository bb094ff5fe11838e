// Per-target code: exp, log and powers of vectors, for float and double. No include guard of the usual kind: see
// rows-inl.h. Nothing here relies on MulAdd rounding once, so the bounds hold with and without FMA. The polynomials are
// minimax fits made for this file; the relative errors stated for them include the rounding of their coefficients.
#if defined(NDPOOL_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_MATH_INL_H_
#undef NDPOOL_MATH_INL_H_
#else
#define NDPOOL_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct MathTable;

template <>
struct MathTable<float> {
  /// exp(r) for |r| <= log(2) / 2; relative error 2^-28.2.
  static constexpr float exp[] = {
      1, 1, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558bep-5f, 0x1.1239ecp-7f, 0x1.6a4002p-10f};
  /// (2 atanh(u / 2) / u - 1 - w / 12) / w^2 as a function of w = u^2 for |u| <= 0.3432; it adds a relative error of
  /// 2^-36.7 to the logarithm.
  static constexpr float log[] = {0x1.999ap-7f, 0x1.24527cp-9f, 0x1.dfa254p-12f};
  /// The high part of log(2) is so short that its product with any exponent is exact.
  static constexpr float ln2_hi = 0x1.62e4p-1f, ln2_lo = 0x1.7f7d1cp-20f;
  static constexpr float twelfth_hi = 0x1.555556p-4f, twelfth_lo = -0x1.555556p-29f;
  static constexpr float log2_e = 0x1.715476p+0f, two_to_the_fraction_bits = 0x1p23f;
  /// The logarithms of the smallest normal number and of the first power of two that is too large, both moved outwards
  /// by more than the low part of an argument can be.
  static constexpr float exp_lowest = -87.33656f, exp_highest = 88.72286f;
  static constexpr std::uint32_t upper_half = 0xfffff000, sqrt_half = 0x3f3504f3;
};

template <>
struct MathTable<double> {
  /// As above, with relative errors of 2^-57.8 and 2^-66.2.
  static constexpr double exp[] = {1,
                                   1,
                                   0x1.0000000000009p-1,
                                   0x1.55555555554f8p-3,
                                   0x1.5555555550a2fp-5,
                                   0x1.111111112846ap-7,
                                   0x1.6c16c183fc6b5p-10,
                                   0x1.a01a012774248p-13,
                                   0x1.a0199a3155535p-16,
                                   0x1.71df2b2dcd33cp-19,
                                   0x1.28ad8a3dc71ddp-22,
                                   0x1.ad77b0e56c23bp-26};
  static constexpr double log[] = {0x1.9999999999b3p-7,   0x1.2492492457d5dp-9,  0x1.c71c722d6712bp-12,
                                   0x1.745ce9e2e41d4p-14, 0x1.3b1eec2a12103p-16, 0x1.0f7fe5fb085d7p-18,
                                   0x1.0e42d4b9e60a1p-20};
  static constexpr double ln2_hi = 0x1.62e42fefa4p-1, ln2_lo = -0x1.8432a1b0e2634p-43;
  static constexpr double twelfth_hi = 0x1.5555555555555p-4, twelfth_lo = 0x1.5555555555555p-58;
  static constexpr double log2_e = 0x1.71547652b82fep+0, two_to_the_fraction_bits = 0x1p52;
  static constexpr double exp_lowest = -708.3964185322645, exp_highest = 709.7827128933845;
  static constexpr std::uint64_t upper_half = 0xfffffffff8000000, sqrt_half = 0x3fe6a09e667f3bcd;
};

/// A number hi + lo, where lo is in the order of the rounding error of hi.
template <class V>
struct Split {
  V hi, lo;
};

/// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t first = 0, class D, class V, class T, std::size_t count>
HWY_INLINE V Polynomial(D d, V x, const T (&c)[count]) {
  if constexpr (first + 1 == count)
    return hn::Set(d, c[first]);
  else
    return hn::MulAdd(Polynomial<first + 1>(d, x, c), x, hn::Set(d, c[first]));
}

/// a + b, where a = 0 or |a| >= |b|; exact.
template <class V>
HWY_INLINE Split<V> FastTwoSum(V a, V b) {
  const V sum = a + b;
  return {sum, b - (sum - a)};
}

/// a - b, exact unless it overflows.
template <class V>
HWY_INLINE Split<V> TwoDifference(V a, V b) {
  const V difference = a - b, minus_b = difference - a;
  return {difference, (a - (difference - minus_b)) - (b + minus_b)};
}

/// a * b, with the low part right to its last bits at least, unless it underflows. Halves are cut off by a mask, which
/// cannot overflow.
template <class D, class V>
HWY_INLINE Split<V> TwoProduct([[maybe_unused]] D d, V a, V b) {
  const V product = a * b;
#if HWY_NATIVE_FMA
  return {product, hn::MulSub(a, b, product)};
#else
  const V mask = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), MathTable<hn::TFromD<D>>::upper_half));
  const V a_hi = hn::And(a, mask), a_lo = a - a_hi, b_hi = hn::And(b, mask), b_lo = b - b_hi;
  return {product, (((a_hi * b_hi - product) + a_hi * b_lo) + a_lo * b_hi) + a_lo * b_lo};
#endif
}

/// exp(x.hi + x.lo) within 2 ulp (at most 1.2 were seen, 0.9 with FMA) plus the error of x; decided by x.hi alone where
/// that is NaN or far outside the range. Results below the normal range are 0 or, just below it, a subnormal number
/// near by.
template <class D, class V>
HWY_INLINE V ExpOfSum(D d, Split<V> x) {
  using T = hn::TFromD<D>;
  using Table = MathTable<T>;
  constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
  const hn::RebindToUnsigned<D> du;
  const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  // Adding this leaves the nearest integer in the last bits.
  const V shifter = hn::Set(d, T(1.5) * Table::two_to_the_fraction_bits);
  const V shifted = hn::MulAdd(x.hi, hn::Set(d, Table::log2_e), shifter), n = shifted - shifter;
  const V r = hn::NegMulAdd(n, hn::Set(d, Table::ln2_hi), x.hi) + hn::NegMulAdd(n, hn::Set(d, Table::ln2_lo), x.lo);
  const auto fraction = hn::BitCast(du, Polynomial(d, r, Table::exp));
  const V scaled = hn::BitCast(d, fraction + hn::ShiftLeft<fraction_bits>(hn::BitCast(du, shifted)));
  // Just beyond the largest number the bits are those of a NaN, for which Min answers infinity on all our targets.
  const V bounded = hn::Min(scaled, infinity);
  const V or_more = hn::IfThenElse(hn::Le(x.hi, hn::Set(d, Table::exp_highest)), bounded, x.hi + infinity);
  return hn::IfThenZeroElse(hn::Lt(x.hi, hn::Set(d, Table::exp_lowest)), or_more);
}

/// exp(x) within 2 ulp, exactly 1 for 0; for results below the normal range see ExpOfSum.
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  return ExpOfSum(d, Split<V>{x, hn::Zero(d)});
}

/// exp(beta * (x - shift)) within 2 ulp of what it is for these very numbers, however large the product, provided that
/// x - shift does not overflow and |shift| is not the largest number; exactly 1 for x = shift. A difference that
/// overflows counts as infinite, also where a small beta would bring it back. The answer is 0 where beta * (x - shift)
/// is -inf and infinity where it is +inf. It is NaN if an argument is NaN, if x and shift are the same infinity, and if
/// x - shift is infinite and beta is 0. For results below the normal range see ExpOfSum.
template <class D, class V>
HWY_INLINE V ExpOfScaled(D d, V x, V shift, V beta) {
  const Split<V> difference = TwoDifference(x, shift);
  const Split<V> scaled = TwoProduct(d, difference.hi, beta);
  return ExpOfSum(d, Split<V>{scaled.hi, hn::MulAdd(difference.lo, beta, scaled.lo)});
}

/// x = 2^n * (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and the first approximations of u = f / (1 + f/2), which
/// gives log(1 + f) = 2 atanh(u / 2) = u + u^3 / 12 + u^5 / 80 + ...
template <class V>
struct LogArgument {
  V n, f, h, u;  // h = 1 + f/2
};

template <bool may_be_subnormal, class D, class V>
HWY_INLINE LogArgument<V> ReduceForLog(D d, V x) {
  using T = hn::TFromD<D>;
  using U = hwy::MakeUnsigned<T>;
  using Table = MathTable<T>;
  using Limits = std::numeric_limits<T>;
  constexpr int fraction_bits = Limits::digits - 1;
  constexpr U bias = Limits::max_exponent - 1, one = bias << fraction_bits;
  const hn::RebindToUnsigned<D> du;
  const V offset = hn::Set(d, Table::two_to_the_fraction_bits), exponent_of_1 = offset + hn::Set(d, T(bias));
  V normal = x, exponent_of_least = exponent_of_1;
  if constexpr (may_be_subnormal) {
    const auto is_subnormal = hn::Lt(x, hn::Set(d, Limits::min()));
    normal = hn::IfThenElse(is_subnormal, x * offset, x);
    exponent_of_least = hn::IfThenElse(is_subnormal, exponent_of_1 + hn::Set(d, T(fraction_bits)), exponent_of_1);
  }
  const auto bits = hn::BitCast(du, normal) + hn::Set(du, one - Table::sqrt_half);
  // The biased exponent as the last bits of a number that large.
  const V exponent = hn::BitCast(d, hn::Or(hn::ShiftRight<fraction_bits>(bits), hn::BitCast(du, offset)));
  const V n = exponent - exponent_of_least;
  const auto fraction = hn::And(bits, hn::Set(du, (U{1} << fraction_bits) - 1));
  const V f = hn::BitCast(d, fraction + hn::Set(du, Table::sqrt_half)) - hn::Set(d, T(1));
  const V h = hn::MulAdd(f, hn::Set(d, T(0.5)), hn::Set(d, T(1)));
  return {n, f, h, f / h};
}

/// `log`, but what it has to be where x is 0, negative, infinite or NaN.
template <class D, class V>
HWY_INLINE V WithLogLimits(D d, V x, V log) {
  using Limits = std::numeric_limits<hn::TFromD<D>>;
  const V infinity = hn::Set(d, Limits::infinity()), zero = hn::Zero(d);
  const V of_positive = hn::IfThenElse(hn::Lt(x, infinity), log, x);
  const V of_others = hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, Limits::quiet_NaN()), hn::Set(d, -Limits::infinity()));
  return hn::IfThenElse(hn::Le(x, zero), of_others, of_positive);
}

/// log(x) within 2 ulp (at most 0.96 were seen) of a normal number; exactly 0 for 1. Of all else it is anything.
template <bool may_be_subnormal = false, class D, class V>
HWY_INLINE V LogOfNormal(D d, V x) {
  using T = hn::TFromD<D>;
  using Table = MathTable<T>;
  const LogArgument<V> a = ReduceForLog<may_be_subnormal>(d, x);
  const V w = a.u * a.u;
  const V v = w * hn::MulAdd(w, Polynomial(d, w, Table::log), hn::Set(d, Table::twelfth_hi));
  // u = f - u f/2, and f is exact: log(1 + f) = u + u v = f - u (f/2 - v).
  const V correction = a.u * hn::MulSub(a.f, hn::Set(d, T(0.5)), v);
  const V low = hn::NegMulAdd(a.n, hn::Set(d, Table::ln2_lo), correction);
  return hn::MulAdd(a.n, hn::Set(d, Table::ln2_hi), a.f - low);
}

/// The same of any number, also a subnormal one; -inf for both zeros, NaN for negative numbers.
template <class D, class V>
HWY_INLINE V Log(D d, V x) {
  return WithLogLimits(d, x, LogOfNormal<true>(d, x));
}

/// log(x) with a relative error of 2^-33 (float) or 2^-63 (double).
template <class D, class V>
HWY_INLINE Split<V> SplitLog(D d, V x) {
  using T = hn::TFromD<D>;
  using Table = MathTable<T>;
  const V half = hn::Set(d, T(0.5)), one = hn::Set(d, T(1)), twelfth = hn::Set(d, Table::twelfth_hi);
  const auto [n, f, h, u] = ReduceForLog<true>(d, x);
  // What is left of the quotient; 1 / h = 1 - u/2.
  const V h_lo = hn::MulSub(f, half, h - one);
  const Split<V> u_h = TwoProduct(d, u, h);
  const V u_lo = hn::NegMulAdd(u, h_lo, (f - u_h.hi) - u_h.lo) * hn::NegMulAdd(u, half, one);
  Split<V> w = TwoProduct(d, u, u);
  w.lo = hn::MulAdd(u + u, u_lo, w.lo);
  // v = w (1/12 + w (1/80 + ...)) with a low part, then log(1 + f) = u + u v.
  Split<V> c = FastTwoSum(twelfth, w.hi * Polynomial(d, w.hi, Table::log));
  c.lo = c.lo + hn::Set(d, Table::twelfth_lo);
  Split<V> v = TwoProduct(d, w.hi, c.hi);
  v.lo = hn::MulAdd(w.hi, c.lo, hn::MulAdd(w.lo, c.hi, v.lo));
  Split<V> u_v = TwoProduct(d, u, v.hi);
  u_v.lo = hn::MulAdd(u, v.lo, hn::MulAdd(u_lo, v.hi, u_v.lo));
  const Split<V> first = FastTwoSum(n * hn::Set(d, Table::ln2_hi), u), second = FastTwoSum(first.hi, u_v.hi);
  const V low = hn::MulAdd(n, hn::Set(d, Table::ln2_lo), u_lo + u_v.lo) + (first.lo + second.lo);
  const Split<V> log = FastTwoSum(second.hi, low);
  return {WithLogLimits(d, x, log.hi), log.lo};
}

/// x^p within 4 ulp (at most 1.2 were seen) for x >= 0 and finite p; exactly x for p = 1, and 1 for p = 0 or x = 1.
/// Zero and infinity give what they give in the limit; for results below the normal range see ExpOfSum.
template <class D, class V>
HWY_INLINE V PowPositive(D d, V x, hn::TFromD<D> p) {
  if (p == 1) return x;
  if (p == 0) return hn::Set(d, 1);
  const V power = hn::Set(d, p);
  const Split<V> log = SplitLog(d, x), scaled = TwoProduct(d, log.hi, power);
  return ExpOfSum(d, Split<V>{scaled.hi, hn::MulAdd(log.lo, power, scaled.lo)});
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif
