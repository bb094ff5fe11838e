// Per-target code: channels-first rows of small windows, in registers: outputs are made of columns by moving lanes, and
// nothing is stored in between. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_ROWS_INL_H_
#undef NDPOOL_FUSED_ROWS_INL_H_
#else
#define NDPOOL_FUSED_ROWS_INL_H_
#endif

#include "kernels/columns-inl.h"

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
    if (axis.adaptive || axis.dilation != 1 || rows.inner.extent != 1) return false;
    if (is_narrow(axis))
      return C::is_common && axis.kernel == 2 && axis.stride == 2 && axis.lo == 0 && 2 * axis.output <= axis.input;
    if (axis.output < lanes) return false;
    const Index beyond = axis.start(axis.output - 1) + axis.kernel - axis.input;  // columns behind the input
    if (axis.kernel == 4 && axis.stride == 4) return axis.lo == 0 && beyond <= 0;
    if (axis.kernel < 2 || axis.kernel > 3 || axis.stride > 2) return false;
    if (axis.stride == 1 && !C::is_common) return false;
    if (axis.stride == 2 && axis.kernel == 2 && axis.lo != 0) return false;
    return axis.lo <= 1 && beyond <= 1 && axis.input >= lanes;
  }

  /// Output rows. `finish(vector, output)` is what is stored. False if there was a NaN: then what was written is not to
  /// be used.
  template <class Finish>
  static bool make(const Axis& axis, const Columns<C>& columns, const RowRun& run, E* out, bool stream,
                   const Finish& finish) {
    return with_row_count<C>(
        columns.count, [&]<int R>() HWY_ATTR { return with_rows<R, Finish>(axis, columns, run, out, stream, finish); });
  }

 private:
  /// Rows of less than a vector of outputs, but more than half of one.
  static bool is_narrow(const Axis& axis) { return axis.output < lanes && axis.output >= lanes / 2; }

  template <int R, class Finish>
  static HWY_NOINLINE bool with_rows(const Axis& axis, const Columns<C>& columns, const RowRun& run, E* out,
                                     bool stream, const Finish& finish) {
    const auto make_all = [&]<int stride, int kernel, int lo>() HWY_ATTR {
      return all_rows<R, stride, kernel, lo>(axis, columns, run, out, stream, finish);
    };
    if (axis.stride == 4) return make_all.template operator()<4, 4, 0>();
    if (axis.stride == 2) {
      if constexpr (C::is_common)
        if (is_narrow(axis)) return narrow_rows<R>(axis, columns, run, out, finish);
      if (axis.kernel == 2) return make_all.template operator()<2, 2, 0>();
      return axis.lo == 0 ? make_all.template operator()<2, 3, 0>() : make_all.template operator()<2, 3, 1>();
    }
    if constexpr (C::is_common) {
      if (axis.kernel == 2)
        return axis.lo == 0 ? make_all.template operator()<1, 2, 0>() : make_all.template operator()<1, 2, 1>();
      return axis.lo == 0 ? make_all.template operator()<1, 3, 0>() : make_all.template operator()<1, 3, 1>();
    }
    return false;
  }

  template <int R, int stride, int kernel, int lo, class Finish>
  static HWY_INLINE bool all_rows(const Axis& window, const Columns<C>& all_columns, const RowRun& given, E* out,
                                  bool stream, const Finish& given_finish) {
    const Axis axis = window;  // what the loops need is theirs alone, so that it can live in registers
    const RowRun run = given;
    const Finish finish = given_finish;
    Columns<C> columns = all_columns.template first_rows<R>();
    // A line that is written both ways is written twice, so rows with a rest are stored plainly.
    const auto can_stream = [&](E* row) {
      return axis.output % lanes == 0 && reinterpret_cast<std::uintptr_t>(row) % (lanes * sizeof(E)) == 0;
    };
    const Index ahead = run.ahead(sizeof(E));
    for (Index row = 0;;) {
      const Store<Finish> store{out, stream && can_stream(out), finish};
      if constexpr (stride == 4)
        every_fourth<R>(axis, columns, store, ahead);
      else if constexpr (stride == 2)
        every_second<R, kernel, lo>(axis, columns, store, ahead);
      else
        every<R, kernel, lo>(axis, columns, store, ahead);
      if (++row == run.count) return !columns.saw_nan();
      columns.template advance<R>(run.in_step);
      out += run.out_step;
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
      if (++row == run.count) return !columns.saw_nan();
      columns.template advance<R>(run.in_step);
      out += run.out_step;
    }
  }

  template <class Finish>
  struct Store {
    E* out;
    bool stream;
    const Finish& finish;
    HWY_INLINE void operator()(V v, Index output) const { C::store(finish(v, output), out + output, stream); }
  };

  static HWY_INLINE V combine(V a, V b) { return C::combine(a, b); }

  /// Columns from `element` on, which may be one outside the row on either side.
  template <int R>
  static HWY_INLINE V near_edge(Columns<C>& columns, Index element, Index length) {
    const V identity = C::identity();
    if (element < 0) return slide<static_cast<int>(lanes - 1)>(D(), columns.template at<R>(0), identity);
    if (element + lanes > length) return slide<1>(D(), identity, columns.template at<R>(length - lanes));
    return columns.template at<R>(element);
  }

  /// Stride 1: an output is made of its column and its neighbours'.
  template <int R, int kernel, int lo, class Store>
  static HWY_INLINE void every(const Axis& axis, Columns<C>& columns, const Store& store, Index ahead) {
    const D d;
    const Index length = axis.input, outputs = axis.output;
    constexpr int last = static_cast<int>(lanes) - 1;
    Index output = 0;
    if (2 * lanes <= length) {
      V before = C::identity(), here = columns.template at<R>(0);
      for (; output + 2 * lanes <= length && output + lanes <= outputs; output += lanes) {
        if (store.stream) columns.template prefetch<R>(output + ahead);
        const V next = columns.template at<R>(output + lanes);
        V v = lo == 1 ? slide<last>(d, here, before) : here;
        v = combine(v, lo == 1 ? here : slide<1>(d, next, here));
        if constexpr (kernel == 3) v = combine(v, slide<2 - lo>(d, next, here));
        store(v, output);
        before = here;
        here = next;
      }
    }
    // The last vectors are made anew from wherever they begin.
    while (output < outputs) {
      if (output + lanes > outputs) output = outputs - lanes;
      V v = near_edge<R>(columns, output - lo, length);
      v = combine(v, near_edge<R>(columns, output - lo + 1, length));
      if constexpr (kernel == 3) v = combine(v, near_edge<R>(columns, output - lo + 2, length));
      store(v, output);
      output += lanes;
    }
  }

  /// Four taps at stride 4, all on the input: pairs of columns, and pairs of those.
  template <int R, class Store>
  static HWY_INLINE void every_fourth(const Axis& axis, Columns<C>& columns, const Store& store, Index ahead) {
    const auto pairs = [&](Index from) HWY_ATTR {
      columns.template prefetch<R>(from + ahead);
      const auto [low, high] = columns.template two_at<R>(from);
      return pair_up(low, high);
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
  template <int R, int kernel, int lo, class Store>
  static HWY_INLINE void every_second(const Axis& axis, Columns<C>& columns, const Store& store, Index ahead) {
    const D d;
    const Index length = axis.input, outputs = axis.output;
    constexpr int last = static_cast<int>(lanes) - 1;
    Index output = 0;
    V odd_before = C::identity();
    if constexpr (kernel == 3 && lo == 0) {
      V low = columns.template at<R>(0);
      for (; 2 * output + 3 * lanes <= length && output + lanes <= outputs; output += lanes) {
        columns.template prefetch<R>(2 * output + ahead);
        const V high = columns.template at<R>(2 * output + lanes),
                next = columns.template at<R>(2 * output + 2 * lanes);
        const V even = hn::ConcatEven(d, high, low), odd = hn::ConcatOdd(d, high, low);
        // Only the first even column of the next vectors is wanted, and it is their first lane.
        store(combine(combine(even, odd), slide<1>(d, next, even)), output);
        low = next;
      }
    } else {
      for (; 2 * output + 2 * lanes <= length && output + lanes <= outputs; output += lanes) {
        columns.template prefetch<R>(2 * output + ahead);
        const auto [low, high] = columns.template two_at<R>(2 * output);
        const V even = hn::ConcatEven(d, high, low), odd = hn::ConcatOdd(d, high, low);
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
      columns.template prefetch<R>(from + ahead);
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
