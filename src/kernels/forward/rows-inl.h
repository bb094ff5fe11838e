// Per-target code: pools row by row. Included once per instruction set (see forward_float.cpp), so it has no include
// guard of the usual kind. The loops are plain; each is vectorised by the compiler for the instruction set at hand.
// Elements are only combined with elements, in an order that the window alone decides, so every instruction set gives
// the same bits.
#if defined(NDPOOL_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_ROWS_INL_H_
#undef NDPOOL_ROWS_INL_H_
#else
#define NDPOOL_ROWS_INL_H_
#endif

#include "kernels/scratch.hpp"
#include "kernels/simd/reduction-inl.h"
#include "kernels/table.hpp"

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

// Rows either coincide or do not overlap at all, and no element is read after an earlier step of its loop wrote it.
#define NDPOOL_INDEPENDENT _Pragma("GCC ivdep")

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Folds the windows of output rows, strip by strip.
///
/// A strip goes through two passes. *Across* combines whole input rows, element by element, into one temporary row with
/// identities where its windows reach outside the input; *along* combines the taps inside that row.
template <class Reduction>
class RowFold {
 public:
  using T = typename Reduction::Element;
  using A = typename Reduction::Accumulator;
  using Op = typename Reduction::Op;

  RowFold(const Rows& rows, const T* in, void* scratch)
      : rows_(rows),
        axis_(rows.horizontal.window),
        inner_(rows.inner.extent),
        in_(in),
        scratch_(static_cast<char*>(scratch)),
        row_bytes_(scratch_row_bytes(rows)),
        strip_(strip_outputs(rows)),
        in_is_packed_(rows.in_is_packed()) {}

  /// Calls write(values, step, begin, end) for strips of the outputs of a row: output o of [begin, end) is at
  /// `(o - begin) * step * inner` of the values. If a packed output row is given, values may be written there at once;
  /// they then are where they belong.
  template <class Write>
  void operator()(const RowCursor& cursor, A* packed_output, Write write) {
    cursor_ = &cursor;
    const T* base = in_ + cursor.offset().in;
    for (Index begin = 0; begin < axis_.output; begin += strip_) {
      const Index end = std::min(begin + strip_, axis_.output);
      used_ = 0;
      destination_ = packed_output == nullptr ? nullptr : packed_output + begin * inner_;
      const auto [values, step] = axis_.adaptive ? fold_bins(base, begin, end) : fold_windows(base, begin, end);
      write(values, step, begin, end);
    }
  }

 private:
  struct Folded {
    const A* values;
    Index step;
  };

  A* slot(int number) { return reinterpret_cast<A*>(scratch_ + static_cast<std::size_t>(number) * row_bytes_); }

  static void fill(A* begin, A* end) {
    for (; begin != end; ++begin) *begin = Op::identity();
  }

  HWY_NOINLINE void combine(const A* a, const A* b, A* out, Index count) const {
    NDPOOL_INDEPENDENT
    for (Index i = 0; i < count; ++i) out[i] = Op::combine(a[i], b[i]);
  }

  // ---- across ----

  /// The columns [begin, end) of the input, which may reach outside it, combined over the taps of the vertical axes up
  /// to `top`. The result is in `destination` if that is given, unless it can be read where it is.
  const A* across(const T* base, Index begin, Index end, int top, A* destination) {
    const Index real_begin = std::max<Index>(begin, 0), real_end = std::min(end, axis_.input);
    first_column_ = real_begin;
    length_ = (real_end - real_begin) * inner_;
    if (begin == real_begin && end == real_end) return fold_vertical(top, base, destination);
    A* padded = destination != nullptr ? destination : slot(used_++);
    A* real = padded + (real_begin - begin) * inner_;
    fill(padded, real);
    const A* columns = fold_vertical(top, base, real);
    if (columns != real) std::copy(columns, columns + length_, real);
    fill(real + length_, real + length_ + (end - real_end) * inner_);
    return padded;
  }

  /// The result is in `destination` if that is given, unless it can be read where it is.
  const A* fold_vertical(int axis, const T* base, A* destination) {
    if (axis < 0) return load(base, destination);
    const PooledAxis& vertical = rows_.vertical[axis];
    const Taps taps = vertical.window.taps(cursor_->vertical_position(axis));
    const A* const folded = fold_taps(axis, vertical, taps, base, destination);
    if constexpr (!Op::is_sum || !is_real<T>) return folded;
    if (taps.count == taps.length) return folded;
    // An absent tap adds +0, which decides the sign of a zero sum, wherever in the tree it is.
    A* const out = destination != nullptr ? destination : slot(used_++);
    for (Index i = 0; i < length_; ++i) out[i] = folded[i] + A(0);
    return out;
  }
  const A* fold_taps(int axis, const PooledAxis& vertical, const Taps& taps, const T* base, A* destination) {
    if (axis == 0 && in_is_packed_ && taps.count <= 4 && (taps.count == taps.length || taps.length <= 3)) {
      // Few rows in one sweep. Leaving out padded taps does not change the spec's split of up to three.
      A* out = destination != nullptr ? destination : slot(used_++);
      const T* row = base + taps.first * vertical.stride.in + first_column_ * inner_;
      sweep(row, taps.step * vertical.stride.in, taps.count, out);
      return out;
    }
    return split(taps, 0, taps.length, length_,
                 [&](Index cell) { return fold_vertical(axis - 1, base + cell * vertical.stride.in, nullptr); });
  }

  HWY_NOINLINE void sweep(const T* row, Index stride, Index count, A* out) {
    const T *second = row + stride, *third = second + stride, *fourth = third + stride;
    const auto at = [](const T* from, Index i) { return Reduction::lift(from[i]); };
    const Index length = length_;  // bytes may alias anything, even the members of this object
    if (count == 1) {
      for (Index i = 0; i < length; ++i) out[i] = at(row, i);
    } else if (count == 2) {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < length; ++i) out[i] = Op::combine(at(row, i), at(second, i));
    } else if (count == 3) {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < length; ++i) out[i] = Op::combine(Op::combine(at(row, i), at(second, i)), at(third, i));
    } else {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < length; ++i)
        out[i] = Op::combine(Op::combine(at(row, i), at(second, i)), Op::combine(at(third, i), at(fourth, i)));
    }
  }

  /// The wanted columns of one input row as accumulators: in place if they can be read so.
  HWY_NOINLINE const A* load(const T* row, A* destination) {
    row += first_column_ * rows_.horizontal.stride.in;
    if constexpr (std::is_same_v<T, A>)
      if (in_is_packed_) return row;
    A* copy = destination != nullptr ? destination : slot(used_++);
    if (in_is_packed_) {
      sweep(row, 0, 1, copy);
      return copy;
    }
    for (Index pixel = 0; pixel * inner_ < length_; ++pixel)
      for (Index lane = 0; lane < inner_; ++lane)
        copy[pixel * inner_ + lane] =
            Reduction::lift(row[pixel * rows_.horizontal.stride.in + lane * rows_.inner.stride.in]);
    return copy;
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

  // ---- along ----

  HWY_NOINLINE Folded fold_bins(const T* base, Index begin, Index end) {
    const Index first = axis_.taps(begin).first;
    const Taps last = axis_.taps(end - 1);
    const A* columns = across(base, first, last.first + last.count, rows_.vertical_count - 1, nullptr);
    A* bins = slot(used_++);
    const int free_slot = used_;
    for (Index output = begin; output < end; ++output) {
      const Taps taps = axis_.taps(output);
      const A* bin = split(taps, 0, taps.length, inner_, [&](Index cell) { return columns + (cell - first) * inner_; });
      std::copy(bin, bin + inner_, bins + (output - begin) * inner_);
      used_ = free_slot;
    }
    return {bins, 1};
  }

  Folded fold_windows(const T* base, Index begin, Index end) {
    const Index first = axis_.start(begin), outputs = end - begin, columns_needed = axis_.span(outputs);
    const A* columns = across(base, first, first + columns_needed, rows_.vertical_count - 1, nullptr);
    return along(columns, outputs, columns_needed);
  }

  Folded along(const A* columns, Index outputs, Index columns_needed) {
    Index kernel = axis_.kernel, stride = axis_.stride;
    const Index dilation = axis_.dilation;
    if (kernel == 1) return {columns, stride};
    // Windows of an even number of taps that step by one are windows of pairs, with the same split.
    if (kernel > 4 && kernel % 2 == 0 && stride % 2 == 0 && dilation == 1 && inner_ == 1) {
      A* pairs = slot(used_++);
      for (; kernel > 4 && kernel % 2 == 0 && stride % 2 == 0; kernel /= 2, stride /= 2) {
        columns_needed /= 2;
        few_taps<2>({2, 1, 2}, columns, pairs, columns_needed);
        columns = pairs;
      }
    }
    if (kernel > 4) {
      A* doubled = slot(used_++);
      A* rest = slot(used_++);
      return {double_up(columns, columns_needed * inner_, kernel, dilation * inner_, doubled, rest), stride};
    }
    A* out = destination_ != nullptr ? destination_ : slot(used_++);
    const FewTaps taps = {kernel, dilation * inner_, stride};
    if (stride == 1) {
      few_taps<1>(taps, columns, out, outputs * inner_);
    } else if (inner_ > 1) {
      for (Index output = 0; output < outputs; ++output)
        few_taps<1>(taps, columns + output * stride * inner_, out + output * inner_, inner_);
    } else if (stride == 2) {
      few_taps<2>(taps, columns, out, outputs);
    } else if (stride == 4) {
      few_taps<4>(taps, columns, out, outputs);
    } else {
      few_taps<0>(taps, columns, out, outputs);
    }
    return {out, 1};
  }

  /// Two to four taps straight from the row, `shift` elements apart. `known` is the stride, or 0 for any.
  struct FewTaps {
    Index kernel, shift, stride;
  };
  template <Index known>
  HWY_NOINLINE static void few_taps(const FewTaps& taps, const A* columns, A* out, Index count) {
#if HWY_TARGET != HWY_SCALAR
    // Compilers do not see that short elements with stride 2 are the even and odd lanes of two vectors.
    if constexpr (known == 2 && (sizeof(A) < 4 || (Op::is_sum && sizeof(A) <= 8)))
      if (taps.shift == 1 && taps.kernel <= 3) {
        const Index done = even_and_odd(columns, out, count, taps.kernel == 3);
        columns += 2 * done;
        out += done;
        count -= done;
      }
#endif
    const Index kernel = taps.kernel, stride = known > 0 ? known : taps.stride;
    const A *second = columns + taps.shift, *third = second + taps.shift, *fourth = third + taps.shift;
    if (kernel == 2) {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < count; ++i) out[i] = Op::combine(columns[i * stride], second[i * stride]);
    } else if (kernel == 3) {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < count; ++i)
        out[i] = Op::combine(Op::combine(columns[i * stride], second[i * stride]), third[i * stride]);
    } else {
      NDPOOL_INDEPENDENT
      for (Index i = 0; i < count; ++i)
        out[i] = Op::combine(Op::combine(columns[i * stride], second[i * stride]),
                             Op::combine(third[i * stride], fourth[i * stride]));
    }
  }

#if HWY_TARGET != HWY_SCALAR
  /// As many outputs of two or three taps at stride 2 as fill vectors; answers how many.
  static Index even_and_odd(const A* columns, A* out, Index count, bool has_third) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::ScalableTag<A> d;
    using V = hn::Vec<decltype(d)>;
    const auto combine_vectors = [](V a, V b) HWY_ATTR {
      if constexpr (Op::is_sum)
        return hn::Add(a, b);
      else if constexpr (Op::kind == Combine::max)
        return hn::Max(b, a);
      else
        return hn::Min(b, a);
    };
    const auto lanes = static_cast<Index>(hn::Lanes(d));
    Index done = 0;
    // Three taps read one element beyond the last even one, so they stop a vector earlier.
    for (; done + lanes <= count - (has_third ? 1 : 0); done += lanes) {
      const A* from = columns + 2 * done;
      const V low = hn::LoadU(d, from), high = hn::LoadU(d, from + lanes);
      V v = combine_vectors(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
      if (has_third) {
        const V next_low = hn::LoadU(d, from + 2), next_high = hn::LoadU(d, from + 2 + lanes);
        v = combine_vectors(v, hn::ConcatEven(d, next_high, next_low));
      }
      hn::StoreU(v, d, out + done);
    }
    return done;
  }
#endif

  /// Many taps, `shift` elements apart: blocks of 1, 2, 4, ... taps from every position on. In sums the kernel is a sum
  /// of powers of two, the largest in front; the smaller ones are gathered from the back, so that each combine is the
  /// one of the spec's split. In max and min, blocks may overlap.
  HWY_NOINLINE const A* double_up(const A* blocks, Index total, Index kernel, Index shift, A* doubled, A* rest) {
    const Index count = total - (kernel - 1) * shift;
    if constexpr (!Op::is_sum) {
      Index size = 1;
      for (; 2 * size <= kernel; size *= 2) {
        combine(blocks, blocks + size * shift, doubled, total - (2 * size - 1) * shift);
        blocks = doubled;
      }
      if (size == kernel) return blocks;
      combine(blocks, blocks + (kernel - size) * shift, rest, count);
      return rest;
    }
    Index rest_taps = 0;
    for (Index size = 1;; size *= 2) {
      if (kernel & size) {
        const Index taps_before = kernel - rest_taps - size;
        const A* block = blocks + taps_before * shift;
        if (rest_taps == 0 && taps_before == 0) return blocks;
        if (rest_taps == 0)
          std::copy(block, block + count, rest);
        else
          combine(block, rest, rest, count);
        if (taps_before == 0) return rest;
        rest_taps += size;
      }
      combine(blocks, blocks + size * shift, doubled, total - (2 * size - 1) * shift);
      blocks = doubled;
    }
  }

  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  const T* in_;
  char* scratch_;
  std::size_t row_bytes_;
  const Index strip_;
  const bool in_is_packed_;
  A* destination_ = nullptr;
  const RowCursor* cursor_ = nullptr;
  Index first_column_ = 0;  ///< of the strip, and
  Index length_ = 0;        ///< how many elements it has from there
  int used_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_ROWS_INL_H_
