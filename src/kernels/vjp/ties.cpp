// Derivatives of max and min with ties `all` and `split`: every tap that ties with the extreme takes part.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vjp/ties.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/forward/planes-inl.h"

#include <utility>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// NaN ties with NaN; whether it is the extreme is decided already.
template <class T>
HWY_INLINE bool ties_with(T x, T extreme) {
  return (x == extreme) | ((x != x) & (extreme != extreme));
}

/// Strips of output rows. The fold is that of the spec (spec/walk.hpp) with rows in place of scalars, so a JVP has the
/// spec's bits: the last axis is split first, and what lies on no cell is left out.
template <class T, Combine kind, Nan nan>
class RowTies {
 public:
  explicit RowTies(const TangentJob& job)
      : job_(job),
        rows_(job.rows),
        axis_(rows_.horizontal.window),
        inner_(rows_.inner.extent),
        fold_(rows_, static_cast<const T*>(job.in), job.scratch) {
    char* next = static_cast<char*>(job.scratch) + fold_scratch_bytes(rows_);
    extremes_ = reinterpret_cast<T*>(next);
    counts_ = reinterpret_cast<T*>(next + scratch_row_bytes(rows_));
    slots_ = next + 2 * scratch_row_bytes(rows_);
  }

  void jvp(const RowCursor& cursor) {
    T* dy = static_cast<T*>(job_.tangent_out) + cursor.offset().tangent_out;
    const T* dx = static_cast<const T*>(job_.tangent_in) + cursor.offset().tangent_in;
    for_each_strip(cursor, [&](Index first, Index outputs) {
      count(first, outputs);
      const T* sums = sum(first, outputs, [&](const Leaf& leaf, T* to) {
        const T *x = x_ + leaf.in, *from = dx + leaf.tangent_in;
        const Strides step = step_, lane_step = rows_.inner.stride;
        each(
            outputs, to,
            [&](Index o, Index lane, Index at) {
              const T value = x[o * step.in + lane * lane_step.in];
              return ties_with(value, extremes_[at]) ? from[o * step.tangent_in + lane * lane_step.tangent_in] : T(0);
            },
            leaf);
      });
      for (Index o = 0; o < outputs; ++o)
        for (Index lane = 0; lane < inner_; ++lane)
          dy[(first + o) * rows_.horizontal.stride.tangent_out + lane * rows_.inner.stride.tangent_out] =
              sums[o * inner_ + lane] / counts_[o * inner_ + lane];
    });
  }

  /// Adds to planes that are zeroed.
  void vjp(const RowCursor& cursor) {
    const T* gy = static_cast<const T*>(job_.tangent_out) + cursor.offset().tangent_out;
    T* gx = static_cast<T*>(job_.tangent_in) + cursor.offset().tangent_in;
    for_each_strip(cursor, [&](Index first, Index outputs) {
      count(first, outputs);
      for (Index o = 0; o < outputs; ++o)
        for (Index lane = 0; lane < inner_; ++lane)
          counts_[o * inner_ + lane] =
              gy[(first + o) * rows_.horizontal.stride.tangent_out + lane * rows_.inner.stride.tangent_out] /
              counts_[o * inner_ + lane];
      each_leaf(0, first, outputs, {}, [&](const Leaf& leaf) {
        const T* x = x_ + leaf.in;
        T* to = gx + leaf.tangent_in;
        const Strides step = step_, lane_step = rows_.inner.stride;
        for (Index o = leaf.begin; o < leaf.end; ++o)
          for (Index lane = 0; lane < inner_; ++lane)
            if (ties_with(x[o * step.in + lane * lane_step.in], extremes_[o * inner_ + lane]))
              to[o * step.tangent_in + lane * lane_step.tangent_in] += counts_[o * inner_ + lane];
      });
    });
  }

 private:
  /// One tap of some outputs: where it is for the first of the strip, and for which of them it is on the input.
  struct Leaf {
    Index in = 0, tangent_in = 0;
    Index begin = 0, end = 0;
  };

  /// Calls use(first output, outputs) for strips whose extremes are known. Bins differ in length, so each is a strip.
  template <class Use>
  void for_each_strip(const RowCursor& cursor, const Use& use) {
    cursor_ = &cursor;
    x_ = static_cast<const T*>(job_.in) + cursor.offset().in;
    step_ = {axis_.stride * rows_.horizontal.stride.in, 0, axis_.stride * rows_.horizontal.stride.tangent_in, 0};
    fold_(cursor, nullptr, [&](const T* values, Index step, Index begin, Index end) {
      const Index outputs = axis_.adaptive ? 1 : end - begin;
      for (Index first = begin; first < end; first += outputs) {
        for (Index o = 0; o < outputs; ++o)
          std::copy_n(values + (first - begin + o) * step * inner_, inner_, extremes_ + o * inner_);
        use(first, outputs);
      }
    });
  }

  /// How many taps tie, if their weights depend on it.
  void count(Index first, Index outputs) {
    std::fill_n(counts_, outputs * inner_, job_.choice.ties == Ties::split ? T(0) : T(1));
    if (job_.choice.ties != Ties::split) return;
    each_leaf(0, first, outputs, {}, [&](const Leaf& leaf) {
      const T* x = x_ + leaf.in;
      const Strides step = step_, lane_step = rows_.inner.stride;
      for (Index o = leaf.begin; o < leaf.end; ++o)
        for (Index lane = 0; lane < inner_; ++lane) {
          const Index at = o * inner_ + lane;
          counts_[at] += ties_with(x[o * step.in + lane * lane_step.in], extremes_[at]) ? T(1) : T(0);
        }
    });
  }

  // ---- leaves ----

  Leaf on_vertical(int axis, Leaf leaf, Index cell) const {
    leaf.in += cell * rows_.vertical[axis].stride.in;
    leaf.tangent_in += cell * rows_.vertical[axis].stride.tangent_in;
    return leaf;
  }
  /// A tap along the row; `begin` and `end` are those of the strip.
  Leaf on_row(Index first, Index outputs, Index tap) const {
    const Range real = axis_.adaptive ? Range{first, first + 1} : axis_.outputs_with_tap(tap);
    const Index cell = axis_.start(first) + tap * axis_.dilation;
    Leaf leaf{cell * rows_.horizontal.stride.in, cell * rows_.horizontal.stride.tangent_in, 0, 0};
    leaf.begin = std::clamp<Index>(real.begin - first, 0, outputs);
    leaf.end = std::clamp<Index>(real.end - first, leaf.begin, outputs);
    return leaf;
  }
  Index taps_along(Index first) const { return axis_.adaptive ? axis_.taps(first).count : axis_.kernel; }

  /// Calls use(leaf) for all taps, in row-major order.
  template <class Use>
  void each_leaf(int axis, Index first, Index outputs, const Leaf& above, const Use& use) {
    if (axis < rows_.vertical_count) {
      const Taps taps = rows_.vertical[axis].window.taps(cursor_->vertical_position(axis));
      for (Index r = 0; r < taps.count; ++r)
        each_leaf(axis + 1, first, outputs, on_vertical(axis, above, taps.first + r * taps.step), use);
      return;
    }
    for (Index tap = 0; tap < taps_along(first); ++tap) {
      Leaf leaf = on_row(first, outputs, tap);
      leaf.in += above.in;
      leaf.tangent_in += above.tangent_in;
      if (leaf.begin < leaf.end) use(leaf);
    }
  }

  // ---- sums ----

  T* slot(int number) {
    return reinterpret_cast<T*>(slots_ + static_cast<std::size_t>(number) * scratch_row_bytes(rows_));
  }

  /// to[output] = value(output, lane, position), and 0 where the tap is on no cell.
  template <class Value>
  void each(Index outputs, T* to, const Value& value, const Leaf& leaf) const {
    std::fill(to, to + leaf.begin * inner_, T(0));
    if (inner_ == 1)
      for (Index o = leaf.begin; o < leaf.end; ++o) to[o] = value(o, 0, o);
    else
      for (Index o = leaf.begin; o < leaf.end; ++o)
        for (Index lane = 0; lane < inner_; ++lane) to[o * inner_ + lane] = value(o, lane, o * inner_ + lane);
    std::fill(to + leaf.end * inner_, to + outputs * inner_, T(0));
  }

  template <class Make>
  const T* sum(Index first, Index outputs, const Make& make) {
    const Taps all{0, taps_along(first), 1, 0, taps_along(first), 0};
    used_ = 0;
    return split(all, 0, all.length, outputs, [&](Index tap) {
      return sum_vertical(rows_.vertical_count - 1, on_row(first, outputs, tap), outputs, make);
    });
  }

  template <class Make>
  const T* sum_vertical(int axis, const Leaf& leaf, Index outputs, const Make& make) {
    if (axis < 0) {
      T* to = slot(used_++);
      make(leaf, to);
      return to;
    }
    const Taps taps = rows_.vertical[axis].window.taps(cursor_->vertical_position(axis));
    return split(taps, 0, taps.length, outputs,
                 [&](Index cell) { return sum_vertical(axis - 1, on_vertical(axis, leaf, cell), outputs, make); });
  }

  /// A result always lies in the slot that was free on entry; nullptr stands for taps on no cell.
  template <class Part>
  const T* split(const Taps& taps, Index first, Index count, Index outputs, const Part& part) {
    if (first + count <= taps.first_tap || first >= taps.first_tap + taps.count) return nullptr;
    if (count == 1) return part(taps.first + (first - taps.first_tap) * taps.step);
    const Index half = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(count - 1)));
    const int free_slot = used_;
    const T* earlier = split(taps, first, half, outputs, part);
    const T* later = split(taps, first + half, count - half, outputs, part);
    if (earlier == nullptr) return later;
    if (later == nullptr) return earlier;
    T* to = slot(free_slot);
    for (Index i = 0; i < outputs * inner_; ++i) to[i] = earlier[i] + later[i];
    used_ = free_slot + 1;
    return to;
  }

  const TangentJob& job_;
  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  RowFold<Reduction<T, kind, nan>> fold_;
  T *extremes_, *counts_;
  char* slots_;
  const RowCursor* cursor_ = nullptr;
  const T* x_ = nullptr;
  Strides step_;
  int used_ = 0;
};

template <class T, Combine kind, Nan nan>
void run_ties(const TangentJob& job) {
  if (job.use == WinnerUse::vjp) zero_planes(job.rows, job.first_row, job.last_row, static_cast<T*>(job.tangent_in));
  RowTies<T, kind, nan> ties(job);
  RowCursor cursor(job.rows, job.first_row);
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next())
    if (job.use == WinnerUse::vjp)
      ties.vjp(cursor);
    else
      ties.jvp(cursor);
}

template <class T, Combine kind>
void ties(const TangentJob& job) {
  if constexpr (std::is_floating_point_v<T>) {
    if (job.choice.nan == Nan::ignore)
      run_ties<T, kind, Nan::ignore>(job);
    else
      run_ties<T, kind, Nan::propagate>(job);
  }
}

#define NDPOOL_ROW(name, type) {ties<type, Combine::max>, ties<type, Combine::min>},
NDPOOL_KERNEL_TABLE(WinnerKernels, tie_kernels)
#undef NDPOOL_ROW

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(tie_kernels, add_tie_kernels, ties)

}  // namespace ndpool
#endif
