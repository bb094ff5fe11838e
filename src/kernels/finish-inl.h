// Per-target code: what becomes of combined windows on their way into the output. No include guard of the usual kind:
// see rows-inl.h.
#if defined(NDPOOL_FINISH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FINISH_INL_H_
#undef NDPOOL_FINISH_INL_H_
#else
#define NDPOOL_FINISH_INL_H_
#endif

#include "kernels/rows-inl.h"

#include <ndpool/spec/average.hpp>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

template <class T, class A>
HWY_INLINE T clamp_to(A value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(A)) {
    const A lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
    value = value < lowest ? lowest : value;
    value = highest < value ? highest : value;
  }
  return static_cast<T>(value);
}

/// A quotient of two 32-bit numbers, rounded. The nearest double of such a quotient is on the same side of every
/// half as the quotient itself, so rounding it rounds the exact number.
template <Rounding rounding>
HWY_INLINE double round_quotient(double quotient) {
  constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves no bits behind the point
  const double nearest = (quotient + shifter) - shifter;
  if constexpr (rounding == Rounding::half_even) return nearest;
  if constexpr (rounding == Rounding::half_away) {
    const double magnitude = (quotient < 0 ? -quotient : quotient) + 0.5;
    double below = (magnitude + shifter) - shifter;
    below -= below > magnitude ? 1.0 : 0.0;
    return quotient < 0 ? -below : below;
  }
  const double floor = nearest - (nearest > quotient ? 1.0 : 0.0);
  if constexpr (rounding == Rounding::toward_zero) return floor + ((quotient < 0) & (floor < quotient) ? 1.0 : 0.0);
  return floor;
}

template <Rounding rounding, class T, class A>
HWY_INLINE T divide(A sum, Index divisor) {
  if constexpr (std::is_floating_point_v<T>)
    return sum / static_cast<T>(divisor);
  else if constexpr (sizeof(A) == 4)
    return clamp_to<T>(static_cast<std::int64_t>(
        round_quotient<rounding>(static_cast<double>(sum) / static_cast<double>(divisor))));
  else
    return clamp_to<T>(spec::round_divide(sum, static_cast<A>(divisor), rounding));
}

/// Writes the lanes of one output pixel, or of a run of pixels that have the same divisor.
template <class T>
class Output {
 public:
  Output(const Job& job, const RowCursor& cursor)
      : rows_(job.rows), choice_(job.choice), row_(static_cast<T*>(job.out) + cursor.out_offset()) {
    for (int v = 0; v < rows_.vertical_count; ++v) {
      const Taps taps = rows_.vertical[v].window.taps(cursor.vertical_position(v));
      vertical_taps_ *= choice_.average.count_include_pad ? taps.count + taps.padded : taps.count;
    }
  }

  template <class A>
  void write(const A* values, Index step) {
    write_with(values, step, 0, outputs(), [](A value) { return clamp_to<T>(value); });
  }

  template <class A>
  void write_sums(const A* values, Index step) {
    if (!choice_.averages) return write(values, step);
    if constexpr (std::is_floating_point_v<T>) return write_averages<Rounding::half_even>(values, step);
    switch (choice_.average.rounding) {
      case Rounding::half_even: return write_averages<Rounding::half_even>(values, step);
      case Rounding::toward_zero: return write_averages<Rounding::toward_zero>(values, step);
      case Rounding::floor: return write_averages<Rounding::floor>(values, step);
      case Rounding::half_away: return write_averages<Rounding::half_away>(values, step);
    }
  }

 private:
  Index outputs() const { return rows_.horizontal.window.output; }

  Index divisor(Index output) const {
    if (choice_.average.divisor != AverageOptions::no_divisor) return choice_.average.divisor;
    const Taps taps = rows_.horizontal.window.taps(output);
    return vertical_taps_ * (choice_.average.count_include_pad ? taps.count + taps.padded : taps.count);
  }

  template <Rounding rounding, class A>
  void write_averages(const A* values, Index step) {
    for (Index begin = 0; begin < outputs();) {
      const Index by = divisor(begin);
      Index end = begin + 1;
      while (end < outputs() && divisor(end) == by) ++end;
      write_with(values, step, begin, end, [by](A value) { return divide<rounding, T>(value, by); });
      begin = end;
    }
  }

  template <class A, class Finish>
  void write_with(const A* values, Index step, Index begin, Index end, Finish finish) {
    const Index inner = rows_.inner.extent;
    if (rows_.out_is_packed() && step == 1) {
      NDPOOL_INDEPENDENT
      for (Index i = begin * inner; i < end * inner; ++i) row_[i] = finish(values[i]);
      return;
    }
    for (Index output = begin; output < end; ++output)
      for (Index lane = 0; lane < inner; ++lane)
        row_[output * rows_.horizontal.out_stride + lane * rows_.inner.out_stride] =
            finish(values[output * step * inner + lane]);
  }

  const Rows& rows_;
  const KernelChoice& choice_;
  T* row_;
  Index vertical_taps_ = 1;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FINISH_INL_H_
