// Per-target code: what Lp makes of numbers. A power is |x|^p; T is the type of numbers, W that of sums. No include
// guard of the usual kind: see lanes-inl.h.
#if defined(NDPOOL_ANALYTIC_LP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_LP_INL_H_
#undef NDPOOL_ANALYTIC_LP_INL_H_
#else
#define NDPOOL_ANALYTIC_LP_INL_H_
#endif

#include "kernels/analytic/smooth_max-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace analytic {

/// p = 1, 2 and 3 need no logarithm.
template <class Number, class Sum>
class LpPowers {
 public:
  using T = Number;
  using W = Sum;
  using D = hn::ScalableTag<W>;
  using DT = Beside<T, D>;
  using V = hn::Vec<D>;
  using VT = hn::Vec<DT>;
  using Limits = std::numeric_limits<T>;
  static constexpr bool nan_windows_have_no_zeros = false;  ///< the weight of 0 is 0

  explicit LpPowers(const KernelChoice& choice) {
    // A larger p gives what this one gives, but for the last bits of huge windows of equal numbers.
    constexpr double largest_p = 0x1p51;
    p_ = static_cast<T>(std::min(choice.parameter, largest_p));
    inverse_ = 1 / p_;
    inverse_low_ = std::fma(-p_, inverse_, T(1)) / p_;
    is_whole_ = p_ == 1 || p_ == 2 || p_ == 3;
  }

  // ---- plain numbers: powers times 2^-scale, of numbers times 2^-root_scale

  HWY_INLINE void measure(VT x, VT& lowest, VT& highest) const {
    const DT d;
    const VT size = hn::Abs(x);
    const auto counts = hn::Gt(size, hn::Zero(d));
    lowest = hn::IfThenElse(counts, hn::Min(lowest, size), lowest);
    highest = hn::IfThenElse(counts, hn::Max(highest, size), highest);
  }
  HWY_INLINE V power(VT x) const {
    const D d;
    const DT dt;
    if (is_whole_) {
      const V size = hn::Abs(scaled(x));
      return p_ == 1 ? size : p_ == 2 ? hn::Mul(size, size) : hn::Mul(hn::Mul(size, size), size);
    }
    const VT size = hn::Abs(x);
    const auto fits = hn::And(hn::Gt(size, hn::Zero(dt)), hn::Le(size, hn::Set(dt, Limits::max())));
    const auto t = argument(hn::IfThenElse(fits, size, hn::Set(dt, 1)));
    const auto is_plain = hn::Le(hn::Abs(t.hi), hn::Set(dt, max_plain_argument<T>));
    const FractionAndExponent<DT> e =
        plain_exponential(dt, Split<VT>{hn::IfThenElseZero(is_plain, t.hi), hn::IfThenElseZero(is_plain, t.lo)});
    const V scale = power_of_two(d, widened(d, e.n) - hn::Set(d, scale_));
    return hn::Mul(widened(d, hn::IfThenElse(fits, e.f, size)), scale);  // 0 and NaN keep what they are
  }
  HWY_INLINE V slope(VT x, V power) const {
    const D d;
    const V number = scaled(x);
    V slope = power;  // p = 1 below
    if (p_ == 1)
      slope = sign(number);
    else if (p_ == 2)
      slope = number;
    else if (p_ == 3)
      slope = hn::Mul(number, hn::Abs(number));
    else
      slope = hn::Div(power, hn::IfThenElse(hn::Eq(number, hn::Zero(d)), hn::Set(d, 1), number));
    return hn::IfThenZeroElse(hn::Eq(number, hn::Zero(d)), slope);
  }
  HWY_INLINE VT value(V sum) const {
    const D d;
    const DT dt;
    if (p_ == 1) return narrowed(dt, scaled_once(d, sum, hn::Set(d, root_scale_)));
    if (p_ == 2) return narrowed(dt, scaled_once(d, hn::Sqrt(sum), hn::Set(d, root_scale_)));
    const FractionAndExponent<DT> y = root(sum);
    return with_limits(narrowed(dt, sign_of_sum(d, sum)), scaled_once(dt, y.f, y.n));
  }
  HWY_INLINE V factor(V sum) const {
    const D d;
    const auto is_zero = hn::Eq(sum, hn::Zero(d));
    const V some = hn::IfThenElse(is_zero, hn::Set(d, 1), sum);
    V factor = hn::Set(d, 1);
    if (p_ == 2) {
      factor = hn::Div(factor, hn::Sqrt(some));
    } else if (p_ != 1) {
      const FractionAndExponent<DT> y = root(some);
      const V size = hn::Mul(widened(d, y.f), power_of_two(d, widened(d, y.n) - hn::Set(d, root_scale_)));
      factor = hn::Div(size, some);
    }
    if (p_ != 1) factor = hn::IfThenElse(hn::IsNaN(sum), sum, factor);
    return hn::IfThenZeroElse(is_zero, factor);
  }
  static W zero_power() { return 0; }

  void set_scales(const SliceState& state) {
    scale_ = static_cast<W>(state.scale);
    root_scale_ = static_cast<W>(state.root_scale);
    set_factors();
  }
  void keep_scales(SliceState& state) const {
    state.scale = static_cast<double>(scale_);
    state.root_scale = static_cast<double>(root_scale_);
  }
  bool choose_scale(Extent<T> extent, double taps, bool, bool for_derivatives, bool& changes) {
    if (extent.lowest > extent.highest) return true;
    if (extent.highest > Limits::max()) return false;
    const double low = std::log2(static_cast<double>(extent.lowest)),
                 high = std::log2(static_cast<double>(extent.highest));
    if (!is_whole_ && std::max(std::abs(low), std::abs(high)) * p_ > max_plain_argument<T>) return false;
    if (fits(low, high, taps, for_derivatives)) return true;
    changes = true;
    root_scale_ = static_cast<W>(std::round((low + high) / 2));
    scale_ = std::round(root_scale_ * static_cast<W>(p_));
    set_factors();
    return fits(low, high, taps, for_derivatives);
  }

  // ---- pairs

  Pair<D> power_pair(VT x) const {
    const D d;
    const DT dt;
    const VT size = hn::Abs(x);
    const V wide = widened(d, size);
    const auto is_finite = hn::Le(size, hn::Set(dt, Limits::max()));
    Pair<D> pair = normalised(d, Pair<D>{widened(d, hn::IfThenElseZero(is_finite, size)), hn::Zero(d)});
    if (is_whole_) {
      const Pair<D> one = pair;
      if (p_ > 1) pair = product_of(d, one, one);
      if (p_ > 2) pair = product_of(d, pair, one);
    } else {
      const auto fits = hn::And(is_finite, hn::Gt(size, hn::Zero(dt)));
      const FractionAndExponent<DT> e = exponential(dt, argument(hn::IfThenElse(fits, size, hn::Set(dt, 1))));
      const Pair<D> power = scaled_pair(d, widened(d, e.f), widened(d, e.n));
      const auto is_zero = hn::Eq(wide, hn::Zero(d));
      pair.fraction = hn::IfThenZeroElse(is_zero, power.fraction);
      pair.exponent = hn::IfThenElse(is_zero, zero_pair(d).exponent, power.exponent);
    }
    const auto is_number = hn::Le(wide, hn::Set(d, static_cast<W>(Limits::max())));
    const V above = hn::IfThenElse(hn::IsNaN(wide), wide, hn::Set(d, 1));
    pair.fraction = hn::IfThenElse(is_number, pair.fraction, above);
    pair.exponent = hn::IfThenElse(is_number, pair.exponent, hn::Set(d, PairTraits<W>::infinity));
    return pair;
  }
  Pair<D> slope_pair(VT x, const Pair<D>& power) const {
    const D d;
    const V number = widened(d, x);
    const auto is_zero = hn::Eq(number, hn::Zero(d));
    const Pair<D> base = pair_of(d, hn::IfThenElse(is_zero, hn::Set(d, 1), number));
    Pair<D> slope = base;
    if (p_ == 1) {
      slope = {sign(number), hn::Zero(d)};
    } else if (p_ == 3) {
      slope = product_of(d, base, Pair<D>{hn::Abs(base.fraction), base.exponent});
    } else if (p_ != 2) {
      slope = quotient_of(d, power, base);
    }
    if (p_ != 1) {  // inf / inf
      const auto is_infinite = hn::Eq(hn::Abs(number), hn::Set(d, PairTraits<W>::infinity));
      slope.fraction = hn::IfThenElse(is_infinite, hn::Set(d, std::numeric_limits<W>::quiet_NaN()), slope.fraction);
      slope.exponent = hn::IfThenElse(is_infinite, hn::Set(d, PairTraits<W>::infinity), slope.exponent);
    }
    slope.fraction = hn::IfThenZeroElse(is_zero, slope.fraction);
    slope.exponent = hn::IfThenElse(is_zero, zero_pair(d).exponent, slope.exponent);
    return slope;
  }
  Pair<D> zeros_pair(V) const { return zero_pair(D()); }

  VT value(const Pair<D>& sum) const {
    const D d;
    const DT dt;
    const Pair<D> y = root(sum);
    const auto is_infinite = hn::Eq(y.exponent, hn::Set(d, PairTraits<W>::infinity));
    const V infinite = hn::IfThenElse(hn::IsNaN(sum.fraction), sum.fraction, hn::Set(d, PairTraits<W>::infinity));
    return narrowed(dt, hn::IfThenElse(is_infinite, infinite, number_of(d, y)));
  }
  Pair<D> factor(const Pair<D>& sum) const {
    const D d;
    const V one = hn::Set(d, 1);
    const auto is_zero = hn::Eq(sum.fraction, hn::Zero(d));
    const Pair<D> some{hn::IfThenElse(is_zero, one, sum.fraction), hn::IfThenZeroElse(is_zero, sum.exponent)};
    Pair<D> factor{one, hn::Zero(d)};
    if (p_ == 2)
      factor = quotient_of(d, factor, root(some));
    else if (p_ != 1)
      factor = quotient_of(d, root(some), some);
    if (p_ != 1) {
      using Traits = PairTraits<W>;
      const V infinity = hn::Set(d, Traits::infinity);
      const auto is_infinite = hn::Eq(some.exponent, infinity), is_nan = hn::IsNaN(sum.fraction);
      factor.fraction = hn::IfThenElse(is_infinite, p_ < 1 ? infinity : one, factor.fraction);
      factor.exponent =
          hn::IfThenElse(is_infinite, hn::Set(d, p_ < 1 ? Traits::of_not_finite : -Traits::infinity), factor.exponent);
      factor.fraction = hn::IfThenElse(is_nan, sum.fraction, factor.fraction);
      factor.exponent = hn::IfThenElse(is_nan, infinity, factor.exponent);
    }
    factor.fraction = hn::IfThenZeroElse(is_zero, factor.fraction);
    factor.exponent = hn::IfThenElse(is_zero, zero_pair(d).exponent, factor.exponent);
    return factor;
  }
  /// A factor times a gradient. Where a window is infinite, a gradient of 0 is told from none: inf / inf times it is
  /// NaN.
  Pair<D> share_pair(const Pair<D>& factor, V gradient) const {
    const D d;
    Pair<D> share = product_with(d, factor, gradient);
    const auto is_infinite =
        hn::And(hn::Eq(factor.exponent, hn::Set(d, -PairTraits<W>::infinity)), hn::Ne(factor.fraction, hn::Zero(d)));
    const auto is_zero = hn::And(is_infinite, hn::Eq(gradient, hn::Zero(d)));
    share.fraction = hn::IfThenElse(is_zero, hn::Set(d, std::numeric_limits<W>::min()), share.fraction);
    return share;
  }

 private:
  void set_factors() {
    const W half = std::floor(root_scale_ / 2);
    first_factor_ = std::exp2(-half);
    second_factor_ = std::exp2(half - root_scale_);
  }
  /// True if all of powers, slopes, factors and numbers themselves stay in range at the present scales.
  bool fits(double low, double high, double taps, bool for_derivatives) const {
    const double p = p_, shift = root_scale_, more = std::log2(taps) + 2;
    constexpr double room = std::numeric_limits<W>::max_exponent - 6;
    const auto is_fine = [&](double x) { return -room < x && x < room; };
    bool all =
        is_fine(p * low - static_cast<double>(scale_) - 2) && is_fine(p * high - static_cast<double>(scale_) + more);
    all = all && is_fine(low - shift - 1) && is_fine(high - shift + 1);
    if (!for_derivatives) return all;
    const double of_low = low - shift, of_high = high - shift, root = more / p + 2;
    return all && is_fine((p - 1) * of_low) && is_fine((p - 1) * of_high) && is_fine(of_low - root) &&
           is_fine(of_high + root) && is_fine((1 - p) * of_low - more - root) &&
           is_fine((1 - p) * of_low + root + more) && is_fine((1 - p) * of_high - more - root) &&
           is_fine((1 - p) * of_high + root + more);
  }
  /// -1 or 1, also of NaN.
  static HWY_INLINE V sign(V number) {
    const D d;
    const V one = hn::Set(d, 1);
    return hn::IfThenElse(hn::Lt(number, hn::Zero(d)), hn::Neg(one), one);
  }
  /// x * 2^-root_scale, in two steps because the factor may leave the range where the product does not.
  HWY_INLINE V scaled(VT x) const {
    const D d;
    return hn::Mul(hn::Mul(widened(d, x), hn::Set(d, first_factor_)), hn::Set(d, second_factor_));
  }
  /// p log(size), of positive numbers.
  HWY_INLINE Split<VT> argument(VT size) const {
    const DT d;
    const VT p = hn::Set(d, p_);
    const Split<VT> log = SplitLog(d, size), scaled = TwoProduct(d, log.hi, p);
    return {scaled.hi, hn::MulAdd(log.lo, p, scaled.lo)};
  }
  HWY_INLINE FractionAndExponent<DT> root_of(VT f, VT n, VT far) const {
    const DT d;
    const VT normal = hn::Max(f, hn::Set(d, 1));  // also in the idle half of a vector, whose logarithm would be invalid
    return plain_exponential(d, split_logarithm(d, normal, n, far, hn::Set(d, inverse_), hn::Set(d, inverse_low_)));
  }
  HWY_INLINE FractionAndExponent<DT> root(V sum) const {
    const D d;
    const DT dt;
    const FractionAndExponent<D> s = taken_apart(d, sum);
    return root_of(narrowed(dt, s.f), narrowed(dt, s.n + hn::Set(d, scale_)), hn::Zero(dt));
  }
  Pair<D> root(const Pair<D>& sum) const {
    using Traits = PairTraits<W>;
    const D d;
    const DT dt;
    const auto far = is_far(d, sum);
    const V units = hn::Mul(hn::IfThenZeroElse(far, sum.exponent), hn::Set(d, 1 / Traits::unit));
    Pair<D> y = sum;
    if (p_ == 2) {
      const V half = hn::Round(hn::Mul(units, hn::Set(d, W(0.5)))), rest = units - (half + half);
      y.fraction = hn::Mul(hn::Sqrt(sum.fraction), power_of_two(d, hn::Mul(rest, hn::Set(d, W(Traits::radix / 2)))));
      y = normalised(d, Pair<D>{y.fraction, hn::Mul(half, hn::Set(d, Traits::unit))});
    } else if (p_ != 1) {
      const FractionAndExponent<D> s = taken_apart(d, sum.fraction);
      const V exponent = hn::Mul(units, hn::Set(d, W(Traits::radix)));
      const auto is_near = hn::Le(hn::Abs(exponent), hn::Set(d, W(1 << 20)));
      const V n = hn::IfThenElse(is_near, s.n + exponent, s.n);
      const FractionAndExponent<DT> e =
          root_of(narrowed(dt, s.f), narrowed(dt, n), narrowed(dt, hn::IfThenZeroElse(is_near, exponent)));
      y = scaled_pair(d, widened(d, e.f), widened(d, e.n));
    }
    const auto is_zero = hn::Eq(sum.fraction, hn::Zero(d));
    y.fraction = hn::IfThenZeroElse(is_zero, hn::IfThenElse(hn::IsNaN(sum.fraction), sum.fraction, y.fraction));
    y.exponent = hn::IfThenElse(far, sum.exponent, y.exponent);
    return y;
  }
  static HWY_INLINE VT with_limits(VT sum, VT value) {
    const DT d;
    return hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), hn::IfThenElse(hn::IsNaN(sum), sum, value));
  }

  T p_, inverse_, inverse_low_;
  bool is_whole_;
  W scale_ = 0, root_scale_ = 0, first_factor_ = 1, second_factor_ = 1;
};

}  // namespace analytic
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_LP_INL_H_
