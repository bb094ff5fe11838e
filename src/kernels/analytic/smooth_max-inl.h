// Per-target code: what smooth max makes of numbers. A power is exp(beta x); T is the type of numbers, W that of sums.
// No include guard of the usual kind: see lanes-inl.h.
#if defined(NDPOOL_ANALYTIC_SMOOTH_MAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ANALYTIC_SMOOTH_MAX_INL_H_
#undef NDPOOL_ANALYTIC_SMOOTH_MAX_INL_H_
#else
#define NDPOOL_ANALYTIC_SMOOTH_MAX_INL_H_
#endif

#include "kernels/analytic/exponentials-inl.h"
#include "kernels/analytic/slice.hpp"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {
namespace analytic {

using namespace ndpool::analytic;  // what does not depend on the target

/// The smallest and the largest number whose power is neither 0 nor NaN.
template <class T>
struct Extent {
  T lowest = std::numeric_limits<T>::infinity(), highest = -std::numeric_limits<T>::infinity();
};

template <class Number, class Sum>
class SmoothMaxPowers {
 public:
  using T = Number;
  using W = Sum;
  using D = hn::ScalableTag<W>;
  using DT = Beside<T, D>;
  using V = hn::Vec<D>;
  using VT = hn::Vec<DT>;
  using Limits = std::numeric_limits<T>;
  static constexpr bool nan_windows_have_no_zeros = true;  ///< every weight of a window with NaN is NaN

  explicit SmoothMaxPowers(const KernelChoice& choice) : beta_(static_cast<T>(choice.parameter)) {
    const double beta = std::abs(static_cast<double>(beta_));
    largest_plain_ = limited(max_plain_argument<T> / beta * (1 - 1e-6));
    largest_ = limited(max_argument<T> / beta * (1 - 1e-6));
    // Numbers beyond are so far apart that all but the largest of a window count as 0. Their exponents are themselves,
    // moved by a power of two to above those of all others.
    const double first = std::log2(static_cast<double>(max_argument<T>)) - std::log2(beta);
    if (first < Limits::max_exponent) {
      const double top = std::log2(static_cast<double>(PairTraits<W>::unit)) + std::numeric_limits<W>::digits + 2;
      far_scale_ = static_cast<int>(std::ceil(top - first));
    }
  }

  // ---- plain numbers: powers times 2^-scale

  HWY_INLINE void measure(VT x, VT& lowest, VT& highest) const {
    const DT d;
    const auto counts = hn::Gt(signed_by_beta(x), hn::Set(d, -Limits::infinity()));
    lowest = hn::IfThenElse(counts, hn::Min(lowest, x), lowest);
    highest = hn::IfThenElse(counts, hn::Max(highest, x), highest);
  }
  HWY_INLINE V power(VT x) const {
    const D d;
    const DT dt;
    const auto fits = hn::Le(hn::Abs(x), hn::Set(dt, largest_plain_));
    const FractionAndExponent<DT> e =
        plain_exponential(dt, TwoProduct(dt, hn::IfThenElseZero(fits, x), hn::Set(dt, beta_)));
    const V scale = power_of_two(d, widened(d, e.n) - hn::Set(d, scale_));
    const V power = hn::Mul(widened(d, hn::IfThenElse(fits, e.f, hn::IfThenElseZero(hn::IsNaN(x), x))), scale);
    return power;
  }
  HWY_INLINE V slope(VT, V power) const { return power; }
  HWY_INLINE VT value(V sum) const {
    const D d;
    const DT dt;
    const FractionAndExponent<D> s = taken_apart(d, sum);
    const VT log = logarithm(dt, narrowed(dt, s.f), narrowed(dt, s.n + hn::Set(d, scale_)));
    return with_limits(narrowed(dt, sign_of_sum(d, sum)), hn::Mul(log, hn::Set(dt, 1 / beta_)));
  }
  HWY_INLINE V factor(V sum) const {
    const D d;
    const auto is_zero = hn::Eq(sum, hn::Zero(d));
    return hn::IfThenZeroElse(is_zero, hn::Div(hn::Set(d, 1), hn::IfThenElse(is_zero, hn::Set(d, 1), sum)));
  }
  W zero_power() const { return static_cast<W>(std::exp2(-static_cast<double>(scale_))); }

  void set_scales(const SliceState& state) { scale_ = static_cast<W>(state.scale); }
  void keep_scales(SliceState& state) const { state.scale = static_cast<double>(scale_); }
  /// Chooses the scale for numbers of this extent: true if no power of them leaves the range, nor a sum of `taps`.
  bool choose_scale(Extent<T> extent, double taps, bool has_zeros, bool, bool& changes) {
    if (has_zeros) {
      extent.lowest = std::min(extent.lowest, T(0));
      extent.highest = std::max(extent.highest, T(0));
    }
    if (extent.lowest > extent.highest) return true;
    if (extent.lowest < -largest_plain_ || extent.highest > largest_plain_) return false;
    constexpr double log2_e = 1.4426950408889634;
    double low = log2_e * beta_ * static_cast<double>(extent.lowest),
           high = log2_e * beta_ * static_cast<double>(extent.highest);
    if (low > high) std::swap(low, high);
    high += std::log2(taps) + 2;
    low -= 2;
    constexpr double lowest = std::numeric_limits<W>::min_exponent + 1,
                     highest = std::numeric_limits<W>::max_exponent - 3;
    if (low - static_cast<double>(scale_) >= lowest && high - static_cast<double>(scale_) <= highest) return true;
    changes = true;
    scale_ = static_cast<W>(std::round(high - highest + (highest - lowest - (high - low)) / 2));
    return high - low <= highest - lowest;
  }

  // ---- pairs

  Pair<D> power_pair(VT x) const {
    const D d;
    const DT dt;
    const auto fits = hn::Le(hn::Abs(x), hn::Set(dt, largest_));
    const FractionAndExponent<DT> e = exponential(dt, TwoProduct(dt, hn::IfThenElseZero(fits, x), hn::Set(dt, beta_)));
    Pair<D> pair = scaled_pair(d, widened(d, e.f), widened(d, e.n));
    if (hn::AllTrue(dt, fits)) return pair;
    // Far numbers; -infinity has the power 0, and NaN is above all.
    const V wide = widened(d, x), z = widened(d, signed_by_beta(x));
    const auto is_nan = hn::IsNaN(wide), is_far = hn::Gt(hn::Abs(wide), hn::Set(d, static_cast<W>(largest_)));
    const auto is_lowest = hn::Eq(z, hn::Set(d, -PairTraits<W>::infinity));
    const V exponent = far_scaled(z, far_scale_);
    pair.fraction = hn::IfThenElse(is_far, hn::Set(d, 1), hn::IfThenElse(is_nan, wide, pair.fraction));
    pair.fraction = hn::IfThenZeroElse(is_lowest, pair.fraction);
    pair.exponent = hn::IfThenElse(is_far, exponent, pair.exponent);
    pair.exponent = hn::IfThenElse(is_nan, hn::Set(d, PairTraits<W>::infinity), pair.exponent);
    return pair;
  }
  Pair<D> slope_pair(VT, const Pair<D>& power) const { return power; }
  Pair<D> zeros_pair(V count) const { return pair_of(D(), count); }

  VT value(const Pair<D>& sum) const {
    using Traits = PairTraits<W>;
    const D d;
    const DT dt;
    const FractionAndExponent<D> s = taken_apart(d, sum.fraction);
    const auto is_far = analytic::is_far(d, sum);
    const V units = hn::Mul(hn::IfThenZeroElse(is_far, sum.exponent), hn::Set(d, 1 / Traits::unit));
    const V exponent = hn::Mul(units, hn::Set(d, W(Traits::radix)));
    const auto is_plain = hn::Le(hn::Abs(exponent), hn::Set(d, W(2 * Ln2<T>::max_exponent)));
    const V all = hn::IfThenElse(is_plain, s.n + exponent, s.n);
    VT log = logarithm(dt, narrowed(dt, s.f), narrowed(dt, all));
    const VT far = narrowed(dt, hn::IfThenZeroElse(is_plain, exponent));
    log = hn::MulAdd(far, hn::Set(dt, Ln2<T>::high), hn::MulAdd(far, hn::Set(dt, Ln2<T>::low), log));
    const VT value = hn::Mul(log, hn::Set(dt, 1 / beta_));
    const V of_far = far_scaled(signed_wide(sum.exponent), -far_scale_);
    const VT found = narrowed(dt, hn::IfThenElse(is_far, of_far, widened(d, value)));
    return with_limits(narrowed(dt, sign_of_sum(d, sum.fraction)), found);
  }
  Pair<D> factor(const Pair<D>& sum) const {
    const D d;
    const auto is_zero = hn::Eq(sum.fraction, hn::Zero(d));
    const V one = hn::Set(d, 1), zero = hn::Zero(d);
    Pair<D> factor =
        quotient_of(d, Pair<D>{one, zero}, Pair<D>{hn::IfThenElse(is_zero, one, sum.fraction), sum.exponent});
    factor.fraction = hn::IfThenZeroElse(is_zero, factor.fraction);
    factor.exponent = hn::IfThenElse(is_zero, zero_pair(d).exponent, factor.exponent);
    factor.exponent = hn::IfThenElse(hn::IsNaN(sum.fraction), hn::Set(d, PairTraits<W>::infinity), factor.exponent);
    return factor;
  }
  Pair<D> share_pair(const Pair<D>& factor, V gradient) const { return product_with(D(), factor, gradient); }

 private:
  static T limited(double bound) { return static_cast<T>(std::min(bound, static_cast<double>(Limits::max()))); }
  HWY_INLINE VT signed_by_beta(VT x) const { return beta_ < 0 ? hn::Neg(x) : x; }
  HWY_INLINE V signed_wide(V x) const { return beta_ < 0 ? hn::Neg(x) : x; }
  /// x * 2^scale in two steps, for a scale that leaves the range although the product does not.
  static HWY_INLINE V far_scaled(V x, int scale) {
    const D d;
    const int half = scale / 2;
    return hn::Mul(hn::Mul(x, hn::Set(d, std::ldexp(W(1), half))), hn::Set(d, std::ldexp(W(1), scale - half)));
  }
  HWY_INLINE VT with_limits(VT sum, VT value) const {
    const DT d;
    const VT lowest = hn::Set(d, beta_ < 0 ? Limits::infinity() : -Limits::infinity());
    return hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), lowest, hn::IfThenElse(hn::IsNaN(sum), sum, value));
  }

  T beta_, largest_plain_ = 0, largest_ = 0;
  W scale_ = 0;
  int far_scale_ = 0;
};

}  // namespace analytic
}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ANALYTIC_SMOOTH_MAX_INL_H_
