// Per-target code: pools row by row. Included once per instruction set (see forward.cpp), so it has no include guard of
// the usual kind. The loops are plain; each is vectorised by the compiler for the instruction set at hand. Elements are
// only combined with elements, in an order that the window alone decides, so every instruction set gives the same bits.
#if defined(NDPOOL_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ROWS_INL_H_
#undef NDPOOL_ROWS_INL_H_
#else
#define NDPOOL_ROWS_INL_H_
#endif

#include "kernels/scratch.hpp"
#include "kernels/table.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

// Rows either coincide or do not overlap at all, and no element is read after an earlier step of its loop wrote it.
#define NDPOOL_INDEPENDENT _Pragma("GCC ivdep")

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE bool is_nan(T x) {
  if constexpr (std::numeric_limits<T>::has_quiet_NaN)
    return x != x;
  else
    return false;
}

/// More extreme, or a NaN that decides: written with | so that the compiler selects instead of branching.
template <Combine kind, Nan nan, class T>
HWY_INLINE bool replaces(T current, T candidate) {
  const bool more_extreme = kind == Combine::max ? candidate > current : candidate < current;
  return more_extreme | is_nan(nan == Nan::propagate ? candidate : current);
}

template <Combine kind, Nan nan, class T>
struct Combiner {
  static constexpr bool is_sum = kind == Combine::sum;
  static HWY_INLINE T combine(T a, T b) {
    if constexpr (kind == Combine::sum)
      return a + b;
    else
      return replaces<kind, nan>(a, b) ? b : a;
  }
  static constexpr T identity() {
    using Limits = std::numeric_limits<T>;
    if constexpr (kind == Combine::sum) return T(0);
    if constexpr (Limits::has_infinity) {
      if (nan == Nan::ignore) return Limits::quiet_NaN();  // the one value that loses to every number
      return kind == Combine::max ? -Limits::infinity() : Limits::infinity();
    }
    return kind == Combine::max ? Limits::lowest() : Limits::max();
  }
};

/// Folds the windows of output rows. T: element, A: what it is combined in.
template <class T, class A, class Op>
class RowFold {
 public:
  RowFold(const Rows& rows, const T* in, void* scratch)
      : rows_(rows),
        in_(in),
        scratch_(static_cast<char*>(scratch)),
        row_bytes_(scratch_row_bytes(rows)),
        length_(rows.horizontal.window.input * rows.inner.extent) {}

  /// The combined windows of one output row. Output pixel o is at `o * step * inner` of the answer.
  struct Result {
    const A* values;
    Index step;
  };
  Result operator()(const RowCursor& cursor) {
    used_ = 0;
    cursor_ = &cursor;
    const A* columns = fold_vertical(rows_.vertical_count - 1, in_ + cursor.in_offset());
    return rows_.horizontal.window.adaptive ? fold_bins(columns) : fold_windows(columns);
  }

 private:
  A* slot(int number) { return reinterpret_cast<A*>(scratch_ + static_cast<std::size_t>(number) * row_bytes_); }

  static void combine(const A* a, const A* b, A* out, Index count) {
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < count; ++i) out[i] = Op::combine(a[i], b[i]);
  }

  /// An input row as accumulators: in place if it can be read so, else copied to a temporary row.
  const A* load(const T* row) {
    if constexpr (std::is_same_v<T, A>)
      if (rows_.in_is_packed()) return row;
    A* copy = slot(used_++);
    const Index inner = rows_.inner.extent;
    if (rows_.in_is_packed()) {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < length_; ++i) copy[i] = static_cast<A>(row[i]);
      return copy;
    }
    for (Index pixel = 0; pixel < rows_.horizontal.window.input; ++pixel)
      for (Index lane = 0; lane < inner; ++lane)
        copy[pixel * inner + lane] =
            static_cast<A>(row[pixel * rows_.horizontal.in_stride + lane * rows_.inner.in_stride]);
    return copy;
  }

  const A* fold_vertical(int axis, const T* base) {
    if (axis < 0) return load(base);
    const Taps taps = rows_.vertical[axis].window.taps(cursor_->vertical_position(axis));
    return split(taps, 0, taps.length, length_, [&](Index cell) {
      return fold_vertical(axis - 1, base + cell * rows_.vertical[axis].in_stride);
    });
  }

  /// The fold of the spec (spec/walk.hpp) with rows in place of scalars: the same split, so the same bits. A temporary
  /// result always lies in the slot that was free on entry; nullptr stands for taps on no cell.
  template <class Leaf>
  const A* split(const Taps& taps, Index first, Index count, Index length, const Leaf& leaf) {
    if (first + count <= taps.first_tap || first >= taps.first_tap + taps.count) return nullptr;
    if (count == 1) return leaf(taps.first + (first - taps.first_tap) * taps.step);
    const Index half = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(count - 1)));
    const int free_slot = used_;
    const A* earlier = split(taps, first, half, length, leaf);
    const A* later = split(taps, first + half, count - half, length, leaf);
    if (earlier == nullptr) return later;
    if (later == nullptr) return earlier;
    A* out = slot(free_slot);
    combine(earlier, later, out, length);
    used_ = free_slot + 1;
    return out;
  }

  Result fold_bins(const A* columns) {
    const Index inner = rows_.inner.extent;
    A* bins = slot(used_++);
    for (Index output = 0; output < rows_.horizontal.window.output; ++output) {
      const int free_slot = used_;
      const Taps taps = rows_.horizontal.window.taps(output);
      const A* bin = split(taps, 0, taps.length, inner, [&](Index cell) { return columns + cell * inner; });
      std::copy(bin, bin + inner, bins + output * inner);
      used_ = free_slot;
    }
    return {bins, 1};
  }

  Result fold_windows(const A* columns) {
    const Axis& axis = rows_.horizontal.window;
    if (axis.kernel == 1 && axis.lo == 0 && (axis.output - 1) * axis.stride < axis.input) return {columns, axis.stride};
    const Index inner = rows_.inner.extent, shift = axis.dilation * inner;
    const Index total = ((axis.output - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1) * inner;
    const A* blocks = pad(columns, axis.lo * inner, total);
    // blocks[i] combines `size` taps from position i on. The kernel is a sum of powers of two, the largest in front; the
    // smaller ones are gathered from the back, so that each combine is the one of the spec's split.
    A* doubled = slot(used_++);
    A* rest = slot(used_++);
    Index rest_taps = 0;
    for (Index size = 1;; size *= 2) {
      const Index blocks_end = total - (size - 1) * shift;
      if (axis.kernel & size) {
        const Index begin = axis.kernel - rest_taps - size;  // taps in front of this block
        const A* block = blocks + begin * shift;
        const Index count = blocks_end - begin * shift;
        const bool is_last = begin == 0;
        if (rest_taps == 0) {
          if (is_last) return {blocks, axis.stride};
          std::copy(block, block + count, rest);
        } else {
          combine(block, rest, rest, std::min(count, total - (axis.kernel - 1) * shift));
          if (is_last) return {rest, axis.stride};
        }
        rest_taps += size;
      }
      combine(blocks, blocks + size * shift, doubled, blocks_end - size * shift);
      blocks = doubled;
    }
  }

  /// The row from tap 0 of the first output to the last tap of the last one, with identities outside the input.
  const A* pad(const A* columns, Index before, Index total) {
    if (before == 0 && total <= length_) return columns;
    A* padded = slot(used_++);
    const Index end = std::min(total, before + length_);
    std::fill(padded, padded + std::min(before, total), Op::identity());
    if (before < end) std::copy(columns, columns + (end - before), padded + before);
    if (end < total) std::fill(padded + std::max(end, before), padded + total, Op::identity());
    return padded;
  }

  const Rows& rows_;
  const T* in_;
  char* scratch_;
  std::size_t row_bytes_;
  Index length_;
  const RowCursor* cursor_ = nullptr;
  int used_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ROWS_INL_H_
