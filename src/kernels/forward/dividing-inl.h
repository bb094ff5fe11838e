// Per-target code: what becomes of combined windows in registers on their way into the output. finish-inl.h has the
// same for temporary rows. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_DIVIDING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_DIVIDING_INL_H_
#undef NDPOOL_DIVIDING_INL_H_
#else
#define NDPOOL_DIVIDING_INL_H_
#endif

#include "kernels/forward/columns-inl.h"
#include "kernels/forward/divisors.hpp"

#include <bit>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// A division by one number as a multiplication by its reciprocal, which is kept in two parts of the same sign, the
/// first rounded towards 0. The second brings what the first lacks, less than 2^-23 of it, with 24 digits of its own,
/// so that the sum of both products is within 2^-46 of the quotient when it is rounded, once. A quotient by an integer
/// that is no power of two is at least 2^-25 / divisor away from every half between two floats (its numerator would
/// need more than 24 digits to be nearer), so it is rounded as a division rounds it: for divisors below 2^20. Zeros and
/// infinities keep their signs, too. Only results so small that they have lost digits may differ, which the processor
/// tells (InexactFlag).
template <class D>
class Reciprocal {
 public:
  using V = hn::Vec<D>;
  /// True if there is one that needs no more instructions than this: one that multiplies and adds and rounds once.
  static bool fits(Index divisor) {
    const auto size = static_cast<std::size_t>(std::abs(divisor));
    return HWY_TARGET == HWY_AVX2 && size < std::size_t{1} << 20 && !std::has_single_bit(size) && divisor != 0;
  }
  Reciprocal() : first_(hn::Zero(D())), second_(first_) {}
  explicit Reciprocal(Index divisor) : Reciprocal() {
    const double exact = 1.0 / static_cast<double>(divisor);
    auto first = static_cast<float>(exact);
    if (std::abs(static_cast<double>(first)) > std::abs(exact)) first = std::nextafter(first, 0.0F);
    first_ = hn::Set(D(), first);
    second_ = hn::Set(D(), static_cast<float>(exact - static_cast<double>(first)));
  }
  HWY_INLINE V times(V v) const { return hn::MulAdd(v, first_, hn::Mul(v, second_)); }

 private:
  V first_, second_;
};

/// Leaves windows as they are, or divides them as averages are: floats by a true division, or what gives the same bits;
/// sums of integers rounded half to even.
template <class C>
class Dividing {
 public:
  using T = typename C::T;
  using D = typename C::D;
  using V = typename C::V;

  Dividing() : by_(hn::Set(D(), T(1))) {}

  /// Floats may be divided by their reciprocals.
  static constexpr bool has_reciprocals = std::is_same_v<T, float> && C::kind == Combine::sum;

  /// Every window by one number; with `is_quick`, by its reciprocal.
  explicit Dividing(Index divisor, [[maybe_unused]] bool is_quick = false) : Dividing() {
    if constexpr (has_reciprocals)
      if (is_quick) {
        way_ = Way::quick;
        reciprocal_ = Reciprocal<D>(divisor);
        return;
      }
    if constexpr (std::is_floating_point_v<T>) {
      // The reciprocal of a power of two is exact, so multiplying by it is dividing.
      const auto by = static_cast<T>(divisor);
      const bool is_power = has_exact_reciprocal(by);
      way_ = is_power ? Way::multiply : Way::divide;
      by_ = hn::Set(D(), is_power ? T(1) / by : by);
    } else {
      // What is added before shifting must not leave the type; a sum of as many taps is near its end.
      const bool is_power =
          divisor > 0 && divisor <= C::most_taps && std::has_single_bit(static_cast<std::size_t>(divisor));
      way_ = is_power ? Way::multiply : Way::divide;
      shift_ = is_power ? std::countr_zero(static_cast<std::size_t>(divisor)) : 0;
      divisor_ = static_cast<Real>(divisor);
    }
  }

  /// Windows of floats by what their row gives, times what their place in it does.
  explicit Dividing(const T* by_row, const T* by_output = nullptr) : Dividing() {
    way_ = by_output == nullptr ? Way::divide_rows : Way::divide_each;
    by_row_ = by_row;
    by_output_ = by_output;
  }

  /// Outputs that lie side by side, from one on.
  HWY_INLINE V operator()(V v, Index output, Index row = 0) const {
    return finish(v, row, [&]() HWY_ATTR { return hn::LoadU(D(), by_output_ + output); });
  }
  /// Lanes of one output.
  HWY_INLINE V of_pixel(V v, Index output) const {
    return finish(v, 0, [&]() HWY_ATTR { return hn::Set(D(), by_output_[output]); });
  }

 private:
  enum class Way : unsigned char { multiply, quick, divide, divide_rows, divide_each };  // what is left as it is, by 1

  template <class Each>
  HWY_INLINE V finish(V v, [[maybe_unused]] Index row, [[maybe_unused]] const Each& each) const {
    if constexpr (C::kind != Combine::sum) {
      return v;
    } else if constexpr (std::is_floating_point_v<T>) {
      if constexpr (has_reciprocals)
        if (way_ == Way::quick) return reciprocal_.times(v);
      if (way_ == Way::multiply) return hn::Mul(v, by_);
      if (way_ == Way::divide) return hn::Div(v, by_);
      const V of_row = hn::Set(D(), by_row_[row]);
      return hn::Div(v, way_ == Way::divide_rows ? of_row : hn::Mul(of_row, each()));
    } else {
      return way_ == Way::multiply ? shifted(v) : divided(v);
    }
  }

  HWY_INLINE V shifted(V v) const {
    if (shift_ == 0) return v;
    const V is_odd = hn::And(hn::ShiftRightSame(v, shift_), hn::Set(D(), T(1)));
    const V below_half = hn::Set(D(), static_cast<T>((1 << (shift_ - 1)) - 1));
    return hn::ShiftRightSame(hn::Add(hn::Add(v, below_half), is_odd), shift_);
  }

  /// What integers are divided as. A quotient is at least 1 / (2 divisor) away from every half that it is not, and a
  /// float that is off by less than 1 / 2^24 of it is nearer than that while the sum has 23 bits, as those of short
  /// integers have; doubles, while it has 52.
  using Real = std::conditional_t<C::widens_sums, float, double>;

  HWY_INLINE V divided(V v) const {
    const hn::Half<D> half;
    if constexpr (sizeof(T) == 8)
      return divided_long(v);
    else if constexpr (sizeof(T) == 4 && C::widens_sums)
      return divided_ints(v);
    else
      return hn::Combine(D(), divided_half(hn::UpperHalf(half, v)), divided_half(hn::LowerHalf(half, v)));
  }
  template <class Ints>
  HWY_INLINE Ints divided_ints(Ints v) const {
    const hn::ScalableTag<float> real;
    return hn::NearestInt(hn::Div(hn::ConvertTo(real, v), hn::Set(real, static_cast<float>(divisor_))));
  }
  template <class H>
  HWY_INLINE H divided_half(H v) const {
    if constexpr (sizeof(T) == 2)
      return hn::DemoteTo(hn::Half<D>(), divided_ints(hn::PromoteTo(hn::ScalableTag<std::int32_t>(), v)));
    else
      return hn::DemoteTo(hn::Half<D>(), hn::Round(quotients(hn::PromoteTo(hn::ScalableTag<double>(), v))));
  }
  /// Numbers of 51 bits: added to 1.5 * 2^52, they are the last bits of a double.
  HWY_INLINE V divided_long(V v) const {
    const hn::ScalableTag<double> real;
    const auto shifter = hn::Set(real, 6755399441055744.0);
    const auto offset = hn::BitCast(D(), shifter);
    const auto sums = hn::Sub(hn::BitCast(real, hn::Add(v, offset)), shifter);
    return hn::Sub(hn::BitCast(D(), hn::Add(quotients(sums), shifter)), offset);
  }
  template <class Doubles>
  HWY_INLINE Doubles quotients(Doubles sums) const {
    return hn::Div(sums, hn::Set(hn::ScalableTag<double>(), divisor_));
  }

  struct NoReciprocal {};
  Way way_ = Way::multiply;
  [[no_unique_address]] std::conditional_t<has_reciprocals, Reciprocal<D>, NoReciprocal> reciprocal_;
  V by_;
  const T* by_row_ = nullptr;
  const T* by_output_ = nullptr;
  int shift_ = 0;
  Real divisor_ = 1;
};

/// The same for windows that all have one divisor, by its reciprocal: nothing has to be asked for each of them.
template <class C>
class QuickDividing {
 public:
  using V = typename C::V;
  explicit QuickDividing(Index divisor) : reciprocal_(divisor) {}
  HWY_INLINE V operator()(V v, Index) const { return reciprocal_.times(v); }
  HWY_INLINE V of_pixel(V v, Index) const { return reciprocal_.times(v); }

 private:
  const Reciprocal<typename C::D> reciprocal_;
};
/// Sums of four integers.
template <class C>
class Quartering {
 public:
  using D = typename C::D;
  using V = typename C::V;
  HWY_INLINE V operator()(V v, Index) const {
    const D d;
    const V one = hn::Set(d, typename C::T{1});  // of what is exactly a half, the even neighbour is taken
    return hn::ShiftRight<2>(hn::Add(hn::Add(v, one), hn::And(hn::ShiftRight<2>(v), one)));
  }
  HWY_INLINE V of_pixel(V v, Index output) const { return (*this)(v, output); }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_DIVIDING_INL_H_
