// Per-target code: channels-first rows of small windows, in registers: outputs are made of columns by moving lanes, and
// nothing is stored in between. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_ROWS_INL_H_
#undef NDPOOL_FUSED_ROWS_INL_H_
#else
#define NDPOOL_FUSED_ROWS_INL_H_
#endif

#include "kernels/fused_pixels-inl.h"

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
    if constexpr (!C::is_rare)
      if (axis.stride == 4) return make_all.template operator()<4, 4, 0>();
    if (axis.stride == 2) {
      if constexpr (C::is_common)
        if (is_narrow(axis)) return narrow_rows<R>(axis, columns, run, out, finish);
      if (axis.kernel == 2) return make_all.template operator()<2, 2, 0>();
      return axis.lo == 0 ? make_all.template operator()<2, 3, 0>() : make_all.template operator()<2, 3, 1>();
    }
    if constexpr (C::is_common)
      if (axis.kernel == 2)
        return axis.lo == 0 ? make_all.template operator()<1, 2, 0>() : make_all.template operator()<1, 2, 1>();
    return axis.lo == 0 ? make_all.template operator()<1, 3, 0>() : make_all.template operator()<1, 3, 1>();
  }

  template <int R, int stride, int kernel, int lo, int shift = 1, class Finish>
  static HWY_INLINE bool all_rows(const Axis& window, const Columns<C>& all_columns, const RowRun& given, E* out,
                                  bool stream, const Finish& given_finish) {
    const Axis axis = window;  // what the loops need is theirs alone, so that it can live in registers
    const RowRun run = given;
    const Finish finish = given_finish;
    Columns<C> columns = all_columns.template first_rows<R>();
    // A line that is written both ways is written twice, so rows with a rest are stored plainly.
    const bool streams = stream && axis.output % lanes == 0 && run.out_step % lanes == 0 &&
                         run.plane_out % lanes == 0 && reinterpret_cast<std::uintptr_t>(out) % (lanes * sizeof(E)) == 0;
    const Index ahead = run.ahead(sizeof(E));
    for (Index plane = 0;;) {
      const auto store = [&](Index row) NDPOOL_HOT {
        return Store<Finish>{out + row * run.out_step, run.out_step, streams, finish};
      };
      if constexpr (R == 3 && stride <= 2) {
        three_rows<stride, kernel, lo, shift>(axis, columns, all_columns.rows[1] + plane * run.plane_in,
                                              all_columns.rows[2] - all_columns.rows[1], run, ahead, store);
      } else {
        for (Index row = 0; row < run.count; ++row, columns.template advance<R>(run.in_step))
          make_row<R, stride, kernel, lo, shift, R>(axis, columns, store(row), ahead);
      }
      if (++plane == run.planes) return !columns.saw_unfit();
      out += run.plane_out;
    }
  }

  template <int R, int stride, int kernel, int lo, int shift, int watched, class Store>
  static HWY_INLINE void make_row(const Axis& axis, Columns<C>& columns, const Store& store, Index ahead) {
    if constexpr (stride == 4)
      every_fourth<R>(axis, columns, store, ahead);
    else if constexpr (stride == 2 && shift > 1)
      FusedPixels<C>::template make<R, watched>(axis.input / shift, columns, store);
    else if constexpr (stride == 2)
      every_second<R, kernel, lo, watched>(axis, columns, store, ahead);
    else
      every<R, 1, kernel, lo, shift>(axis, columns, store);
  }

  /// Rows of a plane by windows of three rows, `pitch` apart, of which the first one's middle row is given. Rows that
  /// windows share are watched once.
  template <int stride, int kernel, int lo, int shift, class StoreOf>
  static HWY_INLINE void three_rows(const Axis& axis, Columns<C>& columns, const E* middle, Index pitch,
                                    const RowRun& run, Index ahead, const StoreOf& store) {
    // In place of a row on padding: one that changes no sum, or one that is there already.
    const auto outside = [&]() NDPOOL_HOT { return C::kind == Combine::sum ? no_row<E>() : middle; };
    const auto set_rows = [&](Index row, int below) NDPOOL_HOT {
      const bool is_last = row + below == run.count;
      columns.rows[0] = row == 0 && run.cut_above ? outside() : middle - pitch;
      columns.rows[1] = middle;
      columns.rows[2] = is_last && below == 1 && run.cut_below ? outside() : middle + pitch;
      if (below == 2) columns.rows[3] = is_last && run.cut_below ? outside() : middle + 2 * pitch;
    };
    Index row = 0;
    if constexpr (stride == 1) {
      if (run.in_step == pitch && run.count >= 2) {
        set_rows(0, 2);
        columns.template watch_first<2>(axis.input);
        for (; row + 2 <= run.count; row += 2, middle += 2 * pitch) {
          set_rows(row, 2);
          every<3, 2, kernel, lo, shift>(axis, columns, store(row));
        }
      }
    } else if (run.in_step == 2 * pitch) {
      set_rows(0, 1);
      columns.template watch_first<1>(axis.input);
      for (; row < run.count; ++row, middle += run.in_step) {
        set_rows(row, 1);
        make_row<3, stride, kernel, lo, shift, 2>(axis, columns, store(row), ahead);
      }
      return;
    }
    for (; row < run.count; ++row, middle += run.in_step) {
      set_rows(row, 1);
      make_row<3, stride, kernel, lo, shift, 3>(axis, columns, store(row), ahead);
    }
  }

  /// Two taps at stride 2: both halves of a vector of outputs are stored, and may overlap.
  template <int R, class Finish>
  static HWY_INLINE bool narrow_rows(const Axis& axis, const Columns<C>& all_columns, const RowRun& given, E* out,
                                     const Finish& given_finish) {
    const D d;
    const hn::Half<D> half;
    const RowRun run = given;
    const Finish finish = given_finish;
    Columns<C> columns = all_columns.template first_rows<R>();
    const Index second = axis.output - lanes / 2;
    for (Index row = 0;;) {
      const V low = columns.template at<R>(0), high = columns.template at<R>(2 * second);
      // All taps are on the input, so all outputs of a row have the same divisor.
      const V both = finish(combine(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low)), 0);
      hn::StoreU(hn::LowerHalf(half, both), half, out);
      hn::StoreU(hn::UpperHalf(half, both), half, out + second);
      if (++row == run.count) return !columns.saw_unfit();
      columns.template advance<R>(run.in_step);
      out += run.out_step;
    }
  }

  template <class Finish>
  struct Store {
    E* out;
    Index step;
    bool stream;
    const Finish& finish;
    HWY_INLINE void operator()(V v, Index output) const { C::store(finish(v, output), out + output, stream); }
    template <int N>
    HWY_INLINE void operator()(const Stack<C, N>& v, Index output) const {
      repeat<N>([&](int n) NDPOOL_HOT { C::store(finish(v.of[n], output), out + n * step + output, stream); });
    }
  };

  static HWY_INLINE V combine(V a, V b) { return C::combine(a, b); }

  /// Columns from `element` on, which may be one outside the row on either side.
  template <int R, int N>
  static HWY_INLINE Stack<C, N> near_edge(Columns<C>& columns, Index element, Index length) {
    const V identity = C::identity();
    const bool left = element<0, right = element + lanes> length;
    const Stack<C, N> v = columns.template stack_at<R, N>(left ? 0 : right ? length - lanes : element);
    if (left)
      return make_stack<C, N>([&](int n)
                                  NDPOOL_HOT { return slide<static_cast<int>(lanes) - 1>(D(), v.of[n], identity); });
    if (right) return make_stack<C, N>([&](int n) NDPOOL_HOT { return slide<1>(D(), identity, v.of[n]); });
    return v;
  }
  template <int R>
  static HWY_INLINE V near_edge(Columns<C>& columns, Index element, Index length) {
    return near_edge<R, 1>(columns, element, length).of[0];
  }

  /// A vector of columns, and how it joins the one before: each of these is of use to two vectors of outputs.
  template <int N>
  struct Joined {
    Stack<C, N> columns, join;
    HWY_INLINE Joined(const Stack<C, N>& before, const Stack<C, N>& here) : columns(here) {
      repeat<N>([&](int n) NDPOOL_HOT { join.of[n] = between(D(), here.of[n], before.of[n]); });
    }
  };
  /// The outputs at a vector of columns, from their neighbours on both sides.
  template <int kernel, int lo, int shift, int N>
  static HWY_INLINE Stack<C, N> neighbours(const Stack<C, N>& before, const Joined<N>& here, const Joined<N>& next) {
    constexpr int last = static_cast<int>(lanes) - shift;
    const D d;
    return make_stack<C, N>([&](int n) NDPOOL_HOT {
      const V middle = here.columns.of[n], beyond = next.columns.of[n], join = next.join.of[n];
      V v = middle;
      if constexpr (lo == 1)
        v = combine(slide<last>(d, middle, here.join.of[n], before.of[n]), middle);
      else
        v = combine(middle, slide<shift>(d, beyond, join, middle));
      if constexpr (kernel == 3) v = combine(v, slide<(2 - lo) * shift>(d, beyond, join, middle));
      return v;
    });
  }

  /// Stride 1: an output is made of its column and its neighbours', `shift` lanes away.
  template <int R, int N, int kernel, int lo, int shift, class Store>
  static HWY_INLINE void every(const Axis& axis, Columns<C>& columns, const Store& store) {
    const Index length = axis.input, outputs = axis.output;
    constexpr int watched = N == 1 ? R : N;  // of two windows below one another, those that the pair above has not seen
    const auto at = [&](Index element) NDPOOL_HOT { return columns.template stack_at<R, N, watched>(element); };
    const Stack<C, N> outside = make_stack<C, N>([](int) NDPOOL_HOT { return C::identity(); });
    Stack<C, N> before = outside;
    Index output = 0;
    const Index whole = std::min(length / lanes - 1, outputs / lanes) * lanes;  // outputs with a vector behind theirs
    if (whole > 0) {
      Joined<N> here(before, at(0));
      for (; output < whole; output += lanes) {
        const Joined<N> next(here.columns, at(output + lanes));
        store(neighbours<kernel, lo, shift>(before, here, next), output);
        before = here.columns;
        here = next;
      }
      if (output + lanes == length && output + lanes <= outputs) {
        store(neighbours<kernel, lo, shift>(before, here, Joined<N>(here.columns, outside)), output);
        output += lanes;
      }
    }
    if (kernel == 3 && lo == 1 && outputs == length && length > lanes)
      return end_of_row<shift, N>(output, length, at, outside, store);
    // Other last vectors are made anew from wherever they begin.
    while (output < outputs) {
      if (output + lanes > outputs) output = outputs - lanes;
      Stack<C, N> v = near_edge<R, N>(columns, output - lo, length);
      for (int t = 1; t < kernel; ++t) v = combine(v, near_edge<R, N>(columns, output - lo + t, length));
      store(v, output);
      output += lanes;
    }
  }
  /// Up to two vectors of outputs of three taps, from one on: the last begins where it still fits, and the one before
  /// it so that its neighbours are in the row.
  template <int shift, int N, class At, class Store>
  static HWY_INLINE void end_of_row(Index output, Index length, const At& at, const Stack<C, N>& outside,
                                    const Store& store) {
    const auto edge = [&](const Stack<C, N>& v, bool left) NDPOOL_HOT {
      return make_stack<C, N>([&](int n) NDPOOL_HOT {
        return left ? slide<static_cast<int>(lanes) - shift>(D(), v.of[n], outside.of[n])
                    : slide<shift>(D(), outside.of[n], v.of[n]);
      });
    };
    if (output + lanes < length) {
      const Index from = std::min(output, length - lanes - shift);
      const Stack<C, N> middle = at(from);
      store(combine(combine(from == 0 ? edge(middle, true) : at(from - shift), middle), at(from + shift)), from);
      output += lanes;
    }
    if (output >= length) return;
    const Stack<C, N> last = at(length - lanes);
    store(combine(combine(at(length - lanes - shift), last), edge(last, false)), length - lanes);
  }
  template <int N>
  static HWY_INLINE Stack<C, N> combine(const Stack<C, N>& a, const Stack<C, N>& b) {
    return make_stack<C, N>([&](int n) NDPOOL_HOT { return C::combine(a.of[n], b.of[n]); });
  }

  /// Four taps at stride 4, all on the input: pairs of columns, and pairs of those.
  template <int R, class Store>
  static HWY_INLINE void every_fourth(const Axis& axis, Columns<C>& columns, const Store& store, Index ahead) {
    const auto pairs = [&](Index from) NDPOOL_HOT {
      if (ahead != 0) columns.template prefetch<R>(from + ahead);
      const auto [low, high] = columns.template two_at<R>(from);
      return pair_up(low.of[0], high.of[0]);
    };
    for (Index output = 0; output < axis.output; output += lanes) {
      output = std::min(output, axis.output - lanes);  // the last vector may make some outputs again
      store(pair_up(pairs(4 * output), pairs(4 * output + 2 * lanes)), output);
    }
  }
  static HWY_INLINE V pair_up(V low, V high) {
    return C::combine(hn::ConcatEven(D(), high, low), hn::ConcatOdd(D(), high, low));
  }

  /// Stride 2: an output is made of an even and an odd column, and of a neighbour on one side.
  template <int R, int kernel, int lo, int watched, class Store>
  static HWY_INLINE void every_second(const Axis& axis, Columns<C>& columns, const Store& store, Index ahead) {
    const D d;
    const Index length = axis.input, outputs = axis.output;
    constexpr int last = static_cast<int>(lanes) - 1;
    Index output = 0;
    V odd_before = C::identity();
    const auto at = [&](Index element) NDPOOL_HOT { return columns.template stack_at<R, 1, watched>(element).of[0]; };
    // Outputs whose columns are whole vectors, with another one behind if that is wanted, too.
    constexpr Index wanted = kernel == 3 && lo == 0 ? lanes : 0;
    const Index whole = std::min((length - wanted) / (2 * lanes), outputs / lanes) * lanes;
    if constexpr (wanted > 0) {
      V low = at(0);
      for (; output < whole; output += lanes) {
        if (ahead != 0) columns.template prefetch<R>(2 * output + ahead);
        const V high = at(2 * output + lanes), next = at(2 * output + 2 * lanes);
        const V even = hn::ConcatEven(d, high, low), odd = hn::ConcatOdd(d, high, low);
        // Only the first even column of the next vectors is wanted, and it is their first lane.
        store(combine(combine(even, odd), slide<1>(d, next, even)), output);
        low = next;
      }
    } else {
      for (; output < whole; output += lanes) {
        if (ahead != 0) columns.template prefetch<R>(2 * output + ahead);
        const auto [even, odd] = columns.template parted_at<R, watched>(2 * output);
        if constexpr (kernel == 2) {
          store(combine(even, odd), output);
        } else {
          store(combine(combine(slide<last>(d, odd, odd_before), even), odd), output);
          odd_before = odd;
        }
      }
    }
    // The last vectors are made anew from wherever they begin.
    while (output < outputs) {
      if (output + lanes > outputs) output = outputs - lanes;
      const Index from = 2 * output;
      const V low = columns.template at<R>(from), high = near_edge<R>(columns, from + lanes, length);
      const V even = hn::ConcatEven(d, high, low), odd = hn::ConcatOdd(d, high, low);
      if constexpr (kernel == 2) {
        store(combine(even, odd), output);
      } else if constexpr (lo == 0) {
        const V behind = near_edge<R>(columns, from + 1 + lanes, length);
        store(combine(combine(even, odd), hn::ConcatOdd(d, behind, columns.template at<R>(from + 1))), output);
      } else {
        V left = slide<last>(d, odd, C::identity());
        if (from > 0)
          left = hn::ConcatEven(d, columns.template at<R>(from - 1 + lanes), columns.template at<R>(from - 1));
        store(combine(combine(left, even), odd), output);
      }
      output += lanes;
    }
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_ROWS_INL_H_
