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

/// What the windows of one output row are divided by.
class Divisors {
 public:
  Divisors(const Job& job, const RowCursor& cursor) : axis_(job.rows.horizontal.window), average_(job.choice.average) {
    for (int v = 0; v < job.rows.vertical_count; ++v)
      vertical_taps_ *= counted(job.rows.vertical[v].window.taps(cursor.vertical_position(v)));
  }
  Index of_output(Index output) const { return given() ? average_.divisor : vertical_taps_ * counted(axis_.taps(output)); }
  /// The first output behind `output` that may have another divisor.
  Index end_of_run(Index output) const {
    if (given()) return axis_.output;
    if (axis_.adaptive) return output + 1;
    // Between the first and the last window that touch an edge all taps are on the input.
    const Index last_start = axis_.input - 1 - (axis_.kernel - 1) * axis_.dilation;
    const bool is_full = axis_.start(output) >= 0 && axis_.start(output) <= last_start;
    return is_full ? std::min(axis_.output, (last_start + axis_.lo) / axis_.stride + 1) : output + 1;
  }

 private:
  bool given() const { return average_.divisor != AverageOptions::no_divisor; }
  Index counted(const Taps& taps) const { return average_.count_include_pad ? taps.count + taps.padded : taps.count; }

  const Axis& axis_;
  const AverageOptions& average_;
  Index vertical_taps_ = 1;
};

/// Writes the lanes of one output pixel, or of a run of pixels that have the same divisor.
template <class T>
class Output {
 public:
  Output(const Job& job, const RowCursor& cursor)
      : rows_(job.rows), job_(job), cursor_(cursor), row_(static_cast<T*>(job.out) + cursor.out_offset()) {}

  /// Outputs [begin, end): o is at `(o - begin) * step * inner` of the values.
  template <class A>
  void write(const A* values, Index step, Index begin, Index end) {
    write_with(values, step, begin, end, [](A value) { return clamp_to<T>(value); });
  }

  template <class A>
  void write_sums(const A* values, Index step, Index begin, Index end) {
    if (!job_.choice.averages) return write(values, step, begin, end);
    if constexpr (std::is_floating_point_v<T>) return write_averages<Rounding::half_even>(values, step, begin, end);
    switch (job_.choice.average.rounding) {
      case Rounding::half_even: return write_averages<Rounding::half_even>(values, step, begin, end);
      case Rounding::toward_zero: return write_averages<Rounding::toward_zero>(values, step, begin, end);
      case Rounding::floor: return write_averages<Rounding::floor>(values, step, begin, end);
      case Rounding::half_away: return write_averages<Rounding::half_away>(values, step, begin, end);
    }
  }

 private:
  template <Rounding rounding, class A>
  void write_averages(const A* values, Index step, Index begin, Index end) {
    const Divisors divisors(job_, cursor_);
    for (Index output = begin; output < end;) {
      const Index by = divisors.of_output(output), run_end = std::min(end, divisors.end_of_run(output));
      write_with(values + (output - begin) * step * rows_.inner.extent, step, output, run_end,
                 [by](A value) { return divide<rounding, T>(value, by); });
      output = run_end;
    }
  }

  template <class A, class Finish>
  void write_with(const A* values, Index step, Index begin, Index end, Finish finish) {
    const Index inner = rows_.inner.extent;
    if (rows_.out_is_packed() && step == 1) {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < (end - begin) * inner; ++i) row_[begin * inner + i] = finish(values[i]);
      return;
    }
    for (Index output = begin; output < end; ++output)
      for (Index lane = 0; lane < inner; ++lane)
        row_[output * rows_.horizontal.out_stride + lane * rows_.inner.out_stride] =
            finish(values[(output - begin) * step * inner + lane]);
  }

  const Rows& rows_;
  const Job& job_;
  const RowCursor& cursor_;
  T* row_;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FINISH_INL_H_
