// Per-target code: what becomes of combined windows on their way into the output. No include guard of the usual kind:
// see rows-inl.h.
#if defined(NDPOOL_FINISH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FINISH_INL_H_
#undef NDPOOL_FINISH_INL_H_
#else
#define NDPOOL_FINISH_INL_H_
#endif

#include "kernels/forward/divisors.hpp"
#include "kernels/forward/rows-inl.h"

#include <ndpool/spec/average.hpp>

#include <bit>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Integer averages rounded half to even. The nearest double of a quotient of two 32-bit numbers is on the same side of
/// every half as the quotient itself, so rounding it rounds the exact number; so is that of a sum of 51 bits. Longer
/// sums go through integers.
struct Nearest {
  /// Sums of 16 bits fit a float, whose quotient is as safe: a number of 24 bits is not nearer to a half than that.
  template <class Short>
  requires(sizeof(Short) == 2) HWY_INLINE std::int32_t operator()(Short sum, Index divisor) const {
    constexpr float shifter = 12582912.0F;  // 1.5 * 2^23
    const float quotient = static_cast<float>(sum) / static_cast<float>(divisor);
    return static_cast<std::int32_t>((quotient + shifter) - shifter);
  }
  HWY_INLINE std::int64_t operator()(std::int32_t sum, Index divisor) const {
    constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves no bits behind the point
    const double quotient = static_cast<double>(sum) / static_cast<double>(divisor);
    return static_cast<std::int32_t>((quotient + shifter) - shifter);
  }
  HWY_INLINE std::int64_t operator()(std::int64_t sum, Index divisor) const {
    return spec::round_divide(sum, divisor, Rounding::half_even);
  }
  spec::Wide operator()(spec::Wide sum, Index divisor) const {
    if (const auto fits = static_cast<std::int64_t>(sum); fits == sum && fits != std::numeric_limits<Index>::lowest())
      return (*this)(fits, divisor);
    return spec::round_divide<spec::Wide>(sum, divisor, Rounding::half_even);
  }
};
/// The same for sums of 32-bit integers that have 51 bits: added to 1.5 * 2^52, they are the last bits of a double.
struct NearestOfFew {
  static constexpr Index most_taps = (Index{1} << 20) - 1;
  HWY_INLINE std::int64_t operator()(std::int64_t sum, Index divisor) const {
    constexpr double shifter = 6755399441055744.0;
    constexpr auto offset = std::bit_cast<std::int64_t>(shifter);
    const double quotient = (std::bit_cast<double>(sum + offset) - shifter) / static_cast<double>(divisor);
    return std::bit_cast<std::int64_t>(quotient + shifter) - offset;
  }
};

/// Writes the lanes of one output pixel, or of a run of pixels that have the same divisor.
template <class Reduction>
class Output {
 public:
  using T = typename Reduction::Element;
  using A = typename Reduction::Accumulator;

  Output(const Job& job, const RowCursor& cursor)
      : rows_(job.rows), job_(job), cursor_(cursor), row_(static_cast<T*>(job.out) + cursor.offset().out) {}

  T* row() { return row_; }

  /// The horizontal part of every output's divisor, if whole rows are to be divided at once.
  void divide_by(const A* divisor_row) { divisor_row_ = divisor_row; }

  /// Outputs [begin, end): o is at `(o - begin) * step * inner` of the values.
  void write(const A* values, Index step, Index begin, Index end) {
    write_with(values, step, begin, end, [](A value) { return Reduction::lower(value); });
  }

  void write_sums(const A* values, Index step, Index begin, Index end) {
    if (!job_.choice.averages) return write(values, step, begin, end);
    const Rounding rounding = job_.choice.average.rounding;
    if constexpr (is_real<T>) {
      if (divisor_row_ != nullptr && step == 1 && rows_.inner.extent == 1) return write_divided(values, begin, end);
      write_averages(values, step, begin, end, [](A sum, Index divisor) { return sum / static_cast<A>(divisor); });
    } else if (rounding == Rounding::half_even) {
      if constexpr (sizeof(T) == 4)
        if (rows_.tap_count <= NearestOfFew::most_taps) return write_averages(values, step, begin, end, NearestOfFew{});
      write_averages(values, step, begin, end, Nearest{});
    } else {
      using Long = std::conditional_t<(sizeof(A) > 8), A, std::int64_t>;
      write_averages(values, step, begin, end, [rounding](A sum, Index divisor) {
        return spec::round_divide<Long>(static_cast<Long>(sum), divisor, rounding);
      });
    }
  }

 private:
  /// Sums of a packed row over its divisors, edges included. Products of counts are exact as floats.
  HWY_NOINLINE void write_divided(const A* sums, Index begin, Index end) {
    const A vertical = static_cast<A>(Divisors(job_.rows, job_.choice.average, cursor_).vertical());
    const A* divisors = divisor_row_ + begin;
    T* out = row_ + begin;
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < end - begin; ++i) out[i] = Reduction::lower(sums[i] / (vertical * divisors[i]));
  }

  template <class Divide>
  void write_averages(const A* values, Index step, Index begin, Index end, Divide divide) {
    const Divisors divisors(job_.rows, job_.choice.average, cursor_);
    const bool one_divisor = has_one_divisor(rows_.horizontal.window, job_.choice.average);
    for (Index output = begin; output < end;) {
      const Index by = divisors.of_output(output),
                  run_end = one_divisor ? end : std::min(end, divisors.end_of_run(output));
      write_with(values + (output - begin) * step * rows_.inner.extent, step, output, run_end,
                 [by, divide](A value) { return Reduction::lower(divide(value, by)); });
      output = run_end;
    }
  }

  template <class Finish>
  HWY_NOINLINE void write_with(const A* values, Index step, Index begin, Index end, Finish finish) {
    const Index inner = rows_.inner.extent;
    if (rows_.out_is_packed() && step == 1) {
      T* const to = row_ + begin * inner;  // bytes may alias anything, even the members of this object
      const Index count = (end - begin) * inner;
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < count; ++i) to[i] = finish(values[i]);
      return;
    }
    for (Index output = begin; output < end; ++output)
      for (Index lane = 0; lane < inner; ++lane)
        row_[output * rows_.horizontal.stride.out + lane * rows_.inner.stride.out] =
            finish(values[(output - begin) * step * inner + lane]);
  }

  const Rows& rows_;
  const Job& job_;
  const RowCursor& cursor_;
  T* row_;
  const A* divisor_row_ = nullptr;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FINISH_INL_H_
