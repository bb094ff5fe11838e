// Per-target code: the input rows of a window, combined in registers. No include guard of the usual kind: see
// rows-inl.h.
//
// A *column* is the combination of all input rows of a window at one position of the row. Maxima and minima are plain
// vector instructions that lose NaNs, and sums of long integers may not fit; what is noticed of everything that was
// read (Cells::notice) tells whether that was so, and what was made of it is then made again by another path.
#if defined(NDPOOL_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_COLUMNS_INL_H_
#undef NDPOOL_COLUMNS_INL_H_
#else
#define NDPOOL_COLUMNS_INL_H_
#endif

#include "kernels/simd/folds-inl.h"

#include <array>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Input rows of a window that are combined in registers.
inline constexpr int most_fused_rows = 16;

/// Output rows that are made together: some of one plane, whose windows have as many input rows each, or the same rows
/// of planes that follow one another.
struct RowRun {
  Index count = 1;                  ///< rows of a plane
  Index in_step = 0, out_step = 0;  ///< from row to row
  Index planes = 1;
  Index plane_in = 0, plane_out = 0;  ///< from plane to plane
  /// Of windows of three rows: the first window may have its first row above the plane, the last its last one below.
  bool cut_above = false, cut_below = false;
  /// How many rows ahead memory is asked for while a row is made; 0 if it is not. Rows that are so long that several do
  /// not fit into the first-level cache are streams that the hardware follows by itself.
  Index rows_ahead(std::size_t size, Index wanted_bytes) const {
    constexpr Index most_bytes = 32768;
    const Index bytes = in_step * static_cast<Index>(size);
    return bytes > 0 && bytes <= most_bytes ? (wanted_bytes + bytes - 1) / bytes : 0;
  }
  /// Where that is, relative to the row, in elements: it may be in the next plane.
  HWY_INLINE Index ahead(Index row, Index rows_ahead) const {
    if (rows_ahead == 0) return 0;
    return rows_ahead * in_step + (planes > 1 && row + rows_ahead >= count ? plane_in - count * in_step : 0);
  }
};

/// Bytes that are asked for ahead, of arrays in the cache and of others. The more rows are read side by side, the less
/// of each.
inline constexpr Index asked_near = 1024, asked_far = 8192, asked_of_many = 2048, asked_of_lanes = 4096;

/// Asks for the memory of so many elements.
template <Index count, class E, int... line>
HWY_INLINE void ask_for(const E* from, std::integer_sequence<int, line...>) {
  (hwy::Prefetch(from + line * (64 / sizeof(E))), ...);
}
template <Index count, class E>
HWY_INLINE void ask_for(const E* from) {
  ask_for<count>(from, std::make_integer_sequence<int, static_cast<int>((count * sizeof(E) + 63) / 64)>());
}

/// True if rows of outputs may be written past the cache: all of them begin and end where vectors do. A line that is
/// written both ways is written twice.
template <class C>
bool rows_stream(const Axis& axis, const typename C::Element* out, Index row_step, Index plane_step) {
  constexpr Index lanes = C::lanes;
  return axis.output % lanes == 0 && row_step % lanes == 0 && plane_step % lanes == 0 &&
         reinterpret_cast<std::uintptr_t>(out) % (lanes * sizeof(typename C::Element)) == 0;
}

/// How many rows are made together: among those that could not be, because of a NaN, fewer.
class Caution {
 public:
  Index most(Index otherwise) const { return doubtful_ > 0 ? fewer_ : otherwise; }
  void made(Index count) { doubtful_ = std::max<Index>(0, doubtful_ - count); }
  void failed(Index count, Index least = 1) {
    if (doubtful_ == 0) doubtful_ = count;
    fewer_ = std::max(count / 8, least);
  }

 private:
  Index doubtful_ = 0, fewer_ = 1;
};

/// In place of a row on padding: an absent tap adds +0, so that a zero sum has the sign that the reference gives it.
inline constexpr Index no_row_length = 2064;
template <class E>
const E* no_row() {
  alignas(64) static constexpr auto cells = [] {
    std::array<E, no_row_length> all{};
    all.fill(static_cast<E>(0.0F));
    return all;
  }();
  return cells.data();
}

/// Positions of an axis from one on, up to `most`, whose windows are all on the input; 1 if the first is not.
inline Index run_length(const Axis& axis, Index position, Index most) {
  if (axis.adaptive) return 1;
  const Range full = axis.full_outputs();
  return position < full.begin || position >= full.end ? 1 : std::clamp<Index>(most, 1, full.end - position);
}
/// Rows of the cursor's plane, up to `most`, whose windows have all their rows of the last vertical axis on the input.
inline Index run_length(const Rows& rows, const RowCursor& cursor, Index most) {
  const int last = rows.vertical_count - 1;
  return last < 0 ? 1 : run_length(rows.vertical[last].window, cursor.vertical_position(last), most);
}

/// Columns of one output row, or of some below one another.
template <class C, int N>
struct Stack {
  typename C::V of[N];
};
/// A stack of f(0), ..., f(N - 1).
template <class C, int N, class F>
HWY_INLINE Stack<C, N> make_stack(const F& f) {
  Stack<C, N> stack;
  repeat<N>([&](int n) NDPOOL_HOT { stack.of[n] = f(n); });
  return stack;
}

/// The rows of one window, and what was seen of them.
template <class C>
class Columns {
 public:
  using E = typename C::Element;
  using V = typename C::V;

  HWY_INLINE Columns() : seen_(hn::Zero(typename C::D())) {}
  /// The first rows alone, so that they and what was seen can live in registers. R = 0 stands for any number.
  template <int R>
  HWY_INLINE Columns first_rows() const {
    Columns copy;
    copy.count = count;
    copy.first_tap = first_tap;
    copy.padded = padded;
    copy.template for_each_row<R>([&](int r) NDPOOL_HOT { copy.rows[r] = rows[r]; });
    return copy;
  }
  /// Takes over what was seen by others, or by a copy.
  HWY_INLINE void take_seen(V seen) { watch(seen); }
  HWY_INLINE void take_seen(const Columns& copy) { watch(copy.seen_); }
  /// To the window of the next row.
  template <int R>
  HWY_INLINE void advance(Index step) {
    for_each_row<R>([&](int r) NDPOOL_HOT { rows[r] += step; });
  }

  const E* rows[most_fused_rows + 1];
  int count = 0;
  /// Taps on padding that keep their place in the split of a sum: how many there are, and which tap the first row is.
  int padded = 0, first_tap = 0;
  /// The number of rows, or 0 if that alone does not tell how they are to be combined.
  int plain_count() const { return padded > 0 ? 0 : count; }

  /// Asks for the memory of windows that a run will come to: of rows that the windows before have not asked for. Those
  /// of three rows nearly always share the first.
  template <int R, int N = 1>
  HWY_INLINE void prefetch(Index element) const {
    constexpr int first = R != 3 ? 0 : N == 1 ? 1 : 2;
    if constexpr (R > 0)
      prefetch_from<first>(element, std::make_integer_sequence<int, R + N - 1 - first>());
    else
      for (int r = 0; r < count; ++r) hwy::Prefetch(rows[r] + element);
  }
  /// The same in the order of memory, as the hardware likes it: of the rows that follow one another there, as much as a
  /// vector of outputs takes of all of them. Windows step by so many cells on both axes, N of them are made together.
  template <int R, int N, int stride>
  HWY_INLINE void ask(Index output, Index ahead) const {
    if constexpr (R > 0) {
      constexpr int fresh = std::min(R, N * stride), streams = R >= 4 ? R / fresh : 1;
      constexpr int first = streams > 1 ? 0 : R + N - 1 - fresh;
      ask_from<first, fresh * stride>(output, ahead, std::make_integer_sequence<int, streams>());
    } else {
      for (int r = 0; r < count; ++r) hwy::Prefetch(rows[r] + ahead + stride * output);
    }
  }

  /// The columns from an element of the row on.
  template <int R>
  HWY_INLINE V at(Index element) {
    return stack_at<R, 1>(element).of[0];
  }
  /// Those of N windows, each a row below the one before. Where windows share rows, the last `watched` of them alone
  /// have to be watched, if `watch_first` was asked about the others.
  template <int R, int N, int watched = R + N - 1>
  HWY_INLINE Stack<C, N> stack_at(Index element) {
    V seen = seen_;
    const Stack<C, N> columns = stack_at<R, N, watched>(element, seen);
    watch(seen);
    return columns;
  }
  /// Two vectors of them: what was seen waits for one of them, not for two.
  template <int N>
  struct Two {
    Stack<C, N> low, high;
  };
  template <int R, int N = 1, int watched = R + N - 1>
  HWY_INLINE Two<N> two_at(Index element) {
    V low_seen = seen_, high_seen = seen_;
    const Two<N> columns{stack_at<R, N, watched>(element, low_seen),
                         stack_at<R, N, watched>(element + C::lanes, high_seen)};
    if constexpr (C::watches) watch(C::notice(low_seen, high_seen));
    return columns;
  }

  /// The same two vectors as even and odd columns.
  struct Parted {
    V even, odd;
  };
  template <int R, int watched = R>
  HWY_INLINE Parted parted_at(Index element) {
    if constexpr (C::comes_apart && R > 0) {
      typename C::Parted cells[R];
      repeat<R>([&](int r) NDPOOL_HOT { cells[r] = C::load_parted(rows[r] + element); });
      const auto even = [&](int r) NDPOOL_HOT { return cells[r].even; };
      const auto odd = [&](int r) NDPOOL_HOT { return cells[r].odd; };
      const auto both = [](V a, V b) NDPOOL_HOT { return C::combine(a, b); };
      if constexpr (C::watches)
        watch(C::notice(noticed<R - watched, watched>(even), noticed<R - watched, watched>(odd)));
      return {fold_split<0, R>(even, both), fold_split<0, R>(odd, both)};
    } else {
      const typename C::D d;
      const auto [low, high] = two_at<R, 1, watched>(element);
      const EvenOdd<V> both = even_odd(d, high.of[0], low.of[0]);
      return {both.even, both.odd};
    }
  }

  /// Sums of even and odd columns.
  template <int R>
  HWY_INLINE V pairs_at(Index element) const {
    static_assert(C::adds_pairs && !C::watches);
    return fold_split<0, R>([&](int r) NDPOOL_HOT { return C::load_pairs(rows[r] + element); },
                            [](V a, V b) NDPOOL_HOT { return C::combine(a, b); });
  }

  /// Watches the first rows of a run, of at least a vector.
  template <int few>
  HWY_INLINE void watch_first(Index length) {
    if constexpr (C::watches)
      repeat<few>([&](int r) NDPOOL_HOT {
        for (Index i = 0; i < length; i += C::lanes) watch(C::noticed(load(r, std::min(i, length - C::lanes))));
      });
  }
  bool saw_unfit() const { return C::is_unfit(seen_); }

 private:
  /// Calls f(r) for all rows.
  template <int R, class F>
  HWY_INLINE void for_each_row(const F& f) const {
    if constexpr (R > 0)
      repeat<R>(f);
    else
      for (int r = 0; r < count; ++r) f(r);
  }

  // Not by for_each_row: GCC takes a function that only prefetches, as the one it calls would, for one without effect.
  template <int first, int... r>
  HWY_INLINE void prefetch_from(Index element, std::integer_sequence<int, r...>) const {
    (hwy::Prefetch(rows[first + r] + element), ...);
  }

  template <int first, int cells, int... stream>
  HWY_INLINE void ask_from(Index output, Index ahead, std::integer_sequence<int, stream...>) const {
    (ask_for<cells * C::lanes>(rows[first + stream] + ahead + output * cells), ...);
  }

  /// What is used once need not be in a register.
  template <bool once = false>
  HWY_INLINE V load(int row, Index element) const {
    const E* from = rows[row] + element;
    return once ? C::load_and_widen(from) : C::load(from);
  }

  /// What is noticed of leaf(first), ... together.
  template <int first, int count, class Leaf>
  static HWY_INLINE V noticed(const Leaf& leaf) {
    return fold_split<first, count>([&](int r) NDPOOL_HOT { return C::noticed(leaf(r)); },
                                    [](V a, V b) NDPOOL_HOT { return C::notice(a, b); });
  }

  /// Also what was noticed of all that was read, where it is watched.
  template <int R, int N, int watched>
  HWY_INLINE Stack<C, N> stack_at(Index element, [[maybe_unused]] V& seen) const {
    const auto both = [](V a, V b) NDPOOL_HOT { return C::combine(a, b); };
    if constexpr (R > 0) {
      constexpr int all = R + N - 1;
      V cells[all];
      repeat<all>([&](int r) NDPOOL_HOT { cells[r] = load < N == 1 && !C::watches > (r, element); });
      const auto leaf = [&](int r) NDPOOL_HOT { return cells[r]; };
      if constexpr (C::watches) seen = noticed<all - watched, watched>(leaf);
      if constexpr (N == 1) {
        return {{fold_split<0, R>(leaf, both)}};
      } else if constexpr (C::kind == Combine::sum) {
        return {{fold_split<0, R>(leaf, both), fold_split<1, R>(leaf, both)}};
      } else {
        // All rows but one each are the same. Sums would not have the spec's split.
        const V shared = fold_split<1, R - 1>(leaf, both);
        return {{both(leaf(0), shared), both(shared, leaf(R))}};
      }
    } else if constexpr (C::kind == Combine::sum) {
      if constexpr (C::watches) seen = hn::Zero(typename C::D());
      return {{fold_split<C>(count + padded, [&](Index tap) NDPOOL_HOT {
        const Index r = tap - first_tap;
        if (r < 0 || r >= count) return hn::Zero(typename C::D());
        const V v = load(static_cast<int>(r), element);
        if constexpr (C::watches) seen = C::notice(seen, C::noticed(v));
        return v;
      })}};
    } else {
      V all = load(0, element);
      seen = all;
      for (int r = 1; r < count; ++r) {
        const V v = load(r, element);
        all = both(all, v);
        if constexpr (C::watches) seen = C::notice(seen, v);
      }
      return {{all}};
    }
  }

  HWY_INLINE void watch(V seen) {
    if constexpr (C::watches) seen_ = C::notice(seen_, seen);
  }

  V seen_;
};

/// Calls `f.operator()<R>()` with the number of rows as a constant where that is a common one, else with 0.
template <class C, class F>
HWY_INLINE bool with_row_count(int count, const F& f) {
  if constexpr (C::is_common && !NDPOOL_IS_SANITIZED) {
    if (count == 1) return f.template operator()<1>();
    if (count == 4) return f.template operator()<4>();
    if (count == 8) return f.template operator()<8>();
  }
  if (count == 2) return f.template operator()<2>();
  if constexpr (!C::is_rare)
    if (count == 3) return f.template operator()<3>();
  return f.template operator()<0>();
}

/// The input rows of an output row, if combining them in registers is what the spec does. The combines of max and min
/// may come in any order; in sums, padded taps can only be left out where that does not move the split, and are only
/// counted where there is one vertical axis.
template <class C>
HWY_INLINE bool gather_rows(const Rows& rows, const RowCursor& cursor, const typename C::Element* base,
                            Columns<C>& columns) {
  constexpr bool is_sum = C::kind == Combine::sum;
  columns.rows[0] = base;
  Index count = 1;
  for (int v = 0; v < rows.vertical_count; ++v) {
    const PooledAxis& axis = rows.vertical[v];
    const Taps taps = axis.window.taps(cursor.vertical_position(v));
    if (is_sum && (count & (count - 1))) return false;  // the split of all rows is not that of each axis
    if (is_sum && taps.count != taps.length) {
      if (rows.vertical_count > 1 || taps.length > most_fused_rows) return false;
      columns.padded = static_cast<int>(taps.length - taps.count);
      columns.first_tap = static_cast<int>(taps.first_tap);
    }
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

#endif  // NDPOOL_COLUMNS_INL_H_
