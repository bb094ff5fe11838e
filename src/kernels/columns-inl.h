// Per-target code: the input rows of a window, combined in registers. No include guard of the usual kind: see
// rows-inl.h.
//
// A *column* is the combination of all input rows of a window at one position of the row. Maxima and minima are plain
// vector instructions that lose NaNs; a sum of everything that was read tells whether there was one, and what was made
// of it is then made again by another path.
#if defined(NDPOOL_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_COLUMNS_INL_H_
#undef NDPOOL_COLUMNS_INL_H_
#else
#define NDPOOL_COLUMNS_INL_H_
#endif

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

/// Elements of one scalar in vectors: short floats are combined as floats, and sums of bytes have 16 bits.
template <class E, Combine combine_kind>
struct Cells {
  static constexpr Combine kind = combine_kind;
  static constexpr bool is_short = !std::is_arithmetic_v<E>;
  static constexpr bool sums_bytes = kind == Combine::sum && sizeof(E) == 1;
  /// Taps whose sum is exact. No other element is lost in a sum of its own type.
  static constexpr Index most_taps = sums_bytes ? 128 : std::numeric_limits<Index>::max();

  using Element = E;
  using T = std::conditional_t<is_short, float, std::conditional_t<sums_bytes, std::int16_t, E>>;
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));
  static constexpr bool watches = std::is_floating_point_v<T> && kind != Combine::sum;
  /// Other scalars have fewer constants in their loops, for the compiler's sake.
  static constexpr bool is_common = std::is_same_v<E, float>;

  static HWY_INLINE V load(const E* from) {
    if constexpr (sums_bytes) {
      return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<E, D>(), from));
    } else if constexpr (std::is_same_v<E, f16>) {
      const hn::Rebind<hwy::float16_t, D> narrow;
      return hn::PromoteTo(D(), hn::LoadU(narrow, reinterpret_cast<const hwy::float16_t*>(from)));
    } else if constexpr (std::is_same_v<E, bf16>) {
      const hn::Rebind<std::uint16_t, D> narrow;
      const hn::Rebind<std::uint32_t, D> wide;
      const auto bits = hn::PromoteTo(wide, hn::LoadU(narrow, reinterpret_cast<const std::uint16_t*>(from)));
      return hn::BitCast(D(), hn::ShiftLeft<16>(bits));
    } else {
      return hn::LoadU(D(), from);
    }
  }

  /// With `streams`, past the cache: only to where such vectors are aligned.
  static HWY_INLINE void store(V v, E* to, bool streams = false) {
    const auto narrow = narrowed(v);
    const hn::Rebind<Stored, D> d;
    Stored* at = reinterpret_cast<Stored*>(to);
    if (streams)
      hn::Stream(narrow, d, at);
    else
      hn::StoreU(narrow, d, at);
  }

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

  static HWY_INLINE bool has_nan([[maybe_unused]] V v) {
    if constexpr (watches) return !hn::AllFalse(D(), hn::IsNaN(v));
    return false;
  }

 private:
  using Stored = std::conditional_t<is_short, std::uint16_t, E>;

  /// Rounds to the nearest, ties to even, and keeps integers in their range. All NaNs of a sign are one.
  static HWY_INLINE auto narrowed(V v) {
    if constexpr (sums_bytes) {
      return hn::DemoteTo(hn::Rebind<E, D>(), v);
    } else if constexpr (std::is_same_v<E, f16>) {
      const hn::Rebind<hwy::float16_t, D> narrow;
      if constexpr (kind == Combine::sum) {
        const V nan = hn::CopySign(hn::Set(D(), std::numeric_limits<T>::quiet_NaN()), v);
        v = hn::IfThenElse(hn::IsNaN(v), nan, v);
      }
      return hn::BitCast(hn::Rebind<std::uint16_t, D>(), hn::DemoteTo(narrow, v));
    } else if constexpr (std::is_same_v<E, bf16>) {
      const hn::Rebind<std::int32_t, D> wide;
      const auto bits = hn::BitCast(wide, v);
      auto rounded = bits;
      if constexpr (kind == Combine::sum) {
        const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(wide, 1));
        rounded = hn::Add(bits, hn::Add(is_odd, hn::Set(wide, 0x7fff)));
        const V nan = hn::CopySign(hn::Set(D(), std::numeric_limits<T>::quiet_NaN()), v);
        rounded = hn::IfThenElse(hn::RebindMask(wide, hn::IsNaN(v)), hn::BitCast(wide, nan), rounded);
      }
      const hn::Rebind<std::uint32_t, D> plain;
      const auto upper = hn::BitCast(wide, hn::ShiftRight<16>(hn::BitCast(plain, rounded)));
      return hn::DemoteTo(hn::Rebind<std::uint16_t, D>(), upper);
    } else {
      return v;
    }
  }
};

/// Folds leaf(0), ..., leaf(N - 1) with the spec's split.
template <int first, int count, class Leaf, class Combiner>
HWY_INLINE auto fold_split(const Leaf& leaf, const Combiner& combine) {
  if constexpr (count == 1) {
    return leaf(first);
  } else {
    constexpr int half = static_cast<int>(std::bit_floor(static_cast<unsigned>(count - 1)));
    return combine(fold_split<first, half>(leaf, combine), fold_split<first + half, count - half>(leaf, combine));
  }
}
/// The same for a number of leaves that is known at run time: equal blocks are joined as soon as there are two of them,
/// and the rest from the back.
template <class C, class Leaf>
HWY_INLINE typename C::V fold_split(Index count, const Leaf& leaf) {
  typename C::V blocks[8];  // no window in registers has 2^8 taps on one axis
  int used = 0;
  for (Index i = 0; i < count; ++i) {
    auto v = leaf(i);
    for (Index bits = i; bits & 1; bits >>= 1) v = C::combine(blocks[--used], v);
    blocks[used++] = v;
  }
  auto all = blocks[--used];
  while (used > 0) all = C::combine(blocks[--used], all);
  return all;
}

/// Input rows of a window that are combined in registers.
inline constexpr int most_fused_rows = 16;

/// Output rows of one plane that follow one another, with windows of as many input rows: where the next ones are.
struct RowRun {
  Index count = 1;
  Index in_step = 0, out_step = 0;
  /// How far ahead memory is asked for, in elements: some rows of the run, and a few kilobytes.
  Index ahead(std::size_t size) const {
    const Index bytes = in_step * static_cast<Index>(size);
    return bytes > 0 ? in_step * std::max<Index>(1, 1024 / bytes) : 0;
  }
};

/// Rows of the cursor's plane, up to `most`, whose windows have all their rows of the last vertical axis on the input.
inline Index run_length(const Rows& rows, const RowCursor& cursor, Index most) {
  const int last = rows.vertical_count - 1;
  if (last < 0 || rows.vertical[last].window.adaptive) return 1;
  const Range full = rows.vertical[last].window.full_outputs();
  const Index position = cursor.vertical_position(last);
  return position < full.begin || position >= full.end ? 1 : std::min(most, full.end - position);
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
    copy.template for_each_row<R>([&](int r) HWY_ATTR { copy.rows[r] = rows[r]; });
    return copy;
  }
  /// To the window of the next row.
  template <int R>
  HWY_INLINE void advance(Index step) {
    for_each_row<R>([&](int r) HWY_ATTR { rows[r] += step; });
  }

  const E* rows[most_fused_rows];
  int count = 0;

  /// Asks for the memory of windows that a run will come to. Where there are three rows, the first is nearly always the
  /// last of the window before.
  template <int R>
  HWY_INLINE void prefetch(Index element) const {
    if constexpr (R > 0) return prefetch_all<R>(element, std::make_integer_sequence<int, R>());
    for (int r = 0; r < count; ++r) hwy::Prefetch(rows[r] + element);
  }

  /// The columns from an element of the row on.
  template <int R>
  HWY_INLINE V at(Index element) {
    V sum = seen_;
    const V columns = at<R>(element, sum);
    watch(sum);
    return columns;
  }
  /// Two vectors of them: what was seen waits for one addition, not for two.
  struct Two {
    V low, high;
  };
  template <int R>
  HWY_INLINE Two two_at(Index element) {
    V low_sum = seen_, high_sum = seen_;
    const Two columns{at<R>(element, low_sum), at<R>(element + C::lanes, high_sum)};
    if constexpr (C::watches) watch(hn::Add(low_sum, high_sum));
    return columns;
  }

  bool saw_nan() const { return C::has_nan(seen_); }

 private:
  /// Calls f(r) for all rows, one call after the other where their number is known: then nothing of them is in memory.
  template <int R, class F>
  HWY_INLINE void for_each_row(const F& f) const {
    if constexpr (R > 0) {
      const auto all = [&]<int... r>(std::integer_sequence<int, r...>) HWY_ATTR { (f(r), ...); };
      all(std::make_integer_sequence<int, R>());
    } else {
      for (int r = 0; r < count; ++r) f(r);
    }
  }

  // Not by for_each_row: GCC takes a function that only prefetches, as the one it calls would, for one without effect.
  template <int R, int... r>
  HWY_INLINE void prefetch_all(Index element, std::integer_sequence<int, r...>) const {
    ((R != 3 || r > 0 ? hwy::Prefetch(rows[r] + element) : void()), ...);
  }

  HWY_INLINE V load(int row, Index element) const { return C::load(rows[row] + element); }

  /// Also the sum of what was read, where NaNs are watched for.
  template <int R>
  HWY_INLINE V at(Index element, [[maybe_unused]] V& sum) const {
    const auto combine = [](V a, V b) HWY_ATTR { return C::combine(a, b); };
    if constexpr (R > 0) {
      const auto leaf = [&](int r) HWY_ATTR { return load(r, element); };
      if constexpr (C::watches) sum = fold_split<0, R>(leaf, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
      return fold_split<0, R>(leaf, combine);
    } else if constexpr (C::kind == Combine::sum) {
      return fold_split<C>(count, [&](Index r) HWY_ATTR { return load(static_cast<int>(r), element); });
    } else {
      V all = load(0, element);
      sum = all;
      for (int r = 1; r < count; ++r) {
        const V v = load(r, element);
        all = combine(all, v);
        if constexpr (C::watches) sum = hn::Add(sum, v);
      }
      return all;
    }
  }

  /// Remembers a NaN. Infinities of both signs add up to one as well; that only costs time.
  HWY_INLINE void watch(V sum) {
    if constexpr (C::watches) seen_ = hn::Add(seen_, sum);
  }

  V seen_;
};

/// Calls `f.operator()<R>()` with the number of rows as a constant where that is a common one, else with 0.
template <class C, class F>
HWY_INLINE bool with_row_count(int count, const F& f) {
  if constexpr (C::is_common) {
    if (count == 1) return f.template operator()<1>();
    if (count == 4) return f.template operator()<4>();
    if (count == 8) return f.template operator()<8>();
  }
  if (count == 2) return f.template operator()<2>();
  if (count == 3) return f.template operator()<3>();
  return f.template operator()<0>();
}

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

/// The input rows of an output row, if combining them in registers is what the spec does. The combines of max and min
/// may come in any order; in sums, padded taps can only be left out where that does not move the split.
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
    if (is_sum && taps.count != taps.length && (taps.length > 3 || rows.vertical_count > 1)) return false;
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
