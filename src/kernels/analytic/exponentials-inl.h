// Per-target code: exponentials as a fraction and an exponent of two, and logarithms of such, of any size. No include
// guard of the usual kind: see lanes-inl.h.
#if defined(NDPOOL_ANALYTIC_EXPONENTIALS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_EXPONENTIALS_INL_H_
#undef NDPOOL_ANALYTIC_EXPONENTIALS_INL_H_
#else
#define NDPOOL_ANALYTIC_EXPONENTIALS_INL_H_
#endif

#include "kernels/analytic/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace analytic {

/// log(2) in three parts, two of which are so short that their products with exponents of powers are exact; and in two,
/// for exponents of a few hundred.
template <class T>
struct Ln2;
template <>
struct Ln2<float> {
  static constexpr float part[] = {0x1.62cp-1f, 0x1.214p-12f, 0x1.fbe8e8p-23f};
  static constexpr float high = 0x1.62e43p-1f, low = -0x1.05c61p-29f;
  static constexpr float max_exponent = 0x1p13f;  ///< that the parts serve
  static constexpr float max_short_exponent = 384;
};
template <>
struct Ln2<double> {
  static constexpr double part[] = {0x1.62e42feep-1, 0x1.a39ef356p-33, 0x1.93c7673007e5fp-65};
  static constexpr double high = 0x1.62e42fefa39efp-1, low = 0x1.abc9e3b39803fp-56;
  static constexpr double max_exponent = 0x1p20;
  static constexpr double max_short_exponent = 0x1p14;
};

/// Arguments up to this have an exponent that is used as it is; up to `max_argument`, one that is a multiple of a
/// radix.
template <class T>
inline constexpr T max_plain_argument = Ln2<T>::max_exponent* T(0.69);
template <class T>
inline constexpr T max_argument = PairTraits<T>::radix* MathTable<T>::two_to_the_fraction_bits* T(1.2);

/// exp(t) = f * 2^n with f near 1, for |t| up to max_plain_argument.
template <class D>
HWY_INLINE FractionAndExponent<D> plain_exponential(D d, Split<hn::Vec<D>> t) {
  using T = hn::TFromD<D>;
  using Table = MathTable<T>;
  const auto shifter = hn::Set(d, T(1.5) * Table::two_to_the_fraction_bits);
  const auto n = hn::MulAdd(t.hi, hn::Set(d, Table::log2_e), shifter) - shifter;
  const auto high = hn::NegMulAdd(n, hn::Set(d, Ln2<T>::part[1]), hn::NegMulAdd(n, hn::Set(d, Ln2<T>::part[0]), t.hi));
  const auto r = high + hn::NegMulAdd(n, hn::Set(d, Ln2<T>::part[2]), t.lo);
  return {Polynomial(d, r, Table::exp), n};
}

/// The same for |t| up to max_argument: n is a multiple of the radix of pairs of T, f within the bound of their
/// fractions.
template <class D>
HWY_INLINE FractionAndExponent<D> large_exponential(D d, Split<hn::Vec<D>> t) {
  using T = hn::TFromD<D>;
  constexpr T radix = PairTraits<T>::radix;
  const auto units = hn::Round(hn::Mul(t.hi, hn::Set(d, MathTable<T>::log2_e / radix)));
  const Split<hn::Vec<D>> high = TwoProduct(d, units, hn::Set(d, Ln2<T>::high * radix));
  const auto rest = hn::NegMulAdd(units, hn::Set(d, Ln2<T>::low * radix), t.lo - high.lo);
  const FractionAndExponent<D> e = plain_exponential(d, Split<hn::Vec<D>>{t.hi - high.hi, rest});
  return {hn::Mul(e.f, power_of_two(d, e.n)), hn::Mul(units, hn::Set(d, radix))};
}

/// Either of the two, by the argument.
template <class D>
HWY_INLINE FractionAndExponent<D> exponential(D d, Split<hn::Vec<D>> t) {
  using T = hn::TFromD<D>;
  const auto is_plain = hn::Le(hn::Abs(t.hi), hn::Set(d, max_plain_argument<T>));
  const Split<hn::Vec<D>> near{hn::IfThenElseZero(is_plain, t.hi), hn::IfThenElseZero(is_plain, t.lo)};
  FractionAndExponent<D> e = plain_exponential(d, near);
  if (hn::AllTrue(d, is_plain)) return e;
  const Split<hn::Vec<D>> far{hn::IfThenZeroElse(is_plain, t.hi), hn::IfThenZeroElse(is_plain, t.lo)};
  const FractionAndExponent<D> large = large_exponential(d, far);
  return {hn::IfThenElse(is_plain, e.f, large.f), hn::IfThenElse(is_plain, e.n, large.n)};
}

/// log(f * 2^n) of f in [1, 2) and |n| of little more than Ln2::max_exponent; within 2 ulp.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V logarithm(D d, V f, V n) {
  using T = hn::TFromD<D>;
  using Table = MathTable<T>;
  const LogArgument<V> a = ReduceForLog<false>(d, f);
  const V w = a.u * a.u;
  const V v = w * hn::MulAdd(w, Polynomial(d, w, Table::log), hn::Set(d, Table::twelfth_hi));
  const V correction = a.u * hn::MulSub(a.f, hn::Set(d, T(0.5)), v);
  const V all = n + a.n;
  const V low = hn::NegMulAdd(all, hn::Set(d, Table::ln2_lo), correction);
  const V log = hn::MulAdd(all, hn::Set(d, Table::ln2_hi), a.f - low);
  const auto is_short = hn::Le(hn::Abs(all), hn::Set(d, Ln2<T>::max_short_exponent));
  if (hn::AllTrue(d, is_short)) return log;
  const V rest = hn::MulAdd(all, hn::Set(d, Ln2<T>::part[2]), a.f - correction);
  const V of_large = hn::MulAdd(all, hn::Set(d, Ln2<T>::part[0]), hn::MulAdd(all, hn::Set(d, Ln2<T>::part[1]), rest));
  return hn::IfThenElse(is_short, log, of_large);
}

/// log(f * 2^(n + far)) / p as two parts, for whole numbers `far` that may be large.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Split<V> split_logarithm(D d, V f, V n, V far, V inverse, V inverse_low) {
  using T = hn::TFromD<D>;
  const Split<V> near = SplitLog(d, f);
  const Split<V> of_far = TwoProduct(d, far, hn::Set(d, Ln2<T>::high)),
                 of_n = TwoProduct(d, n, hn::Set(d, Ln2<T>::high));
  // Each high part is 0 or larger than those after it, but for signs.
  const V ab = of_n.hi + near.hi, ab_low = (of_n.hi - ab) + near.hi;
  const V abc = of_far.hi + ab, part = abc - of_far.hi, abc_low = (of_far.hi - (abc - part)) + (ab - part);
  V low = hn::MulAdd(n + far, hn::Set(d, Ln2<T>::low), near.lo + of_n.lo) + of_far.lo;
  low = low + (ab_low + abc_low);
  const Split<V> scaled = TwoProduct(d, abc, inverse);
  return {scaled.hi, hn::MulAdd(low, inverse, hn::MulAdd(abc, inverse_low, scaled.lo))};
}

}  // namespace analytic
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_EXPONENTIALS_INL_H_
