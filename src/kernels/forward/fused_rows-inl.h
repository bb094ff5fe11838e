// Per-target code: channels-first rows of small windows, in registers: outputs are made of columns by moving lanes, and
// nothing is stored in between. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_ROWS_INL_H_
#undef NDPOOL_FUSED_ROWS_INL_H_
#else
#define NDPOOL_FUSED_ROWS_INL_H_
#endif

#include "kernels/forward/fused_pixels-inl.h"
#include "kernels/forward/row_steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Makes output rows of channels-first windows: two or three taps at stride 1 or 2, four at stride 4.
template <class C>
class FusedRow {
 public:
  using E = typename C::Element;
  using D = typename C::D;
  using V = typename C::V;
  static constexpr Index lanes = C::lanes;
  using Steps = RowSteps<C>;
  using Ends = typename Steps::Ends;

  /// True if `make` can do rows with such a window.
  static bool can_make(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    if (axis.adaptive || axis.dilation != 1) return false;
    if (rows.inner.extent == channels) return can_make_pixels(axis);
    if (rows.inner.extent != 1) return false;
    if (is_narrow(axis))
      return C::is_common && axis.kernel == 2 && axis.stride == 2 && axis.lo == 0 && 2 * axis.output <= axis.input;
    if (axis.output < lanes) return false;
    const Index beyond = axis.start(axis.output - 1) + axis.kernel - axis.input;  // columns behind the input
    if (axis.kernel == 4 && axis.stride == 4) return !C::is_rare && axis.lo == 0 && beyond <= 0;
    if (axis.kernel < 2 || axis.kernel > 3 || axis.stride > 2) return false;
    if (axis.stride == 1 && axis.kernel == 2 && !C::is_common) return false;
    if (axis.stride == 2 && axis.kernel == 2 && axis.lo != 0) return false;
    return axis.lo <= 1 && beyond <= 1 && axis.input >= lanes;
  }

  /// True if it makes rows of windows of three rows by their middle ones (`three_rows`), so that the others may be on
  /// padding.
  static bool goes_by_middle(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    return axis.stride <= 2 && !(rows.inner.extent == 1 && is_narrow(axis));
  }

  /// Output rows. `finish(vector, output)` is what is stored. False if there was a NaN: then what was written is not to
  /// be used.
  template <class Finish>
  static bool make(const Rows& rows, const Columns<C>& columns, const RowRun& run, E* out, bool stream,
                   const Finish& finish) {
    const Axis& axis = rows.horizontal.window;
    if constexpr (C::is_common)
      if (rows.inner.extent == channels) return pixels(axis, columns, run, out, stream, finish);
    return with_row_count<C>(columns.plain_count(), [&]<int R>() HWY_ATTR {
      return with_rows<R, Finish>(axis, columns, run, out, stream, finish);
    });
  }

 private:
  /// Colours of a pixel: its neighbours are so many lanes away.
  static constexpr int channels = 3;
  static bool can_make_pixels(const Axis& axis) {
    if (!C::is_common) return false;
    const bool keeps_size = axis.kernel == 3 && axis.stride == 1 && axis.lo == 1 && axis.output == axis.input;
    return FusedPixels<C>::can_make(axis) || (keeps_size && channels * axis.input >= 2 * lanes);
  }

  /// Rows of less than a vector of outputs, but more than half of one.
  static bool is_narrow(const Axis& axis) { return axis.output < lanes && axis.output >= lanes / 2; }

  /// Rows of pixels, as rows of channels. Those of more than three rows are for another path.
  template <class Finish>
  static HWY_NOINLINE bool pixels(const Axis& of_pixels, const Columns<C>& columns, const RowRun& run, E* out,
                                  bool stream, const Finish& finish) {
    Axis axis = of_pixels;
    axis.input *= channels;
    axis.output *= channels;
    const auto make_all = [&]<int R>() HWY_ATTR {
      return axis.stride == 1 ? all_rows<R, 1, 3, 1, channels>(axis, columns, run, out, stream, finish)
                              : all_rows<R, 2, 3, 1, channels>(axis, columns, run, out, stream, finish);
    };
    if (columns.plain_count() == 3) return make_all.template operator()<3>();
    return columns.plain_count() == 2 && make_all.template operator()<2>();
  }

  template <int R, class Finish>
  static HWY_NOINLINE bool with_rows(const Axis& axis, const Columns<C>& columns, const RowRun& run, E* out,
                                     bool stream, const Finish& finish) {
    const auto make_all = [&]<int stride, int kernel, int lo>() HWY_ATTR {
      return all_rows<R, stride, kernel, lo>(axis, columns, run, out, stream, finish);
    };
    if (axis.stride == 2 && axis.kernel == 2) {
      if constexpr (C::is_common)
        if (is_narrow(axis)) return narrow_rows<R>(axis, columns, run, out, finish);
      return make_all.template operator()<2, 2, 0>();
    }
    // Four and eight rows are those of pairs on two and three axes; other windows of as many need no loops of their
    // own.
    if constexpr (R == 4 || R == 8) {
      return with_rows<0>(axis, columns, run, out, stream, finish);
    } else {
      if constexpr (!C::is_rare)
        if (axis.stride == 4) return make_all.template operator()<4, 4, 0>();
      if (axis.stride == 2)
        return axis.lo == 0 ? make_all.template operator()<2, 3, 0>() : make_all.template operator()<2, 3, 1>();
      if constexpr (C::is_common)
        if (axis.kernel == 2)
          return axis.lo == 0 ? make_all.template operator()<1, 2, 0>() : make_all.template operator()<1, 2, 1>();
      return axis.lo == 0 ? make_all.template operator()<1, 3, 0>() : make_all.template operator()<1, 3, 1>();
    }
  }

  /// Arrays that leave the cache may be written past it; loops of those that do not need not ask.
  template <int R, int stride, int kernel, int lo, int shift = 1, class Finish>
  static HWY_INLINE bool all_rows(const Axis& axis, const Columns<C>& columns, const RowRun& run, E* out, bool stream,
                                  const Finish& finish) {
    if constexpr (R > 0 && (C::is_common || (C::stores_two && kernel == 2)))
      if (!stream) return far_or_near<R, stride, kernel, lo, shift, false>(axis, columns, run, out, stream, finish);
    return far_or_near<R, stride, kernel, lo, shift, true>(axis, columns, run, out, stream, finish);
  }
  template <int R, int stride, int kernel, int lo, int shift, bool is_far, class Finish>
  static HWY_NOINLINE bool far_or_near(const Axis& axis, const Columns<C>& all_columns, const RowRun& given, E* out,
                                       bool stream, const Finish& given_finish) {
    const RowRun run = given;  // what the loops need is theirs alone, so that it can live in registers
    const Finish finish = given_finish;
    const Ends ends(axis, stride, stride == 1 || (kernel == 3 && lo == 0));
    Columns<C> columns = all_columns.template first_rows<R>();
    const bool streams = is_far && stream && rows_stream<C>(axis, out, run.out_step, run.plane_out);
    constexpr bool reads_many = R == 0 || R > 4;
    constexpr Index asked = is_far ? (reads_many ? asked_of_many : asked_far) : R > 3 || stride == 1 ? 0 : asked_near;
    const Index rows_ahead = asked == 0 ? 0 : run.rows_ahead(sizeof(E), asked);
    constexpr bool by_middle = R == 3 && stride <= 2;
    const E* middle = by_middle ? all_columns.rows[1] : nullptr;
    const Index pitch = by_middle ? all_columns.rows[2] - middle : 0;
    for (Index plane = 0;;) {
      Store<is_far, Finish> store{out, run.out_step, streams, finish};
      if constexpr (by_middle) {
        three_rows<stride, kernel, lo, shift>(ends, columns, middle, pitch, run, rows_ahead, store);
        middle += run.plane_in;
      } else {
        for (Index row = 0; row < run.count; ++row, columns.template advance<R>(run.in_step), store.out += run.out_step)
          make_row<R, stride, kernel, lo, shift, R>(ends, columns, store, run.ahead(row, rows_ahead));
      }
      if (++plane == run.planes) return !columns.saw_unfit();
      out += run.plane_out;
      if constexpr (!by_middle) columns.template advance<R>(run.plane_in - run.count * run.in_step);
    }
  }

  template <int R, int stride, int kernel, int lo, int shift, int watched, class Store>
  static HWY_INLINE void make_row(const Ends& ends, Columns<C>& columns, const Store& store, Index ahead) {
    if constexpr (stride == 4)
      Steps::template every_fourth<R>(ends.outputs, columns, store, ahead);
    else if constexpr (stride == 2 && shift > 1)
      FusedPixels<C>::template make<R, watched>(ends.length / shift, columns, store, ahead);
    else if constexpr (stride == 2)
      Steps::template every_second<R, kernel, lo, watched>(ends, columns, store, ahead);
    else
      Steps::template every<R, 1, kernel, lo, shift>(ends, columns, store, ahead);
  }

  /// Rows of a plane by windows of three rows, `pitch` apart, of which the first one's middle row is given. Rows that
  /// windows share are watched once.
  template <int stride, int kernel, int lo, int shift, class Store>
  static HWY_INLINE void three_rows(const Ends& ends, Columns<C>& columns, const E* middle, Index pitch,
                                    const RowRun& run, Index rows_ahead, Store store) {
    // In place of a row on padding: zeros, or a row that is there already.
    const auto outside = [](const E* row) NDPOOL_HOT { return C::kind == Combine::sum ? no_row<E>() : row; };
    const E* above = run.cut_above ? outside(middle) : middle - pitch;
    Index left = run.count;
    const auto ahead = [&]() NDPOOL_HOT { return run.ahead(run.count - left, rows_ahead); };
    const auto set_rows = [&](int last) NDPOOL_HOT {
      columns.rows[0] = above;
      columns.rows[1] = middle;
      if (last == 3) columns.rows[2] = middle + pitch;
      const E* end = middle + (last - 1) * pitch;
      columns.rows[last] = left == last - 1 && run.cut_below ? outside(end - pitch) : end;
    };
    if constexpr (stride == 1) {
      if (run.in_step == pitch && left >= 2) {
        set_rows(3);
        columns.template watch_first<2>(ends.length);
        for (;;) {
          Steps::template every<3, 2, kernel, lo, shift>(ends, columns, store, ahead());
          left -= 2;
          above = middle + pitch;
          middle += 2 * pitch;
          store.out += 2 * run.out_step;
          if (left < 2) break;
          set_rows(3);
        }
      }
    } else if (run.in_step == 2 * pitch) {
      set_rows(2);
      columns.template watch_first<1>(ends.length);
      for (;;) {
        make_row<3, stride, kernel, lo, shift, 2>(ends, columns, store, ahead());
        if (--left == 0) return;
        above = middle + pitch;
        middle += run.in_step;
        store.out += run.out_step;
        set_rows(2);
      }
    }
    for (; left > 0; --left) {
      set_rows(2);
      make_row<3, stride, kernel, lo, shift, 3>(ends, columns, store, ahead());
      middle += run.in_step;
      above = middle - pitch;
      store.out += run.out_step;
    }
  }

  /// Two taps at stride 2: both halves of a vector of outputs are stored, and may overlap.
  template <int R, class Finish>
  static HWY_INLINE bool narrow_rows(const Axis& axis, const Columns<C>& all_columns, const RowRun& given, E* out,
                                     const Finish& given_finish) {
    const hn::Half<D> half;
    const RowRun run = given;
    const Finish finish = given_finish;
    Columns<C> columns = all_columns.template first_rows<R>();
    const Index second = axis.output - lanes / 2;
    for (Index plane = 0;; out += run.plane_out) {
      E* to = out;
      for (Index row = 0; row < run.count; ++row, columns.template advance<R>(run.in_step), to += run.out_step) {
        const V low = columns.template at<R>(0), high = columns.template at<R>(2 * second);
        // All taps are on the input, so all outputs of a row have the same divisor.
        const V both = finish(Steps::pair_up(low, high), 0);
        hn::StoreU(hn::LowerHalf(half, both), half, to);
        hn::StoreU(hn::UpperHalf(half, both), half, to + second);
      }
      if (++plane == run.planes) return !columns.saw_unfit();
      columns.template advance<R>(run.plane_in - run.count * run.in_step);
    }
  }

  template <bool is_far, class Finish>
  struct Store {
    E* out;
    Index step;
    bool streams;
    const Finish& finish;
    HWY_INLINE void operator()(V v, Index output) const {
      C::store(finish(v, output), out + output, is_far && streams);
    }
    HWY_INLINE void two(V low, V high, Index output) const {
      if (is_far && streams) {
        (*this)(low, output);
        (*this)(high, output + lanes);
      } else {
        C::store_two(finish(low, output), finish(high, output + lanes), out + output);
      }
    }
    template <int N>
    HWY_INLINE void operator()(const Stack<C, N>& v, Index output) const {
      repeat<N>([&](int n)
                    NDPOOL_HOT { C::store(finish(v.of[n], output), out + n * step + output, is_far && streams); });
    }
  };
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_ROWS_INL_H_
