// Per-target code: floats without limits to their exponent, as pairs of a fraction and an exponent. Their sums and
// products round as those of plain floats do, so that they have the same bits wherever plain floats stay in range. No
// include guard of the usual kind: see lanes-inl.h.
#if defined(NDPOOL_ANALYTIC_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_PAIRS_INL_H_
#undef NDPOOL_ANALYTIC_PAIRS_INL_H_
#else
#define NDPOOL_ANALYTIC_PAIRS_INL_H_
#endif

#include "kernels/analytic/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace analytic {

/// fraction * 2^(radix * exponent / unit). Fractions of normal pairs are in [1 / bound, bound), so that a pair whose
/// exponent is two units below another's is too small to change their sum. Exponents are whole units up to
/// `max_exponent`. Beyond are those of far pairs, whose fractions have any size: of numbers whose powers are so far
/// apart from all others that only equal ones add up (see SmoothMaxPowers), of infinite taps and NaN (+infinity), and
/// of zeros (-infinity).
template <class D>
struct Pair {
  hn::Vec<D> fraction, exponent;
};

template <class W>
struct PairTraits {
  using Limits = std::numeric_limits<W>;
  static constexpr int radix = sizeof(W) == 4 ? 64 : 512;
  static constexpr W unit = Limits::min();
  static constexpr W infinity = Limits::infinity();
  /// Of tangents that are not finite: above that of every number, below that of infinite taps.
  static constexpr W of_not_finite = Limits::max();
  static constexpr W power(int e) {  // 2^e
    W value = 1;
    for (; e > 0; --e) value *= 2;
    for (; e < 0; ++e) value /= 2;
    return value;
  }
  static constexpr W bound = power(radix / 2), up = power(radix), down = power(-radix);
  static constexpr W max_exponent = unit * power(Limits::digits);
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE Pair<D> zero_pair(D d) {
  return {hn::Zero(d), hn::Set(d, -PairTraits<hn::TFromD<D>>::infinity)};
}

template <class D>
HWY_INLINE hn::Mask<D> is_far(D d, const Pair<D>& pair) {
  return hn::Gt(hn::Abs(pair.exponent), hn::Set(d, PairTraits<hn::TFromD<D>>::max_exponent));
}

/// Brings a fraction into [1 / bound, bound), if it is in [1 / bound^5, bound^3).
template <class D>
HWY_INLINE Pair<D> normalised(D d, Pair<D> pair) {
  using Traits = PairTraits<hn::TFromD<D>>;
  const auto unit = hn::Set(d, Traits::unit);
  const auto moves = hn::Not(is_far(d, pair));
  for (int step = 0; step < 2; ++step) {
    const auto is_small = hn::And(moves, hn::Lt(hn::Abs(pair.fraction), hn::Set(d, 1 / Traits::bound)));
    pair.fraction = hn::IfThenElse(is_small, hn::Mul(pair.fraction, hn::Set(d, Traits::up)), pair.fraction);
    pair.exponent = hn::IfThenElse(is_small, pair.exponent - unit, pair.exponent);
  }
  const auto is_large = hn::And(moves, hn::Ge(hn::Abs(pair.fraction), hn::Set(d, Traits::bound)));
  pair.fraction = hn::IfThenElse(is_large, hn::Mul(pair.fraction, hn::Set(d, Traits::down)), pair.fraction);
  pair.exponent = hn::IfThenElse(is_large, pair.exponent + unit, pair.exponent);
  const auto is_zero = hn::Eq(pair.fraction, hn::Zero(d));
  pair.exponent = hn::IfThenElse(is_zero, hn::Set(d, -Traits::infinity), pair.exponent);
  return pair;
}

template <class D>
HWY_INLINE Pair<D> sum_of(D d, const Pair<D>& a, const Pair<D>& b) {
  using Traits = PairTraits<hn::TFromD<D>>;
  const auto a_leads = hn::Ge(a.exponent, b.exponent);
  const auto high = hn::IfThenElse(a_leads, a.exponent, b.exponent),
             low = hn::IfThenElse(a_leads, b.exponent, a.exponent);
  const auto leading = hn::IfThenElse(a_leads, a.fraction, b.fraction);
  const auto other = hn::IfThenElse(a_leads, b.fraction, a.fraction);
  // The sum and not the difference: infinities would make that invalid.
  const auto next = hn::Eq(low + hn::Set(d, Traits::unit), high), same = hn::Eq(low, high);
  const auto nearby = hn::IfThenElseZero(next, hn::Mul(other, hn::Set(d, Traits::down)));
  return normalised(d, Pair<D>{leading + hn::IfThenElse(same, other, nearby), high});
}

/// A finite number, or one that keeps its fraction beside an exponent that no number reaches.
template <class D>
HWY_INLINE Pair<D> pair_of(D d, hn::Vec<D> number) {
  using Traits = PairTraits<hn::TFromD<D>>;
  const auto is_finite = hn::Le(hn::Abs(number), hn::Set(d, std::numeric_limits<hn::TFromD<D>>::max()));
  const Pair<D> finite = normalised(d, Pair<D>{hn::IfThenElseZero(is_finite, number), hn::Zero(d)});
  return {hn::IfThenElse(is_finite, finite.fraction, number),
          hn::IfThenElse(is_finite, finite.exponent, hn::Set(d, Traits::of_not_finite))};
}

/// f * 2^n for whole n of up to half of what exponents of pairs can be, and f near 1.
template <class D>
HWY_INLINE Pair<D> scaled_pair(D d, hn::Vec<D> f, hn::Vec<D> n) {
  using W = hn::TFromD<D>;
  using Traits = PairTraits<W>;
  const auto units = hn::Round(hn::Mul(n, hn::Set(d, W(1) / Traits::radix)));
  const auto rest = n - hn::Mul(units, hn::Set(d, W(Traits::radix)));
  return normalised(d, Pair<D>{hn::Mul(f, power_of_two(d, rest)), hn::Mul(units, hn::Set(d, Traits::unit))});
}

/// The sum of two exponents; those that are no numbers' cancel, or win.
template <class D>
HWY_INLINE hn::Vec<D> sum_of_exponents(D d, hn::Vec<D> a, hn::Vec<D> b) {
  using Traits = PairTraits<hn::TFromD<D>>;
  const auto bound = hn::Set(d, Traits::of_not_finite);
  const auto cancels = hn::And(hn::Ge(hn::Max(a, b), bound), hn::Le(hn::Min(a, b), hn::Neg(bound)));
  return hn::IfThenZeroElse(cancels, hn::IfThenZeroElse(cancels, a) + hn::IfThenZeroElse(cancels, b));
}

template <class D>
HWY_INLINE Pair<D> product_of(D d, const Pair<D>& a, const Pair<D>& b) {
  return normalised(d, Pair<D>{hn::Mul(a.fraction, b.fraction), sum_of_exponents(d, a.exponent, b.exponent)});
}
/// Times a tangent or gradient. One that is not finite is above all numbers, unless it is multiplied by zero.
template <class D>
HWY_INLINE Pair<D> product_with(D d, const Pair<D>& a, hn::Vec<D> tangent) {
  using Traits = PairTraits<hn::TFromD<D>>;
  const auto is_finite = hn::Le(hn::Abs(tangent), hn::Set(d, std::numeric_limits<hn::TFromD<D>>::max()));
  const auto far = is_far(d, a);
  const auto number = hn::IfThenElseZero(is_finite, tangent);
  const Pair<D> near{hn::IfThenElse(far, number, normalised(d, Pair<D>{number, hn::Zero(d)}).fraction),
                     hn::IfThenZeroElse(far, normalised(d, Pair<D>{number, hn::Zero(d)}).exponent)};
  Pair<D> product = product_of(d, a, near);
  const auto is_zero = hn::Eq(a.fraction, hn::Zero(d)), keeps = hn::Or(is_finite, is_zero);
  product.fraction = hn::IfThenZeroElse(is_zero, product.fraction);  // +0, whatever the tangent's sign
  product.fraction =
      hn::IfThenElse(keeps, product.fraction, hn::Mul(hn::IfThenElse(keeps, hn::Zero(d), a.fraction), tangent));
  const auto above = hn::Max(a.exponent, hn::Set(d, Traits::of_not_finite));
  product.exponent = hn::IfThenElse(keeps, product.exponent, above);
  return product;
}
/// b must not be 0.
template <class D>
HWY_INLINE Pair<D> quotient_of(D d, const Pair<D>& a, const Pair<D>& b) {
  return normalised(d, Pair<D>{hn::Div(a.fraction, b.fraction), sum_of_exponents(d, a.exponent, hn::Neg(b.exponent))});
}

/// The number that a normal pair is, rounded once.
template <class D>
HWY_INLINE hn::Vec<D> number_of(D d, const Pair<D>& pair) {
  using Traits = PairTraits<hn::TFromD<D>>;
  const auto unit = hn::Set(d, Traits::unit);
  auto number = pair.fraction, exponent = pair.exponent;
  // An exponent of no number leaves the fraction, which is not finite, as it is.
  exponent = hn::IfThenZeroElse(hn::Ge(exponent, hn::Set(d, Traits::of_not_finite)), exponent);
  for (int step = 0; step < 3; ++step) {
    const auto rises = hn::Ge(exponent, unit), falls = hn::Le(exponent, hn::Neg(unit));
    number = hn::IfThenElse(rises, hn::Mul(number, hn::Set(d, Traits::up)), number);
    number = hn::IfThenElse(falls, hn::Mul(number, hn::Set(d, Traits::down)), number);
    exponent = hn::IfThenElse(rises, exponent - unit, hn::IfThenElse(falls, exponent + unit, exponent));
  }
  return number;
}

}  // namespace analytic
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_PAIRS_INL_H_
