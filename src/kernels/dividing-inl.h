// Per-target code: what becomes of combined windows in registers on their way into the output. finish-inl.h has the
// same for temporary rows. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_DIVIDING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_DIVIDING_INL_H_
#undef NDPOOL_DIVIDING_INL_H_
#else
#define NDPOOL_DIVIDING_INL_H_
#endif

#include "kernels/columns-inl.h"

#include <bit>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Leaves windows as they are, or divides them as averages are: floats by a true division, or what gives the same bits;
/// sums of bytes rounded half to even.
template <class C>
class Dividing {
 public:
  using T = typename C::T;
  using D = typename C::D;
  using V = typename C::V;

  Dividing() : by_(hn::Set(D(), T(1))) {}

  /// Every window by one number.
  explicit Dividing(Index divisor) : Dividing() {
    if constexpr (std::is_floating_point_v<T>) {
      // The reciprocal of a power of two is exact, so multiplying by it is dividing.
      const auto by = static_cast<T>(divisor);
      int exponent = 0;
      const bool is_power = std::abs(std::frexp(by, &exponent)) == T(0.5);
      way_ = is_power ? Way::multiply : Way::divide;
      by_ = hn::Set(D(), is_power ? T(1) / by : by);
    } else {
      // What is added before shifting must not leave 16 bits; a sum of as many taps is near their end.
      const bool is_power =
          divisor > 0 && divisor <= C::most_taps && std::has_single_bit(static_cast<std::size_t>(divisor));
      way_ = is_power ? Way::multiply : Way::divide;
      shift_ = is_power ? std::countr_zero(static_cast<std::size_t>(divisor)) : 0;
      divisor_ = static_cast<float>(divisor);
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
  enum class Way : unsigned char { multiply, divide, divide_rows, divide_each };  // what is left as it is, by 1

  template <class Each>
  HWY_INLINE V finish(V v, [[maybe_unused]] Index row, [[maybe_unused]] const Each& each) const {
    if constexpr (C::kind != Combine::sum) return v;
    if constexpr (std::is_floating_point_v<T>) {
      if (way_ == Way::multiply) return hn::Mul(v, by_);
      if (way_ == Way::divide) return hn::Div(v, by_);
      const V of_row = hn::Set(D(), by_row_[row]);
      return hn::Div(v, way_ == Way::divide_rows ? of_row : hn::Mul(of_row, each()));
    } else if constexpr (C::sums_bytes) {
      return way_ == Way::multiply ? shifted(v) : divided(v);
    } else {
      return v;
    }
  }

  HWY_INLINE V shifted(V v) const {
    if (shift_ == 0) return v;
    const V is_odd = hn::And(hn::ShiftRightSame(v, shift_), hn::Set(D(), T(1)));
    const V below_half = hn::Set(D(), static_cast<T>((1 << (shift_ - 1)) - 1));
    return hn::ShiftRightSame(hn::Add(hn::Add(v, below_half), is_odd), shift_);
  }

  /// A number of 16 bits over another is not nearer to a half than a float can tell.
  HWY_INLINE V divided(V v) const {
    const hn::Half<D> half;
    return hn::Combine(D(), divided_half(hn::UpperHalf(half, v)), divided_half(hn::LowerHalf(half, v)));
  }
  template <class H>
  HWY_INLINE H divided_half(H v) const {
    const hn::ScalableTag<std::int32_t> wide;
    const hn::ScalableTag<float> real;
    const auto quotient = hn::Div(hn::ConvertTo(real, hn::PromoteTo(wide, v)), hn::Set(real, divisor_));
    return hn::DemoteTo(hn::Half<D>(), hn::NearestInt(quotient));
  }

  Way way_ = Way::multiply;
  V by_;
  const T* by_row_ = nullptr;
  const T* by_output_ = nullptr;
  int shift_ = 0;
  float divisor_ = 1;
};

/// The same for windows that all have one divisor: nothing has to be asked for each of them.
template <class C>
class DividingAll {
 public:
  using D = typename C::D;
  using V = typename C::V;
  explicit DividingAll(Index divisor) : by_(hn::Set(D(), static_cast<typename C::T>(divisor))) {}
  HWY_INLINE V operator()(V v, Index) const { return hn::Div(v, by_); }
  HWY_INLINE V of_pixel(V v, Index) const { return hn::Div(v, by_); }

 private:
  V by_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_DIVIDING_INL_H_
