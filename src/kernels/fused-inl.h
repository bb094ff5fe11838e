// Per-target code: small windows whose rows are combined in registers, so that a tile is read once and written once and
// nothing is stored in between. No include guard of the usual kind: see rows-inl.h.
//
// A *column* is the combination of all input rows of a window at one position of the row. Channels-first outputs are
// made of columns by moving lanes; where several lanes lie behind the last pooled axis, whole vectors of columns slide
// along the row. Maxima and minima are plain vector instructions that lose NaNs; a sum of everything that was read tells
// whether there was one, and then the row is made again by the careful path.
#if defined(NDPOOL_FUSED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_INL_H_
#undef NDPOOL_FUSED_INL_H_
#else
#define NDPOOL_FUSED_INL_H_
#endif

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

/// Input rows of a window that are combined in registers.
inline constexpr int most_fused_rows = 16;

/// The rows of one window, and what was seen of them.
template <class D, class Op>
class Columns {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  HWY_INLINE Columns() : seen_(hn::Zero(D())) {}

  const T* rows[most_fused_rows];
  int count = 0;

  static HWY_INLINE V combine(V a, V b) {
    if constexpr (Op::is_sum)
      return hn::Add(a, b);
    else if constexpr (Op::is_max)
      return hn::Max(a, b);
    else
      return hn::Min(a, b);
  }
  /// What changes no number; rows with NaNs, which a policy could ask to lose to it, do not come to an end here.
  static HWY_INLINE V identity() { return hn::Set(D(), Combiner<Op::kind, Nan::propagate, T>::identity()); }

  /// The columns from an element of the row on. `R` is the number of rows, or 0 for any.
  template <int R>
  HWY_INLINE V at(Index element) {
    const V first = load(0, element);
    if constexpr (R == 1) return first;
    if constexpr (R == 2) return combine(first, load(1, element));
    if constexpr (R == 3) return combine(combine(first, load(1, element)), load(2, element));
    if constexpr (R == 4)
      return combine(combine(first, load(1, element)), combine(load(2, element), load(3, element)));
    V all = first;
    for (int r = 1; r < count; ++r) all = combine(all, load(r, element));
    return all;
  }

  bool saw_nan() const {
    if constexpr (!watches) return false;
    return !hn::AllTrue(D(), hn::Eq(seen_, seen_));
  }

 private:
  static constexpr bool watches = std::is_floating_point_v<T> && !Op::is_sum;

  HWY_INLINE V load(int row, Index element) {
    const V v = hn::LoadU(D(), rows[row] + element);
    // Infinities of both signs add up to NaN as well; that only costs time.
    if constexpr (watches) seen_ = hn::Add(seen_, v);
    return v;
  }

  V seen_;
};

/// Lanes `by` and up of `low`, then the first lanes of `high`.
template <int by, class D, class V = hn::Vec<D>>
HWY_INLINE V slide(D d, V high, V low) {
  constexpr int bytes = by * static_cast<int>(sizeof(hn::TFromD<D>));
  if constexpr (by == 0) {
    return low;
  } else if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 16) {
    return hn::CombineShiftRightBytes<bytes>(d, high, low);
  } else {
    const V middle = hn::ConcatLowerUpper(d, high, low);
    if constexpr (bytes == 16) return middle;
    if constexpr (bytes < 16) return hn::CombineShiftRightBytes<bytes % 16>(d, middle, low);
    return hn::CombineShiftRightBytes<bytes % 16>(d, high, middle);
  }
}

/// Makes output rows of channels-first windows: two or three taps, stride 1 or 2.
template <class D, class Op>
class FusedRow {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));

  /// True if `make` can do rows with such a window.
  static bool can_make(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    if (axis.adaptive || axis.dilation != 1 || rows.inner.extent != 1) return false;
    if (axis.kernel < 2 || axis.kernel > 3 || axis.stride > 2 || axis.output < lanes) return false;
    if (axis.stride == 2 && axis.kernel == 2 && axis.lo != 0) return false;
    const Index beyond = axis.start(axis.output - 1) + axis.kernel - axis.input;  // columns behind the input
    return axis.lo <= 1 && beyond <= 1 && axis.input >= lanes;
  }

  /// One output row. `finish(vector, output)` is what is stored. False if there was a NaN: then what was written is
  /// not to be used.
  template <class Finish>
  static HWY_INLINE bool make(const Axis& axis, Columns<D, Op>& columns, T* out, bool stream, const Finish& finish) {
    switch (columns.count) {
      case 1: return with_rows<1>(axis, columns, out, stream, finish);
      case 2: return with_rows<2>(axis, columns, out, stream, finish);
      case 3: return with_rows<3>(axis, columns, out, stream, finish);
      case 4: return with_rows<4>(axis, columns, out, stream, finish);
      default: return with_rows<0>(axis, columns, out, stream, finish);
    }
  }

 private:
  template <int R, class Finish>
  static bool with_rows(const Axis& axis, Columns<D, Op>& columns, T* out, bool stream, const Finish& finish) {
    const Store<Finish> store{out, stream && reinterpret_cast<std::uintptr_t>(out) % (lanes * sizeof(T)) == 0, finish};
    if (axis.stride == 2) {
      if (axis.kernel == 2)
        every_second<R, 2, 0>(axis, columns, store);
      else if (axis.lo == 0)
        every_second<R, 3, 0>(axis, columns, store);
      else
        every_second<R, 3, 1>(axis, columns, store);
    } else if (axis.kernel == 2) {
      if (axis.lo == 0)
        every<R, 2, 0>(axis, columns, store);
      else
        every<R, 2, 1>(axis, columns, store);
    } else if (axis.lo == 0) {
      every<R, 3, 0>(axis, columns, store);
    } else {
      every<R, 3, 1>(axis, columns, store);
    }
    return !columns.saw_nan();
  }

  template <class Finish>
  struct Store {
    T* out;
    bool stream;
    const Finish& finish;
    HWY_INLINE void operator()(V v, Index output) const {
      const V finished = finish(v, output);
      if (stream && output % lanes == 0)
        hn::Stream(finished, D(), out + output);
      else
        hn::StoreU(finished, D(), out + output);
    }
  };

  static HWY_INLINE V combine(V a, V b) { return Columns<D, Op>::combine(a, b); }

  /// Columns from `element` on, which may be one outside the row on either side.
  template <int R>
  static HWY_INLINE V near_edge(Columns<D, Op>& columns, Index element, Index length) {
    const V identity = Columns<D, Op>::identity();
    if (element < 0) return slide<static_cast<int>(lanes - 1)>(D(), columns.template at<R>(0), identity);
    if (element + lanes > length) return slide<1>(D(), identity, columns.template at<R>(length - lanes));
    return columns.template at<R>(element);
  }

  /// Stride 1: an output is made of its column and its neighbours'.
  template <int R, int kernel, int lo, class Store>
  static HWY_INLINE void every(const Axis& axis, Columns<D, Op>& columns, const Store& store) {
    const D d;
    const Index length = axis.input, outputs = axis.output;
    constexpr int last = static_cast<int>(lanes) - 1;
    Index output = 0;
    if (2 * lanes <= length) {
      V before = Columns<D, Op>::identity(), here = columns.template at<R>(0);
      for (; output + 2 * lanes <= length && output + lanes <= outputs; output += lanes) {
        const V next = columns.template at<R>(output + lanes);
        V v = lo == 1 ? slide<last>(d, here, before) : here;
        if constexpr (kernel == 2) v = combine(v, lo == 1 ? here : slide<1>(d, next, here));
        if constexpr (kernel == 3) {
          v = combine(v, lo == 1 ? here : slide<1>(d, next, here));
          v = combine(v, slide<2 - lo>(d, next, here));
        }
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

  /// Stride 2: an output is made of an even and an odd column, and of a neighbour on one side.
  template <int R, int kernel, int lo, class Store>
  static HWY_INLINE void every_second(const Axis& axis, Columns<D, Op>& columns, const Store& store) {
    const D d;
    const Index length = axis.input, outputs = axis.output;
    constexpr int last = static_cast<int>(lanes) - 1;
    Index output = 0;
    V odd_before = Columns<D, Op>::identity();
    if constexpr (kernel == 3 && lo == 0) {
      V low = columns.template at<R>(0);
      for (; 2 * output + 3 * lanes <= length && output + lanes <= outputs; output += lanes) {
        const V high = columns.template at<R>(2 * output + lanes), next = columns.template at<R>(2 * output + 2 * lanes);
        const V even = hn::ConcatEven(d, high, low), odd = hn::ConcatOdd(d, high, low);
        // Only the first even column of the next vectors is wanted, and it is their first lane.
        store(combine(combine(even, odd), slide<1>(d, next, even)), output);
        low = next;
      }
    } else {
      for (; 2 * output + 2 * lanes <= length && output + lanes <= outputs; output += lanes) {
        const V low = columns.template at<R>(2 * output), high = columns.template at<R>(2 * output + lanes);
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
      const V low = columns.template at<R>(from), high = near_edge<R>(columns, from + lanes, length);
      const V even = hn::ConcatEven(d, high, low), odd = hn::ConcatOdd(d, high, low);
      if constexpr (kernel == 2) {
        store(combine(even, odd), output);
      } else if constexpr (lo == 0) {
        const V behind = near_edge<R>(columns, from + 1 + lanes, length);
        store(combine(combine(even, odd), hn::ConcatOdd(d, behind, columns.template at<R>(from + 1))), output);
      } else {
        V left = slide<last>(d, odd, Columns<D, Op>::identity());
        if (from > 0) left = hn::ConcatEven(d, columns.template at<R>(from - 1 + lanes), columns.template at<R>(from - 1));
        store(combine(combine(left, even), odd), output);
      }
      output += lanes;
    }
  }
};

/// Makes output rows whose lanes behind the last pooled axis fill vectors: columns slide along the row.
template <class D, class Op>
class FusedLanes {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));

  static bool can_make(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    return !axis.adaptive && axis.kernel <= 4 && rows.inner.extent >= lanes;
  }

  template <class Finish>
  static HWY_INLINE bool make(const Rows& rows, Columns<D, Op>& columns, T* out, bool stream, const Finish& finish) {
    switch (columns.count) {
      case 1: return with_rows<1>(rows, columns, out, stream, finish);
      case 2: return with_rows<2>(rows, columns, out, stream, finish);
      case 3: return with_rows<3>(rows, columns, out, stream, finish);
      case 4: return with_rows<4>(rows, columns, out, stream, finish);
      default: return with_rows<0>(rows, columns, out, stream, finish);
    }
  }

 private:
  template <int R, class Finish>
  static bool with_rows(const Rows& rows, Columns<D, Op>& columns, T* out, bool stream, const Finish& finish) {
    const Index inner = rows.inner.extent;
    const bool streams = stream && reinterpret_cast<std::uintptr_t>(out) % (lanes * sizeof(T)) == 0 && inner % lanes == 0;
    Index lane = 0;
    for (; lane + 2 * lanes <= inner; lane += 2 * lanes) with_kernel<R, 2>(rows, columns, out, lane, streams, finish);
    for (; lane < inner; lane += lanes)
      with_kernel<R, 1>(rows, columns, out, std::min(lane, inner - lanes), streams, finish);
    return !columns.saw_nan();
  }

  template <int R, int vectors, class Finish>
  static HWY_INLINE void with_kernel(const Rows& rows, Columns<D, Op>& columns, T* out, Index lane, bool stream,
                                     const Finish& finish) {
    switch (rows.horizontal.window.kernel) {
      case 1: return along<R, vectors, 1>(rows, columns, out, lane, stream, finish);
      case 2: return along<R, vectors, 2>(rows, columns, out, lane, stream, finish);
      case 3: return along<R, vectors, 3>(rows, columns, out, lane, stream, finish);
      default: return along<R, vectors, 4>(rows, columns, out, lane, stream, finish);
    }
  }

  template <int R, int vectors, int kernel, class Finish>
  static HWY_INLINE void along(const Rows& rows, Columns<D, Op>& columns, T* out, Index lane, bool stream,
                               const Finish& finish) {
    const D d;
    const Axis axis = rows.horizontal.window;
    const Index inner = rows.inner.extent;
    V taps[kernel][vectors];
    const bool slides = axis.dilation == 1 && axis.stride < kernel;
    for (Index output = 0; output < axis.output; ++output) {
      const Index start = axis.start(output);
      const int kept = slides && output > 0 ? kernel - static_cast<int>(axis.stride) : 0;
      for (int t = 0; t < kept; ++t)
        for (int v = 0; v < vectors; ++v) taps[t][v] = taps[t + axis.stride][v];
      for (int t = kept; t < kernel; ++t) {
        const Index pixel = start + t * axis.dilation;
        for (int v = 0; v < vectors; ++v)
          taps[t][v] = pixel < 0 || pixel >= axis.input
                           ? Columns<D, Op>::identity()
                           : columns.template at<R>(pixel * inner + lane + v * lanes);
      }
      for (int v = 0; v < vectors; ++v) {
        V all = taps[0][v];
        if constexpr (kernel == 2) all = combine(all, taps[1][v]);
        if constexpr (kernel == 3) all = combine(combine(all, taps[1][v]), taps[2][v]);
        if constexpr (kernel == 4) all = combine(combine(all, taps[1][v]), combine(taps[2][v], taps[3][v]));
        all = finish(all, output);
        T* to = out + output * inner + lane + v * lanes;
        if (stream)
          hn::Stream(all, d, to);
        else
          hn::StoreU(all, d, to);
      }
    }
  }

  static HWY_INLINE V combine(V a, V b) { return Columns<D, Op>::combine(a, b); }
};

/// The input rows of an output row, if their combination in registers is the spec's: of up to four rows of one axis, of
/// more or of several axes for max and min, whose combines may come in any order. Padded taps can be left out where that
/// does not move the split.
template <class D, class Op>
HWY_INLINE bool gather_rows(const Rows& rows, const RowCursor& cursor, const hn::TFromD<D>* base,
                            Columns<D, Op>& columns) {
  columns.rows[0] = base;
  columns.count = 1;
  for (int v = 0; v < rows.vertical_count; ++v) {
    const PooledAxis& axis = rows.vertical[v];
    const Taps taps = axis.window.taps(cursor.vertical_position(v));
    if (Op::is_sum && (taps.count * columns.count > 4 || (taps.count != taps.length && taps.length > 3))) return false;
    if (Op::is_sum && columns.count == 3) return false;
    if (taps.count * columns.count > most_fused_rows) return false;
    const int before = columns.count;
    for (int r = 0; r < before; ++r) columns.rows[r] += taps.first * axis.stride.in;
    for (int t = 1; t < static_cast<int>(taps.count); ++t)
      for (int r = 0; r < before; ++r)
        columns.rows[t * before + r] = columns.rows[r] + t * taps.step * axis.stride.in;
    columns.count = before * static_cast<int>(taps.count);
  }
  return true;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_INL_H_
