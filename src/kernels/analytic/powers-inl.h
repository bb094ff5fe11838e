// Per-target code: what smooth max and Lp make of numbers. No include guard of the usual kind: see rows-inl.h.
//
// Both are a function of a sum of powers, exp(beta x) or |x|^p, and their weights are a slope of the tap times a factor
// of the window. Numbers whose powers could leave the range, and all that are not finite, have the power NaN: a window
// that sees one of them has a sum that is not usable, and goes to the spec.
#if defined(NDPOOL_POWERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_POWERS_INL_H_
#undef NDPOOL_POWERS_INL_H_
#else
#define NDPOOL_POWERS_INL_H_
#endif

#include "kernels/simd/math-inl.h"
#include "kernels/table.hpp"

#include <ndpool/spec/lp.hpp>
#include <ndpool/spec/smooth_max.hpp>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// How far exponents of two may go: for values all but the range of the type; derivatives have products with tangents,
/// which get the other half.
template <class N>
constexpr N exponent_room(bool derivatives) {
  return sizeof(N) == 4 ? (derivatives ? N(58) : N(124)) : (derivatives ? N(480) : N(1020));
}

/// The smallest and the largest finite number of a block.
template <class N>
struct FiniteRange {
  N lowest = std::numeric_limits<N>::max();
  N highest = std::numeric_limits<N>::lowest();
};

/// Values take exp(beta x) as it is: the error of such a power is in the order of the rounding of x, and no larger
/// number of the block has to be subtracted, which would cost digits. Derivatives take it relative to the middle of the
/// block, because weights depend on differences only.
template <class T>
class SmoothMaxPowers {
 public:
  using N = T;
  using D = hn::ScalableTag<N>;
  using V = hn::Vec<D>;
  using M = hn::Mask<D>;
  using Reducer = spec::SmoothMax<T>;

  SmoothMaxPowers(const KernelChoice& choice, bool derivatives, Index taps)
      : beta_(static_cast<N>(choice.parameter)), derivatives_(derivatives) {
    constexpr N ln2 = N(0.6931472);
    limit_ = exponent_room<N>(derivatives) * ln2;
    if (!derivatives) limit_ -= std::log(static_cast<N>(taps));
    lowest_sum_ = std::exp(-limit_) / 2;
    highest_sum_ = derivatives ? 2 * std::exp(limit_) * static_cast<N>(taps) : std::numeric_limits<N>::max();
    reducer.options = {choice.parameter, choice.pad_mode, Empty::error};
    adds_zeros = choice.pad_mode == PadMode::zero;
  }

  bool needs_range() const { return derivatives_; }
  void set_range(const FiniteRange<N>& range) { shift_ = range.lowest / 2 + range.highest / 2; }

  /// The power of a padded tap. An overflow makes the sum infinite and thereby not usable.
  N zero_power() const { return std::exp(-beta_ * shift_); }

  HWY_INLINE V power(D d, V x) const { return derivatives_ ? exp_of<true>(d, x) : exp_of<false>(d, x); }
  HWY_INLINE V slope(D d, V x) const { return power(d, x); }
  HWY_INLINE V value(D d, V sum) const { return hn::Mul(LogOfNormal(d, sum), hn::Set(d, 1 / beta_)); }
  HWY_INLINE V factor(D d, V sum) const { return hn::Div(hn::Set(d, N(1)), sum); }
  HWY_INLINE M is_usable(D d, V sum) const {
    return hn::And(hn::Ge(sum, hn::Set(d, lowest_sum_)), hn::Le(sum, hn::Set(d, highest_sum_)));
  }
  /// exp(beta x) as a fraction near 1 and an exponent of two, for numbers whose powers leave the range.
  HWY_INLINE V split_power(D d, V x, V& exponent) const {
    using Table = MathTable<N>;
    const Split<V> t = TwoProduct(d, x, hn::Set(d, beta_));
    const V shifter = hn::Set(d, N(1.5) * Table::two_to_the_fraction_bits);
    const auto is_fit = hn::Le(hn::Abs(t.hi), hn::Set(d, most_exponents * N(0.69)));
    const V n = hn::MulAdd(t.hi, hn::Set(d, Table::log2_e), shifter) - shifter;
    const V high = hn::NegMulAdd(n, hn::Set(d, ln2(1)), hn::NegMulAdd(n, hn::Set(d, ln2(0)), t.hi));
    const V r = high + hn::NegMulAdd(n, hn::Set(d, ln2(2)), t.lo);
    exponent = hn::IfThenElseZero(is_fit, n);
    return hn::IfThenElse(is_fit, Polynomial(d, r, Table::exp), hn::Set(d, std::numeric_limits<N>::quiet_NaN()));
  }
  /// The value of a sum that is fraction * 2^exponent.
  HWY_INLINE V split_value(D d, V fraction, V exponent) const {
    const V low = hn::MulAdd(exponent, hn::Set(d, ln2(2)), LogOfNormal(d, fraction));
    const V log = hn::MulAdd(exponent, hn::Set(d, ln2(0)), hn::MulAdd(exponent, hn::Set(d, ln2(1)), low));
    return hn::Mul(log, hn::Set(d, 1 / beta_));
  }
  static constexpr bool has_split_powers = true;
  static constexpr Combine combine = Combine::sum;

  /// The logarithm of a single power is not the number again, as it has to be.
  static constexpr bool single_taps_are_exact = false;

  Reducer reducer;
  bool adds_zeros;

 private:
  template <bool shifted>
  HWY_INLINE V exp_of(D d, V x) const {
    using Table = MathTable<N>;
    const V beta = hn::Set(d, beta_);
    Split<V> t;
    if constexpr (shifted) {
      const Split<V> difference = TwoDifference(x, hn::Set(d, shift_));
      t = TwoProduct(d, difference.hi, beta);
      t.lo = hn::MulAdd(difference.lo, beta, t.lo);
    } else {
      t = TwoProduct(d, x, beta);
    }
    // ExpOfSum without its limits, which are checked here.
    constexpr int fraction_bits = std::numeric_limits<N>::digits - 1;
    const hn::RebindToUnsigned<D> du;
    const V shifter = hn::Set(d, N(1.5) * Table::two_to_the_fraction_bits);
    const V exponent = hn::MulAdd(t.hi, hn::Set(d, Table::log2_e), shifter), n = exponent - shifter;
    const V r = hn::NegMulAdd(n, hn::Set(d, Table::ln2_hi), t.hi) + hn::NegMulAdd(n, hn::Set(d, Table::ln2_lo), t.lo);
    const auto fraction = hn::BitCast(du, Polynomial(d, r, Table::exp));
    const V e = hn::BitCast(d, fraction + hn::ShiftLeft<fraction_bits>(hn::BitCast(du, exponent)));
    const V nan = hn::Set(d, std::numeric_limits<N>::quiet_NaN());
    return hn::IfThenElse(hn::Le(hn::Abs(t.hi), hn::Set(d, limit_)), e, nan);
  }

  /// log(2) in three parts, two of which are so short that their products with the exponents are exact.
  static constexpr N most_exponents = sizeof(N) == 4 ? N(0x1p13) : N(0x1p20);
  static constexpr N ln2(int part) {
    constexpr N parts[2][3] = {{N(0x1.62cp-1), N(0x1.214p-12), N(0x1.fbe8e8p-23)},
                               {N(0x1.62e42feep-1), N(0x1.a39ef356p-33), N(0x1.93c7673007e5fp-65)}};
    return parts[sizeof(N) == 4 ? 0 : 1][part];
  }

  N beta_, shift_ = 0, limit_, lowest_sum_, highest_sum_;
  bool derivatives_;
};

/// Magnitudes are scaled by a power of two, which is exact, so that the largest of a block is nearly 1.
template <class T>
class LpPowers {
 public:
  using N = T;
  using D = hn::ScalableTag<N>;
  using V = hn::Vec<D>;
  using M = hn::Mask<D>;
  using Reducer = spec::Lp<T>;

  LpPowers(const KernelChoice& choice, bool derivatives, Index) : p_(static_cast<N>(choice.parameter)) {
    const N room = exponent_room<N>(derivatives) - N(derivatives ? 0 : std::numeric_limits<N>::digits);
    // The root of a sum must have room as well; and slopes, which grow beyond all bounds near zero for p < 1.
    lowest_sum_ = std::exp2(-room * std::min(N(1), p_));
    highest_sum_ = std::exp2(room * std::min(N(1), p_));
    if (derivatives && p_ < 1) lowest_magnitude_ = std::exp2(-room / (1 - p_));
    root_ = 1 / p_;
    root_rest_ = std::fma(-p_, root_, N(1)) / p_;
    reducer.p = choice.parameter;
  }

  static bool needs_range() { return true; }
  void set_range(const FiniteRange<N>& range) {
    const N largest = std::max(std::abs(range.lowest), std::abs(range.highest));
    constexpr int most = std::numeric_limits<N>::max_exponent - 2;
    const int exponent = largest == 0 ? 0 : std::min(most, std::max(-most, std::ilogb(largest) + 1));
    scale_ = std::ldexp(N(1), -exponent);
    unscale_ = std::ldexp(N(1), exponent);
  }
  static N zero_power() { return 0; }

  /// Not zero unless x is, so that windows of zeros are known by their sums.
  HWY_INLINE V power(D d, V x) const {
    const V a = magnitude(d, x);
    const V nan = hn::Set(d, std::numeric_limits<N>::quiet_NaN()), tiny = hn::Set(d, std::numeric_limits<N>::min());
    const V bounded = hn::Max(raise(a, p_), tiny);
    const M is_fit = hn::And(hn::Le(a, hn::Set(d, N(4))), hn::Ge(a, hn::Set(d, lowest_magnitude_)));
    return hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), hn::IfThenElse(is_fit, bounded, nan));
  }
  HWY_INLINE V slope(D d, V x) const {
    const V size = raise(magnitude(d, x), p_ - 1);
    return hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), hn::CopySign(size, x));
  }
  HWY_INLINE V value(D d, V sum) const { return hn::Mul(root(sum), hn::Set(d, unscale_)); }
  /// y^(1-p) from y^p; 0 for a window of zeros, whose slopes are 0.
  HWY_INLINE V factor(D d, V sum) const {
    return hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), hn::Div(root(sum), sum));
  }
  HWY_INLINE M is_usable(D d, V sum) const {
    const M has_room = hn::And(hn::Ge(sum, hn::Set(d, lowest_sum_)), hn::Le(sum, hn::Set(d, highest_sum_)));
    return hn::Or(has_room, hn::Eq(sum, hn::Zero(d)));
  }
  static constexpr bool single_taps_are_exact = true, has_split_powers = false;
  static constexpr Combine combine = Combine::sum;

  Reducer reducer;
  static constexpr bool adds_zeros = false;

 private:
  HWY_INLINE V magnitude(D d, V x) const { return hn::Abs(hn::Mul(x, hn::Set(d, scale_))); }

  HWY_INLINE V raise(V a, N power) const {
    if (power == 1) return a;
    if (power == 2) return hn::Mul(a, a);
    if (power == 3) return hn::Mul(hn::Mul(a, a), a);
    return raise_to_any(a, power);
  }
  static HWY_NOINLINE V raise_to_any(V a, N power) { return PowPositive(D(), a, power); }
  HWY_INLINE V root(V sum) const {
    if (p_ == 1) return sum;
    if (p_ == 2) return hn::Sqrt(sum);
    return any_root(sum);
  }
  HWY_NOINLINE V any_root(V sum) const {
    const D d;
    const V power = hn::Set(d, root_);
    const Split<V> log = SplitLog(d, sum), scaled = TwoProduct(d, log.hi, power);
    const V low = hn::MulAdd(log.lo, power, hn::MulAdd(log.hi, hn::Set(d, root_rest_), scaled.lo));
    return hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), ExpOfSum(d, Split<V>{scaled.hi, low}));
  }

  N p_, root_, root_rest_, scale_ = 1, unscale_ = 1, lowest_sum_, highest_sum_, lowest_magnitude_ = 0;
};

/// Lp with p = infinity: magnitudes, of which the largest is taken where the others are summed. None of them is out of
/// range. Its derivatives are those of max, which are not made of powers.
template <class T>
class Magnitudes {
 public:
  using N = T;
  using D = hn::ScalableTag<N>;
  using V = hn::Vec<D>;
  using M = hn::Mask<D>;
  using Reducer = spec::LargestMagnitude<T>;

  Magnitudes(const KernelChoice&, bool, Index) {}

  static bool needs_range() { return false; }
  static void set_range(const FiniteRange<N>&) {}
  static N zero_power() { return 0; }
  static HWY_INLINE V power(D, V x) { return hn::Abs(x); }
  static HWY_INLINE V value(D, V largest) { return largest; }
  static HWY_INLINE M is_usable(D d, V) { return hn::Eq(hn::Zero(d), hn::Zero(d)); }  // always, NaN too
  static constexpr bool single_taps_are_exact = true, has_split_powers = false, adds_zeros = false;
  static constexpr Combine combine = Combine::max;

  Reducer reducer;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_POWERS_INL_H_
