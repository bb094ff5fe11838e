// Per-target code: small windows whose rows are combined in registers, so that a tile is read once and written once and
// nothing is stored in between. No include guard of the usual kind: see rows-inl.h.
//
// A *column* is the combination of all input rows of a window at one position of the row. Channels-first outputs are
// made of columns by moving lanes; where several lanes lie behind the last pooled axis, whole vectors of columns slide
// along the row. Maxima and minima are plain vector instructions that lose NaNs; a sum of everything that was read
// tells whether there was one, and then the row is made again by the careful path.
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
template <class D, Combine kind>
class Columns {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  HWY_INLINE Columns() : seen_(hn::Zero(D())) {}
  /// The first rows alone, so that they and what was seen can live in registers.
  template <int R>
  HWY_INLINE Columns<D, kind> first_rows() const {
    Columns copy;
    for (int r = 0; r < (R == 0 ? count : R); ++r) copy.rows[r] = rows[r];
    copy.count = count;
    return copy;
  }

  const T* rows[most_fused_rows];
  int count = 0;

  /// Of two zeros the first stays, as in the passes: the instructions give the second operand where both are equal.
  static HWY_INLINE V combine(V a, V b) {
    if constexpr (kind == Combine::sum)
      return hn::Add(a, b);
    else if constexpr (kind == Combine::max)
      return hn::Max(b, a);
    else
      return hn::Min(b, a);
  }
  /// What changes no number; rows with NaNs, which a policy could ask to lose to it, do not come to an end here.
  static HWY_INLINE V identity() { return hn::Set(D(), Combiner<kind, Nan::propagate, T>::identity()); }

  /// The columns from an element of the row on. `R` is the number of rows, or 0 for four and more.
  template <int R>
  HWY_INLINE V at(Index element) {
    const V a = load(0, element);
    if constexpr (R == 1) {
      watch(a);
      return a;
    }
    const V b = load(1, element);
    if constexpr (R == 2) {
      watch(hn::Add(a, b));
      return combine(a, b);
    }
    const V c = load(2, element);
    if constexpr (R == 3) {
      watch(hn::Add(hn::Add(a, b), c));
      return combine(combine(a, b), c);
    }
    V sum = hn::Add(hn::Add(a, b), c);
    if constexpr (kind == Combine::sum)
      return fold_split(count, [&](Index r) HWY_ATTR { return load(static_cast<int>(r), element); });
    V all = combine(combine(a, b), c);
    for (int r = 3; r < count; ++r) {
      const V v = load(r, element);
      all = combine(all, v);
      sum = hn::Add(sum, v);
    }
    watch(sum);
    return all;
  }

  /// Folds leaf(0), leaf(1), ... with the spec's split: equal blocks are joined as soon as there are two of them, and
  /// the rest from the back.
  template <class Leaf>
  static HWY_INLINE V fold_split(Index count, const Leaf& leaf) {
    V blocks[8];  // no window in registers has 2^8 taps on one axis
    int used = 0;
    for (Index i = 0; i < count; ++i) {
      V v = leaf(i);
      for (Index bits = i; bits & 1; bits >>= 1) v = combine(blocks[--used], v);
      blocks[used++] = v;
    }
    V all = blocks[--used];
    while (used > 0) all = combine(blocks[--used], all);
    return all;
  }

  bool saw_nan() const {
    if constexpr (!watches) return false;
    return !hn::AllFalse(D(), hn::MaskFromVec(seen_));
  }

 private:
  static constexpr bool watches = std::is_floating_point_v<T> && kind != Combine::sum;

  HWY_INLINE V load(int row, Index element) const { return hn::LoadU(D(), rows[row] + element); }

  /// Remembers a NaN. Infinities of both signs add up to one as well; that only costs time.
  HWY_INLINE void watch(V sum) {
    if constexpr (watches) seen_ = hn::Or(seen_, hn::VecFromMask(D(), hn::IsNaN(sum)));
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
template <class D, Combine kind>
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
  static HWY_INLINE bool make(const Axis& axis, Columns<D, kind>& columns, T* out, bool stream, const Finish& finish) {
    switch (columns.count) {
      case 1: return with_rows<1>(axis, columns, out, stream, finish);
      case 2: return with_rows<2>(axis, columns, out, stream, finish);
      case 3: return with_rows<3>(axis, columns, out, stream, finish);
      default: return with_rows<0>(axis, columns, out, stream, finish);
    }
  }

 private:
  template <int R, class Finish>
  static bool with_rows(const Axis& window, const Columns<D, kind>& all_columns, T* out, bool stream,
                        const Finish& finish) {
    const Axis axis = window;
    Columns<D, kind> columns = all_columns.template first_rows<R>();
    // A line that is written both ways is written twice, so rows with a rest are stored plainly.
    stream = stream && axis.output % lanes == 0;
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
      if (stream)
        hn::Stream(finished, D(), out + output);
      else
        hn::StoreU(finished, D(), out + output);
    }
  };

  static HWY_INLINE V combine(V a, V b) { return Columns<D, kind>::combine(a, b); }

  /// Columns from `element` on, which may be one outside the row on either side.
  template <int R>
  static HWY_INLINE V near_edge(Columns<D, kind>& columns, Index element, Index length) {
    const V identity = Columns<D, kind>::identity();
    if (element < 0) return slide<static_cast<int>(lanes - 1)>(D(), columns.template at<R>(0), identity);
    if (element + lanes > length) return slide<1>(D(), identity, columns.template at<R>(length - lanes));
    return columns.template at<R>(element);
  }

  /// Stride 1: an output is made of its column and its neighbours'.
  template <int R, int kernel, int lo, class Store>
  static HWY_INLINE void every(const Axis& axis, Columns<D, kind>& columns, const Store& store) {
    const D d;
    const Index length = axis.input, outputs = axis.output;
    constexpr int last = static_cast<int>(lanes) - 1;
    Index output = 0;
    if (2 * lanes <= length) {
      V before = Columns<D, kind>::identity(), here = columns.template at<R>(0);
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
  static HWY_INLINE void every_second(const Axis& axis, Columns<D, kind>& columns, const Store& store) {
    const D d;
    const Index length = axis.input, outputs = axis.output;
    constexpr int last = static_cast<int>(lanes) - 1;
    Index output = 0;
    V odd_before = Columns<D, kind>::identity();
    if constexpr (kernel == 3 && lo == 0) {
      V low = columns.template at<R>(0);
      for (; 2 * output + 3 * lanes <= length && output + lanes <= outputs; output += lanes) {
        const V high = columns.template at<R>(2 * output + lanes),
                next = columns.template at<R>(2 * output + 2 * lanes);
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
        V left = slide<last>(d, odd, Columns<D, kind>::identity());
        if (from > 0)
          left = hn::ConcatEven(d, columns.template at<R>(from - 1 + lanes), columns.template at<R>(from - 1));
        store(combine(combine(left, even), odd), output);
      }
      output += lanes;
    }
  }
};

/// Makes output rows whose lanes behind the last pooled axis fill vectors: columns slide along the row.
template <class D, Combine kind>
class FusedLanes {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));

  static constexpr int vectors = 2;  ///< a cache line at a time

  static bool can_make(const Rows& rows) {
    const Axis& axis = rows.horizontal.window;
    if (rows.inner.extent < vectors * lanes) return false;
    // Taps that are not kept in registers are read again; far apart in memory, they would push each other out of cache.
    if (!axis.adaptive && axis.kernel <= 3) return true;
    return axis.kernel <= most_fused_rows && rows.inner.extent * static_cast<Index>(sizeof(T)) <= 1024;
  }

  template <class Finish>
  static HWY_INLINE bool make(const Rows& rows, Columns<D, kind>& columns, T* out, bool stream, const Finish& finish) {
    switch (columns.count) {
      case 1: return with_rows<1>(rows, columns, out, stream, finish);
      case 2: return with_rows<2>(rows, columns, out, stream, finish);
      case 3: return with_rows<3>(rows, columns, out, stream, finish);
      default: return with_rows<0>(rows, columns, out, stream, finish);
    }
  }

 private:
  template <int R, class Finish>
  static bool with_rows(const Rows& rows, const Columns<D, kind>& all_columns, T* out, bool stream,
                        const Finish& finish) {
    const Index inner = rows.inner.extent;
    Columns<D, kind> columns = all_columns.template first_rows<R>();
    const bool streams =
        stream && reinterpret_cast<std::uintptr_t>(out) % (lanes * sizeof(T)) == 0 && inner % lanes == 0;
    // Some pixels with all their lanes at a time, so that memory is walked through nearly in order.
    const Axis& axis = rows.horizontal.window;
    const Index pixels = std::max<Index>(8, 4096 / (inner * static_cast<Index>(sizeof(T))));
    const Index kept = axis.dilation == 1 ? axis.kernel - axis.stride : 0;
    for (Index begin = 0; begin < axis.output; begin += pixels)
      for (Index lane = 0; lane < inner; lane += vectors * lanes) {
        const Index from = std::min(lane, inner - vectors * lanes);
        const Range range = {begin, std::min(begin + pixels, axis.output)};
        if (axis.adaptive || axis.kernel > 3) {
          one_by_one<R>(rows, columns, out, from, range, streams, finish);
        } else if (axis.kernel == 3) {
          if (kept == 2)
            along<R, 3, 2>(rows, columns, out, from, range, streams, finish);
          else if (kept == 1)
            along<R, 3, 1>(rows, columns, out, from, range, streams, finish);
          else
            along<R, 3, 0>(rows, columns, out, from, range, streams, finish);
        } else if (axis.kernel == 2) {
          if (kept == 1)
            along<R, 2, 1>(rows, columns, out, from, range, streams, finish);
          else
            along<R, 2, 0>(rows, columns, out, from, range, streams, finish);
        } else {
          along<R, 1, 0>(rows, columns, out, from, range, streams, finish);
        }
      }
    return !columns.saw_nan();
  }

  /// Windows with more taps, and bins. Taps outside the input keep their place in the split.
  template <int R, class Finish>
  static HWY_INLINE void one_by_one(const Rows& rows, Columns<D, kind>& columns, T* out, Index lane, Range range,
                                    bool stream, const Finish& finish) {
    const Axis& axis = rows.horizontal.window;
    const Index inner = rows.inner.extent;
    for (Index output = range.begin; output < range.end; ++output) {
      const Taps taps = axis.taps(output);
      for (int v = 0; v < vectors; ++v) {
        const Index from = taps.first * inner + lane + v * lanes, step = taps.step * inner;
        V all = Columns<D, kind>::identity();
        if constexpr (kind == Combine::sum) {
          all = Columns<D, kind>::fold_split(taps.length, [&](Index t) HWY_ATTR {
            const Index real = t - taps.first_tap;
            return real < 0 || real >= taps.count ? Columns<D, kind>::identity()
                                                  : columns.template at<R>(from + real * step);
          });
        } else {
          for (Index t = 0; t < taps.count; ++t) all = combine(all, columns.template at<R>(from + t * step));
        }
        store(finish(all, output), out + output * inner + lane + v * lanes, stream);
      }
    }
  }

  static HWY_INLINE void store(V v, T* to, bool stream) {
    if (stream)
      hn::Stream(v, D(), to);
    else
      hn::StoreU(v, D(), to);
  }

  /// The last `kept` taps of a window are the first ones of the next.
  template <int R, int kernel, int kept, class Finish>
  static HWY_INLINE void along(const Rows& rows, Columns<D, kind>& columns, T* out, Index lane, Range range,
                               bool stream, const Finish& finish) {
    const Axis axis = rows.horizontal.window;
    const Index inner = rows.inner.extent;
    V taps[kernel][vectors];
    const auto fill = [&](int t, Index pixel) HWY_ATTR {
      const bool outside = pixel < 0 || pixel >= axis.input;
      for (int v = 0; v < vectors; ++v)
        taps[t][v] = outside ? Columns<D, kind>::identity() : columns.template at<R>(pixel * inner + lane + v * lanes);
    };
    for (int t = 0; t < kept; ++t) fill(kernel - kept + t, axis.start(range.begin) + t * axis.dilation);
    for (Index output = range.begin; output < range.end; ++output) {
      const Index start = output * axis.stride - axis.lo;
      for (int t = 0; t < kept; ++t)
        for (int v = 0; v < vectors; ++v) taps[t][v] = taps[t + kernel - kept][v];
      for (int t = kept; t < kernel; ++t) fill(t, start + t * axis.dilation);
      for (int v = 0; v < vectors; ++v) {
        V all = taps[0][v];
        if constexpr (kernel == 2) all = combine(all, taps[1][v]);
        if constexpr (kernel == 3) all = combine(combine(all, taps[1][v]), taps[2][v]);
        store(finish(all, output), out + output * inner + lane + v * lanes, stream);
      }
    }
  }

  static HWY_INLINE V combine(V a, V b) { return Columns<D, kind>::combine(a, b); }
};

/// The input rows of an output row, if combining them in registers is what the spec does. The combines of max and min
/// may come in any order; in sums, padded taps can only be left out where that does not move the split.
template <class D, Combine kind>
HWY_INLINE bool gather_rows(const Rows& rows, const RowCursor& cursor, const hn::TFromD<D>* base,
                            Columns<D, kind>& columns) {
  columns.rows[0] = base;
  Index count = 1;
  for (int v = 0; v < rows.vertical_count; ++v) {
    const PooledAxis& axis = rows.vertical[v];
    const Taps taps = axis.window.taps(cursor.vertical_position(v));
    if (kind == Combine::sum && (count & (count - 1))) return false;  // the split of all rows is not that of each axis
    if (kind == Combine::sum && taps.count != taps.length && (taps.length > 3 || rows.vertical_count > 1)) return false;
    if (taps.count * count > most_fused_rows) return false;
    const Index step = taps.step * axis.stride.in;
    for (Index r = 0; r < count; ++r) columns.rows[r] += taps.first * axis.stride.in;
    for (Index t = count; t < taps.count * count; ++t) columns.rows[t] = columns.rows[t - count] + step;
    count *= taps.count;
  }
  columns.count = static_cast<int>(count);
  return true;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_INL_H_
