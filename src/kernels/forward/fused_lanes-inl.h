// Per-target code: rows of small windows with lanes behind the last pooled axis, in registers: whole vectors of columns
// slide along the row. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_LANES_INL_H_
#undef NDPOOL_FUSED_LANES_INL_H_
#else
#define NDPOOL_FUSED_LANES_INL_H_
#endif

#include "kernels/forward/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Makes output rows whose lanes behind the last pooled axis fill vectors. Memory is walked through in its order, pixel
/// by pixel with all lanes; columns that windows share wait in the first-level cache.
template <class C>
class FusedLanes {
 public:
  using E = typename C::Element;
  using T = typename C::T;
  using V = typename C::V;
  static constexpr Index lanes = C::lanes;
  static constexpr Index line = 2 * lanes;           ///< lanes that are made at a time: of floats, a cache line
  static constexpr Index most_in_strip = 16 * line;  ///< lanes that are walked along together

  static bool can_make(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    if (rows.inner.extent < line) return false;
    return !axis.adaptive && axis.kernel >= 2 && (axis.kernel <= 3 || (axis.kernel == 4 && axis.stride >= 4));
  }

  /// Output rows. `finish.of_pixel(vector, output)` is what is stored. False if there was a NaN: then what was written
  /// is not to be used.
  template <class Finish>
  static bool make(const Rows& rows, const Columns<C>& columns, const RowRun& run, E* out, bool stream,
                   const Finish& finish) {
    return with_row_count<C>(columns.plain_count(), [&]<int R>() HWY_ATTR {
      if constexpr (C::is_common && R > 0)
        if (!stream) return with_rows<R, false, Finish>(rows, columns, run, out, stream, finish);
      return with_rows<R, true, Finish>(rows, columns, run, out, stream, finish);
    });
  }

 private:
  /// Calls f(range) for strips of lanes that are walked along together; the last may begin inside the one before.
  template <class F>
  static HWY_INLINE void for_each_strip(Index inner, const F& f) {
    for (Index lane = 0; lane < inner;) {
      const Index left = inner - lane, begin = left < line ? inner - line : lane;
      const Index end = begin + (left < line ? line : std::min(left / line * line, most_in_strip));
      f(Range{begin, end});
      lane = end;
    }
  }

  template <int N>
  using Two = typename Columns<C>::template Two<N>;
  template <int N>
  static HWY_INLINE Two<N> combine(const Two<N>& a, const Two<N>& b) {
    const auto both = [](const Stack<C, N>& x, const Stack<C, N>& y) NDPOOL_HOT {
      return make_stack<C, N>([&](int n) NDPOOL_HOT { return C::combine(x.of[n], y.of[n]); });
    };
    return {both(a.low, b.low), both(a.high, b.high)};
  }

  /// Where outputs go, and how: those of arrays that leave the cache may pass it by.
  template <bool is_far, class Finish>
  struct Target {
    static constexpr bool may_be_far = is_far;
    E* out;
    Index row_step, inner;
    bool streams;
    Index ahead;  ///< how far ahead memory is asked for; 0 if it is not
    const Finish& finish;
    template <int N>
    HWY_INLINE void operator()(const Two<N>& all, Index output, Index lane) const {
      repeat<N>([&](int n) NDPOOL_HOT {
        E* to = out + n * row_step + output * inner + lane;
        C::store(finish.of_pixel(all.low.of[n], output), to, is_far && streams);
        C::store(finish.of_pixel(all.high.of[n], output), to + lanes, is_far && streams);
      });
    }
  };

  template <int R, bool is_far, class Finish>
  static HWY_NOINLINE bool with_rows(const Rows& rows, const Columns<C>& all_columns, const RowRun& run, E* out,
                                     bool stream, const Finish& finish) {
    const Index inner = rows.inner.extent;
    const Axis& axis = rows.horizontal.window;
    Columns<C> columns = all_columns.template first_rows<R>();
    const bool streams = stream && inner % lanes == 0 && run.out_step % lanes == 0 &&
                         reinterpret_cast<std::uintptr_t>(out) % (lanes * sizeof(E)) == 0;
    // Rows are so long that the hardware does not see the next ones coming: the next two, where two are made together.
    const Index ahead = stream ? asked_of_lanes / static_cast<Index>(sizeof(E)) : 0;
    const Index kept = axis.dilation == 1 ? axis.kernel - axis.stride : 0;
    Index row = 0;
    const auto target = [&](Index elements_ahead) HWY_ATTR {
      return Target<is_far, Finish>{out, run.out_step, inner, streams, elements_ahead, finish};
    };
    const auto next = [&](Index count) HWY_ATTR {
      columns.template advance<R>(count * run.in_step);
      out += count * run.out_step;
      row += count;
    };
    if constexpr (R == 3) {
      // Two windows below one another have two rows in common.
      if (axis.kernel == 3 && kept == 2 && run.in_step == columns.rows[1] - columns.rows[0]) {
        if (run.count >= 2) columns.template watch_first<2>(axis.input * inner);
        for (; row + 2 <= run.count; next(2)) {
          columns.rows[3] = columns.rows[2] + run.in_step;
          along<3, 2, 3, 2>(axis, columns, target(ahead > 0 ? 2 * run.in_step : 0));
        }
      }
    }
    for (; row < run.count; next(1)) {
      if (kept == 2)
        along<R, 1, 3, 2>(axis, columns, target(ahead));
      else if (kept == 1)
        axis.kernel == 2 ? along<R, 1, 2, 1>(axis, columns, target(ahead))
                         : along<R, 1, 3, 1>(axis, columns, target(ahead));
      else if (axis.kernel == 2)
        apart<R, 2>(axis, columns, target(ahead));
      else
        axis.kernel == 3 ? apart<R, 3>(axis, columns, target(ahead)) : apart<R, 4>(axis, columns, target(ahead));
    }
    return !columns.saw_unfit();
  }

  /// Columns of a pixel, which may be outside the row.
  template <int R, int N, class Target>
  static HWY_INLINE Two<N> columns_at(Columns<C>& columns, Index pixel, Index lane, const Target& target) {
    const Index element = pixel * target.inner + lane;
    if (Target::may_be_far && target.ahead != 0) columns.template prefetch<R, N>(element + target.ahead);
    constexpr int watched = N == 1 ? R : N;  // of two windows below one another, those that the pair above has not seen
    return columns.template two_at<R, N, watched>(element);
  }
  template <int N>
  static HWY_INLINE Two<N> nothing() {
    const auto none = make_stack<C, N>([](int) NDPOOL_HOT { return C::identity(); });
    return {none, none};
  }
  static bool is_inside(const Axis& axis, Index pixel) { return pixel >= 0 && pixel < axis.input; }

  /// Windows that share no tap.
  template <int R, int kernel, class Target>
  static HWY_INLINE void apart(const Axis& given_axis, Columns<C>& given_columns, const Target& given_target) {
    const Axis axis = given_axis;  // what the loops need is theirs alone, so that it can live in registers
    const Target target = given_target;
    Columns<C> columns = given_columns.template first_rows<R>();
    const auto both = [](const Two<1>& a, const Two<1>& b) NDPOOL_HOT { return combine(a, b); };
    for (Index output = 0; output < axis.output; ++output) {
      const Index pixel = axis.start(output);
      const bool is_whole = is_inside(axis, pixel) && is_inside(axis, pixel + (kernel - 1) * axis.dilation);
      for (Index i = 0; i < target.inner; i += line) {
        const Index lane = std::min(i, target.inner - line);
        const auto tap = [&](int t)
                             NDPOOL_HOT { return columns_at<R, 1>(columns, pixel + t * axis.dilation, lane, target); };
        const auto checked = [&](int t) NDPOOL_HOT {
          return is_inside(axis, pixel + t * axis.dilation) ? tap(t) : nothing<1>();
        };
        target(is_whole ? fold_split<0, kernel>(tap, both) : fold_split<0, kernel>(checked, both), output, lane);
      }
    }
    given_columns.take_seen(columns);
  }

  /// Columns that wait for the next windows, a line of lanes at a time.
  template <int N>
  class Waiting {
   public:
    HWY_INLINE Two<N> operator[](Index lane) const { return {of(lane), of(lane + lanes)}; }
    HWY_INLINE void set(Index lane, const Two<N>& columns) {
      repeat<N>([&](int n) NDPOOL_HOT {
        hn::Store(columns.low.of[n], D(), cells_[n] + lane);
        hn::Store(columns.high.of[n], D(), cells_[n] + lane + lanes);
      });
    }

   private:
    using D = typename C::D;
    HWY_INLINE Stack<C, N> of(Index lane) const {
      return make_stack<C, N>([&](int n) NDPOOL_HOT { return hn::Load(D(), cells_[n] + lane); });
    }
    HWY_ALIGN T cells_[N][most_in_strip];
  };

  /// The last `kept` taps of a window are the first ones of the next.
  template <int R, int N, int kernel, int kept, class Target>
  static HWY_INLINE void along(const Axis& axis, Columns<C>& columns, const Target& target) {
    for_each_strip(target.inner,
                   [&](const Range& range) NDPOOL_HOT { strip<R, N, kernel, kept>(axis, columns, range, target); });
  }
  template <int R, int N, int kernel, int kept, class Target>
  static HWY_INLINE void strip(const Axis& given_axis, Columns<C>& given_columns, const Range& given_range,
                               const Target& given_target) {
    static_assert(kernel <= 3 && (kept == 1 || kept == 2));
    const Axis axis = given_axis;  // what the loops need is theirs alone, so that it can live in registers
    const Range range = given_range;
    const Target target = given_target;
    Columns<C> columns = given_columns.template first_rows<(R > 0 ? R + N - 1 : 0)>();
    Waiting<N> waiting[kept];
    for (int t = 0; t < kept; ++t)
      for (Index lane = range.begin; lane < range.end; lane += line) {
        const Index pixel = t - axis.lo;
        waiting[t].set(lane - range.begin,
                       is_inside(axis, pixel) ? columns_at<R, N>(columns, pixel, lane, target) : nothing<N>());
      }
    // Of two that wait, the older one makes room for a new one.
    Waiting<N>*older = &waiting[0], *newer = &waiting[kept - 1];
    const auto pixel = [&]<bool is_whole>(Index output) NDPOOL_HOT {
      const Index first = output * axis.stride - axis.lo;
      for (Index lane = range.begin; lane < range.end; lane += line) {
        const auto tap = [&](int t) NDPOOL_HOT {
          return is_whole || is_inside(axis, first + t) ? columns_at<R, N>(columns, first + t, lane, target)
                                                        : nothing<N>();
        };
        const Index at = lane - range.begin;
        Two<N> all = (*older)[at];
        if constexpr (kept == 2) all = combine(all, (*newer)[at]);
        if constexpr (kept == 1 && kernel == 3) all = combine(all, tap(1));
        const Two<N> last = tap(kernel - 1);
        older->set(at, last);
        target(combine(all, last), output, lane);
      }
      std::swap(older, newer);
    };
    const Range whole = axis.full_outputs();
    Index output = 0;
    for (; output < std::min(whole.begin, axis.output); ++output) pixel.template operator()<false>(output);
    for (; output < whole.end; ++output) pixel.template operator()<true>(output);
    for (; output < axis.output; ++output) pixel.template operator()<false>(output);
    given_columns.take_seen(columns);
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_LANES_INL_H_
