// Per-target code: channels-first rows of windows of up to 16 columns that step cell by cell. Columns are combined in
// registers, a strip of them waits in the first-level cache, and outputs are combined from there. No include guard of
// the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_WIDE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_WIDE_INL_H_
#undef NDPOOL_FUSED_WIDE_INL_H_
#else
#define NDPOOL_FUSED_WIDE_INL_H_
#endif

#include "kernels/forward/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

template <class C>
class FusedWide {
 public:
  using E = typename C::Element;
  using D = typename C::D;
  using V = typename C::V;
  static constexpr Index lanes = C::lanes;

  static bool can_make(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    if (!C::is_common || rows.inner.extent != 1 || rows.vertical_count > 1 || !is_narrow(axis)) return false;
    if (rows.vertical_count == 1 && !is_narrow(rows.vertical[0].window)) return false;
    return axis.stride == 1 && axis.dilation == 1 && axis.output >= lanes && axis.input >= lanes;
  }

  /// Output rows from one on, the same ones of some planes. `in` is the first plane, `out` the first output;
  /// `finish(vector, output, row)` is what is stored. False if there was a NaN: then what was written is not to be
  /// used.
  template <class Finish>
  static bool make(const Rows& rows, Index first_row, Index count, Index planes, const E* in, E* out, bool stream,
                   const Finish& finish) {
    const Axis& axis = rows.horizontal.window;
    E columns[most_columns];
    V seen = hn::Zero(D());
    // Rows wait for one another: what was just written cannot be read at other places without a stall.
    const Index pitch = std::min(strip, axis.output) + axis.kernel - 1,
                together = std::min(count, most_columns / pitch);
    const Strides step = rows.loop_count > 0 ? rows.loops[0].stride : Strides{};
    const Index out_step = rows.vertical_count > 0 ? rows.vertical[0].stride.out : 0;
    const bool streams = stream && rows_stream<C>(axis, out, out_step, step.out);
    for (Index next = 0; next < axis.output; next += strip) {
      const Index begin = std::min(next, axis.output - lanes);  // the last strip may make some outputs again
      const Index outputs = std::min(strip, axis.output - begin), first = axis.start(begin);
      const Index behind = first + outputs + axis.kernel - 1;
      const Index from = std::max<Index>(first, 0), to = std::min(behind, axis.input);
      std::fill_n(columns, together * pitch, identity());  // what is not overwritten is padding
      for (Index plane = 0; plane < planes; ++plane)
        for (Index done = 0; done < count; done += together) {
          const Index some = std::min(together, count - done);
          for (Index r = 0; r < some;) {
            const Window window(rows, first_row + done + r, some - r, in + plane * step.in + from);
            across(window, to - from, columns + r * pitch + (from - first), pitch, seen);
            r += window.run.count;
          }
          E* const first_out = out + plane * step.out + done * out_step;
          with_count<most_taps>(axis.kernel, [&]<int N>() {
            along<N>(columns, pitch, {some, 0, out_step}, first_out, begin, outputs, done, streams, finish);
          });
        }
    }
    return !C::is_unfit(seen);
  }

 private:
  static constexpr Index most_taps = 16;
  static constexpr Index strip = 1024, most_columns = 2048;
  static_assert(strip + most_taps <= no_row_length);

  static bool is_narrow(const Axis& axis) { return !axis.adaptive && axis.kernel <= most_taps; }
  static E identity() { return Combiner<C::kind, Nan::propagate, E>::identity(); }

  /// The input rows of a window, from one of their cells on, and how many windows below have as many. In sums, rows on
  /// padding keep their place in the split; maxima and minima leave them out.
  struct Window {
    const E* row[most_taps];
    Index count = 1;
    RowRun run;
    Window(const Rows& rows, Index position, Index most, const E* in) {
      row[0] = in;
      if (rows.vertical_count == 0) return;
      const PooledAxis& vertical = rows.vertical[0];
      const Taps taps = vertical.window.taps(position);
      const auto real = [&](Index t) { return in + (taps.first + t * taps.step) * vertical.stride.in; };
      if (C::kind == Combine::sum && taps.count < taps.length) {
        for (Index t = 0; t < taps.length; ++t) row[t] = no_row<E>();
        for (Index t = 0; t < taps.count; ++t) row[taps.first_tap + t] = real(t);
        count = taps.length;
        return;
      }
      for (Index t = 0; t < taps.count; ++t) row[t] = real(t);
      count = taps.count;
      const Range full = vertical.window.full_outputs();
      if (position >= full.begin && position < full.end)
        run = {std::min(most, full.end - position), vertical.window.stride * vertical.stride.in, 0};
    }
  };
  /// Calls f(from) for vectors of cells, of which the last begins where it still fits.
  template <class F>
  static HWY_INLINE void for_each_vector(Index begin, Index end, const F& f) {
    for (Index i = begin; i < end; i += lanes) f(std::min(i, end - lanes));
  }

  static HWY_INLINE V combine(V a, V b) { return C::combine(a, b); }

  /// The columns of a window and of those below, at least a vector of them: windows without a cell do not come here.
  static void across(const Window& window, Index length, E* columns, Index pitch, V& seen) {
    with_count<most_taps>(window.count, [&]<int N>() { across_of<N>(window, length, columns, pitch, seen); });
  }
  template <int N>
  static HWY_NOINLINE void across_of(const Window& window, Index length, E* columns, Index pitch, V& all_seen) {
    const E* rows[N];
    std::copy_n(window.row, N, rows);
    V seen = all_seen;
    const RowRun run = window.run;
    const auto next = [&](Index count) NDPOOL_HOT {
      for (int t = 0; t < N; ++t) rows[t] += count * run.in_step;
      columns += count * pitch;
    };
    // Where windows step row by row, each has but its last row for itself.
    bool slides = false;
    if constexpr (N > 1) slides = run.in_step == rows[1] - rows[0];
    Index r = 0;
    // Two windows share all rows but one each; only sums are not to be shared, because of their split.
    if constexpr (C::kind != Combine::sum && N >= 3)
      for (; slides && r + 2 <= run.count; r += 2, next(2))
        for_each_vector(0, length, [&](Index i) NDPOOL_HOT {
          const auto leaf = [&](int t) NDPOOL_HOT { return C::load(rows[t] + i); };
          const V above = leaf(0), below = C::load(rows[N - 1] + run.in_step + i);
          const V shared = fold_split<1, N - 1>(leaf, [](V a, V b) NDPOOL_HOT { return combine(a, b); });
          if constexpr (C::watches) seen = hn::Add(seen, hn::Add(leaf(N - 1), below));
          C::store(combine(above, shared), columns + i);
          C::store(combine(shared, below), columns + pitch + i);
        });
    for (; r < run.count; ++r, next(1))
      for_each_vector(0, length, [&](Index i) NDPOOL_HOT {
        const auto leaf = [&](int t) NDPOOL_HOT { return C::load(rows[t] + i); };
        if constexpr (C::watches)
          for (int t = slides ? N - 1 : 0; t < N; ++t) seen = hn::Add(seen, leaf(t));
        C::store(fold_split<0, N>(leaf, [](V a, V b) NDPOOL_HOT { return combine(a, b); }), columns + i);
      });
    if constexpr (C::watches)  // what no window has for itself
      for_each_vector(0, length, [&](Index i) NDPOOL_HOT {
        for (int t = 0; t < N - 1; ++t) seen = hn::Add(seen, C::load(window.row[t] + i));
      });
    all_seen = seen;
  }

  template <int N, class Finish>
  static HWY_NOINLINE void along(const E* columns, Index pitch, const RowRun& run, E* out, Index begin, Index outputs,
                                 Index first_row, bool streams, const Finish& given_finish) {
    const Finish finish = given_finish;  // the loop's alone, so that it can live in registers
    const Index step = run.out_step;
    for (Index r = 0; r < run.count; ++r, columns += pitch, out += step)
      for_each_vector(begin, begin + outputs, [&](Index output) NDPOOL_HOT {
        const E* from = columns + (output - begin);
        const auto leaf = [&](int t) NDPOOL_HOT { return C::load(from + t); };
        C::store(
            finish(fold_split<0, N>(leaf, [](V a, V b) NDPOOL_HOT { return combine(a, b); }), output, first_row + r),
            out + output, streams);
      });
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_WIDE_INL_H_
