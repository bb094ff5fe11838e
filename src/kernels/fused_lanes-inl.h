// Per-target code: rows of small windows with lanes behind the last pooled axis, in registers: whole vectors of columns
// slide along the row. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_LANES_INL_H_
#undef NDPOOL_FUSED_LANES_INL_H_
#else
#define NDPOOL_FUSED_LANES_INL_H_
#endif

#include "kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Makes output rows whose lanes behind the last pooled axis fill vectors: columns slide along the row.
template <class C>
class FusedLanes {
 public:
  using E = typename C::Element;
  using V = typename C::V;
  static constexpr Index lanes = C::lanes;
  static constexpr int vectors = 2;  ///< a cache line at a time
  static constexpr Index prefetch_bytes = 2048;

  static bool can_make(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    if (rows.inner.extent < vectors * lanes) return false;
    // Taps that are not kept in registers are read again; far apart in memory, they would push each other out of cache.
    if (!axis.adaptive && axis.kernel <= 3) return true;
    return axis.kernel <= most_fused_rows && rows.inner.extent * static_cast<Index>(sizeof(E)) <= 1024;
  }

  /// Output rows. `finish.of_pixel(vector, output)` is what is stored. False if there was a NaN: then what was written
  /// is not to be used.
  template <class Finish>
  static bool make(const Rows& rows, const Columns<C>& columns, const RowRun& run, E* out, bool stream,
                   const Finish& finish) {
    return with_row_count<C>(
        columns.count, [&]<int R>() HWY_ATTR { return with_rows<R, Finish>(rows, columns, run, out, stream, finish); });
  }

 private:
  /// Neighbouring vectors: a cache line of floats.
  struct Pair {
    V first, second;
  };
  static HWY_INLINE Pair combine(const Pair& a, const Pair& b) {
    return {C::combine(a.first, b.first), C::combine(a.second, b.second)};
  }

  template <int R, class Finish>
  static HWY_NOINLINE bool with_rows(const Rows& rows, const Columns<C>& all_columns, const RowRun& run, E* out,
                                     bool stream, const Finish& finish) {
    const Index inner = rows.inner.extent;
    Columns<C> columns = all_columns.template first_rows<R>();
    // Some pixels with all their lanes at a time, so that memory is walked through nearly in order.
    const Axis& axis = rows.horizontal.window;
    const Index pixels = std::max<Index>(8, 4096 / (inner * static_cast<Index>(sizeof(E))));
    const Index kept = axis.dilation == 1 ? axis.kernel - axis.stride : 0;
    for (Index row = 0;;) {
      const bool streams =
          stream && reinterpret_cast<std::uintptr_t>(out) % (lanes * sizeof(E)) == 0 && inner % lanes == 0;
      if (!axis.adaptive && kept <= 0 && axis.kernel >= 2 && axis.kernel <= 4) {
        if (axis.kernel == 2)
          apart<R, 2>(rows, columns, out, streams, finish);
        else if (axis.kernel == 3)
          apart<R, 3>(rows, columns, out, streams, finish);
        else
          apart<R, 4>(rows, columns, out, streams, finish);
      } else {
        for (Index begin = 0; begin < axis.output; begin += pixels)
          for (Index lane = 0; lane < inner; lane += vectors * lanes) {
            const Index from = std::min(lane, inner - vectors * lanes);
            const Range range = {begin, std::min(begin + pixels, axis.output)};
            if (axis.adaptive || axis.kernel > 3 || axis.kernel < 2)
              one_by_one<R>(rows, columns, out, from, range, streams, finish);
            else if (axis.kernel == 2)
              along<R, 2, 1>(rows, columns, out, from, range, streams, finish);
            else if (kept == 2)
              along<R, 3, 2>(rows, columns, out, from, range, streams, finish);
            else
              along<R, 3, 1>(rows, columns, out, from, range, streams, finish);
          }
      }
      if (++row == run.count) return !columns.saw_nan();
      columns.template advance<R>(run.in_step);
      out += run.out_step;
    }
  }

  /// Windows with more taps, and bins. Taps outside the input keep their place in the split.
  template <int R, class Finish>
  static HWY_INLINE void one_by_one(const Rows& rows, Columns<C>& columns, E* out, Index lane, Range range, bool stream,
                                    const Finish& finish) {
    const Axis& axis = rows.horizontal.window;
    const Index inner = rows.inner.extent;
    for (Index output = range.begin; output < range.end; ++output) {
      const Taps taps = axis.taps(output);
      for (int v = 0; v < vectors; ++v) {
        const Index from = taps.first * inner + lane + v * lanes, step = taps.step * inner;
        V all = C::identity();
        if constexpr (C::kind == Combine::sum) {
          all = fold_split<C>(taps.length, [&](Index t) HWY_ATTR {
            const Index real = t - taps.first_tap;
            return real < 0 || real >= taps.count ? C::identity() : columns.template at<R>(from + real * step);
          });
        } else {
          for (Index t = 0; t < taps.count; ++t) all = C::combine(all, columns.template at<R>(from + t * step));
        }
        C::store(finish.of_pixel(all, output), out + output * inner + lane + v * lanes, stream);
      }
    }
  }

  /// Columns of a pixel, which may be outside the row.
  template <int R>
  static HWY_INLINE Pair at(const Rows& rows, Columns<C>& columns, Index pixel, Index lane) {
    if (pixel < 0 || pixel >= rows.horizontal.window.input) return {C::identity(), C::identity()};
    const Index element = pixel * rows.inner.extent + lane;
    columns.template prefetch<R>(element + prefetch_bytes / static_cast<Index>(sizeof(E)));
    const auto [first, second] = columns.template two_at<R>(element);
    return {first, second};
  }

  template <class Finish>
  static HWY_INLINE void store(const Pair& all, Index output, E* to, bool stream, const Finish& finish) {
    C::store(finish.of_pixel(all.first, output), to, stream);
    C::store(finish.of_pixel(all.second, output), to + lanes, stream);
  }

  /// Windows that share no tap: memory is walked through in order.
  template <int R, int kernel, class Finish>
  static HWY_INLINE void apart(const Rows& rows, Columns<C>& columns, E* out, bool stream, const Finish& given_finish) {
    const Axis axis = rows.horizontal.window;
    const Index inner = rows.inner.extent;
    const Finish finish = given_finish;
    for (Index output = 0; output < axis.output; ++output)
      for (Index next = 0; next < inner; next += vectors * lanes) {
        const Index lane = std::min(next, inner - vectors * lanes);
        const Index pixel = output * axis.stride - axis.lo;
        const auto tap = [&](int t) HWY_ATTR { return at<R>(rows, columns, pixel + t * axis.dilation, lane); };
        const auto both = [](const Pair& a, const Pair& b) HWY_ATTR { return combine(a, b); };
        store(fold_split<0, kernel>(tap, both), output, out + output * inner + lane, stream, finish);
      }
  }

  /// The last `kept` taps of a window are the first ones of the next.
  template <int R, int kernel, int kept, class Finish>
  static HWY_INLINE void along(const Rows& rows, Columns<C>& columns, E* out, Index lane, Range range, bool stream,
                               const Finish& given_finish) {
    static_assert(kernel <= 3 && kept >= 1);
    const Axis axis = rows.horizontal.window;
    const Index inner = rows.inner.extent;
    const Finish finish = given_finish;
    Pair taps[kernel];
    const auto tap = [&](Index pixel) HWY_ATTR { return at<R>(rows, columns, pixel, lane); };
    const Index start = axis.start(range.begin);
    taps[kernel - kept] = tap(start);
    if constexpr (kept == 2) taps[kernel - 1] = tap(start + axis.dilation);
    for (Index output = range.begin; output < range.end; ++output) {
      const Index pixel = output * axis.stride - axis.lo;
      taps[0] = taps[kernel - kept];
      if constexpr (kept == 2) taps[1] = taps[2];
      if constexpr (kept < 2) taps[1] = tap(pixel + axis.dilation);
      if constexpr (kernel == 3) taps[2] = tap(pixel + 2 * axis.dilation);
      Pair all = combine(taps[0], taps[1]);
      if constexpr (kernel == 3) all = combine(all, taps[2]);
      store(all, output, out + output * inner + lane, stream, finish);
    }
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_LANES_INL_H_
