// Per-target code: channels-first rows of windows of up to 16 columns that step cell by cell. Columns are combined in
// registers, a strip of them waits in the first-level cache, and outputs are combined from there. No include guard of
// the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_WIDE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_WIDE_INL_H_
#undef NDPOOL_FUSED_WIDE_INL_H_
#else
#define NDPOOL_FUSED_WIDE_INL_H_
#endif

#include "kernels/columns-inl.h"

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

  /// Output rows from the cursor's on; `in` is their plane. `finish(vector, output)` is what is stored. False if there
  /// was a NaN: then what was written is not to be used.
  template <class Finish>
  static bool make(const Rows& rows, const RowCursor& cursor, const RowRun& run, const E* in, E* out,
                   const Finish& finish) {
    const Axis& axis = rows.horizontal.window;
    Window window(rows, cursor, in);
    E columns[most_columns];
    V seen = hn::Zero(D());
    // Short rows wait for one another: what was just written cannot be read at other places without a stall.
    const Index pitch = std::min(strip, axis.output) + axis.kernel - 1, together = most_columns / pitch;
    for (Index done = 0; done < run.count; done += together) {
      const RowRun some{std::min(together, run.count - done), run.in_step, run.out_step};
      for (Index next = 0; next < axis.output; next += strip) {
        const Index begin = std::min(next, axis.output - lanes);  // the last strip may make some outputs again
        const Index outputs = std::min(strip, axis.output - begin), first = axis.start(begin);
        const Index behind = first + outputs + axis.kernel - 1;
        const Index from = std::max<Index>(first, 0), to = std::min(behind, axis.input);
        for (Index r = 0; r < some.count; ++r) {
          E* const row = columns + r * pitch;
          std::fill(row, row + (from - first), identity());
          std::fill(row + (to - first), row + (behind - first), identity());
        }
        across(window, some, from, to, columns + (from - first), pitch, seen);
        with_count(axis.kernel, [&]<int N>() { along<N>(columns, pitch, some, out, begin, outputs, finish); });
      }
      window.advance(some.count * run.in_step);
      out += some.count * run.out_step;
    }
    return !C::has_nan(seen);
  }

 private:
  static constexpr Index most_taps = 16;
  static constexpr Index strip = 1024, most_columns = 2048;

  static bool is_narrow(const Axis& axis) { return !axis.adaptive && axis.kernel <= most_taps; }
  static E identity() { return Combiner<C::kind, Nan::propagate, E>::identity(); }

  /// The input rows of a window. In sums, rows on padding keep their place in the split.
  struct Window {
    const E* row[most_taps];
    Index first = 0, end = 1;  ///< rows on the input
    Index length = 1;
    Window(const Rows& rows, const RowCursor& cursor, const E* in) {
      row[0] = in;
      if (rows.vertical_count == 0) return;
      const PooledAxis& vertical = rows.vertical[0];
      const Taps taps = vertical.window.taps(cursor.vertical_position(0));
      first = taps.first_tap;
      end = first + taps.count;
      length = taps.length;
      for (Index t = first; t < end; ++t) row[t] = in + (taps.first + (t - first) * taps.step) * vertical.stride.in;
    }
    void advance(Index step) {
      for (Index t = first; t < end; ++t) row[t] += step;
    }
  };

  /// Calls f(from) for vectors of cells, of which the last begins where it still fits.
  template <class F>
  static HWY_INLINE void for_each_vector(Index begin, Index end, const F& f) {
    for (Index i = begin; i < end; i += lanes) f(std::min(i, end - lanes));
  }

  static HWY_INLINE V combine(V a, V b) { return C::combine(a, b); }

  /// Columns from one on, at least a vector of them: windows without a cell do not come here. Maxima and minima leave
  /// out what is on padding.
  static void across(const Window& window, const RowRun& run, Index begin, Index end, E* columns, Index pitch,
                     V& seen) {
    if (C::kind == Combine::sum && window.end - window.first < window.length)
      return sum_cut(window, run, begin, end, columns, pitch);
    const E* const* rows = window.row + window.first;
    with_count(window.end - window.first, [&]<int N>() { across_of<N>(rows, run, begin, end, columns, pitch, seen); });
  }
  template <int N>
  static HWY_NOINLINE void across_of(const E* const* given_rows, const RowRun& run, Index begin, Index end, E* columns,
                                     Index pitch, V& all_seen) {
    const E* rows[N];
    std::copy_n(given_rows, N, rows);
    V seen = all_seen;
    const Index step = run.in_step;
    for (Index r = 0; r < run.count; ++r, begin += step, end += step, columns += pitch)
      for_each_vector(begin, end, [&](Index i) HWY_ATTR {
        const auto leaf = [&](int t) HWY_ATTR { return C::load(rows[t] + i); };
        if constexpr (C::watches)
          seen = hn::Add(seen, fold_split<0, N>(leaf, [](V a, V b) HWY_ATTR { return hn::Add(a, b); }));
        C::store(fold_split<0, N>(leaf, [](V a, V b) HWY_ATTR { return combine(a, b); }), columns + (i - begin));
      });
    all_seen = seen;
  }
  /// Rows on padding keep their place in the split.
  static HWY_NOINLINE void sum_cut(const Window& window, const RowRun& run, Index begin, Index end, E* columns,
                                   Index pitch) {
    const V nothing = hn::Set(D(), static_cast<E>(-0.0));  // changes no number, not even another -0
    for (Index r = 0; r < run.count; ++r, begin += run.in_step, end += run.in_step, columns += pitch)
      for_each_vector(begin, end, [&](Index i) HWY_ATTR {
        const auto leaf = [&](Index t) HWY_ATTR {
          return t < window.first || t >= window.end ? nothing : C::load(window.row[t] + i);
        };
        C::store(fold_split<C>(window.length, leaf), columns + (i - begin));
      });
  }

  template <int N, class Finish>
  static HWY_NOINLINE void along(const E* columns, Index pitch, const RowRun& run, E* out, Index begin, Index outputs,
                                 const Finish& given_finish) {
    const Finish finish = given_finish;  // the loop's alone, so that it can live in registers
    const Index step = run.out_step;
    for (Index r = 0; r < run.count; ++r, columns += pitch, out += step)
      for_each_vector(begin, begin + outputs, [&](Index output) HWY_ATTR {
        const E* from = columns + (output - begin);
        const auto leaf = [&](int t) HWY_ATTR { return C::load(from + t); };
        C::store(finish(fold_split<0, N>(leaf, [](V a, V b) HWY_ATTR { return combine(a, b); }), output), out + output);
      });
  }

  /// Calls f.operator()<count>().
  template <int N = 1, class F>
  static void with_count(Index count, const F& f) {
    if (count == N) return f.template operator()<N>();
    if constexpr (N < most_taps) with_count<N + 1>(count, f);
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_WIDE_INL_H_
