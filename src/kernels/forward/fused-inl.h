// Per-target code: which rows are made in registers, and how. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_INL_H_
#undef NDPOOL_FUSED_INL_H_
#else
#define NDPOOL_FUSED_INL_H_
#endif

#include "kernels/forward/dividing-inl.h"
#include "kernels/forward/divisors.hpp"
#include "kernels/forward/fused_lanes-inl.h"
#include "kernels/forward/fused_rows-inl.h"
#include "kernels/forward/short_rows-inl.h"

#include <optional>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// For scalars that are not combined in registers, and where there are no vectors.
struct NoFused {
  NoFused(const Job&, const void*) {}
  Index operator()(const RowCursor&, Index) const { return 0; }
};

#if HWY_TARGET != HWY_SCALAR
/// Makes rows in registers where the window is small enough for that: so that a tile is read once and written once, and
/// nothing is stored in between.
template <class C>
class Fused {
 public:
  using E = typename C::Element;
  using T = typename C::T;

  /// `divisor_row` holds the horizontal counts of averages as floats, where they differ.
  Fused(const Job& job, const void* divisor_row)
      : job_(job),
        axis_(job.rows.horizontal.window),
        divides_(C::kind == Combine::sum && job.choice.averages),
        divisor_row_(static_cast<const T*>(divisor_row)) {
    if (!job.rows.in_is_packed() || !job.rows.out_is_packed() || job.rows.tap_count > C::most_taps) return;
    if (divides_ && !can_divide()) return;
    // What a pixel is divided by is not there for each of its channels.
    rows_ = FusedRow<C>::can_make(job.rows) && (job.rows.inner.extent == 1 || !divides_ || one_along_);
    lanes_ = !rows_ && FusedLanes<C>::can_make(job.rows);
    if (divides_ && has_one_divisor(job.rows, job.choice.average))
      one_ = divisor_of(RowCursor(job.rows, job.first_row));
    if (!divides_ || one_ != 0) {
      cuts_ = rows_ && can_cut();
      if (ShortRows<C>::can_make(job.rows)) short_.emplace(job.rows);
    }
    if (Dividing<C>::has_reciprocals && one_ != 0 && Reciprocal<typename C::D>::fits(one_)) quick_.emplace();
    stream_ = (rows_ || lanes_) && leaves_cache(job.rows, sizeof(E));
  }
  ~Fused() {
    if (stream_) hwy::FlushStream();
  }

  /// True if planes with rows of less than two vectors are better off by themselves than side by side.
  static bool likes_narrow(const Rows& rows) {
    return C::is_common && (FusedRow<C>::can_make(rows) || ShortRows<C>::can_make(rows));
  }

  /// Makes rows from the cursor's on, up to `most`. Answers how many; 0 if this one needs the careful path.
  Index operator()(const RowCursor& cursor, Index most) {
    if (!rows_ && !lanes_ && !short_) return 0;
    most = std::min(most, caution_.most(most_in_run));
    const Index count = rows_together(cursor, most), least = short_ ? job_.rows.rows_per_plane : 1;
    if (is_fit([&] { return short_ ? make_short(cursor, count) : make_run(cursor, count); })) {
      caution_.made(count);
      return count;
    }
    if (count <= least) {
      caution_.made(1);
      return 0;
    }
    caution_.failed(count, least);
    return (*this)(cursor, most);
  }

 private:
  static constexpr Index most_in_run = 4096;  ///< rows that are made together

  /// True if make() did it, and met no NaN. Averages that lost digits are made again, by true divisions from then on.
  template <class Make>
  bool is_fit(const Make& make) {
    if (quick_) {
      quick_->take();
      const bool is_made = make();
      if (!quick_->take()) return is_made;
      quick_.reset();
      return make();
    }
    flag_.take();
    return make() && !flag_.take();
  }

  bool can_divide() {
    one_along_ = has_one_divisor(axis_, job_.choice.average);
    if constexpr (is_real<T>) return one_along_ || divisor_row_ != nullptr;
    return one_along_ && job_.choice.average.rounding == Rounding::half_even;
  }

  /// True if windows have three rows, of which one may be on padding: then those of whole planes are made alike.
  bool can_cut() const {
    if (C::is_rare || job_.rows.vertical_count != 1 || !FusedRow<C>::goes_by_middle(job_.rows)) return false;
    const Axis& axis = job_.rows.vertical[0].window;
    return !axis.adaptive && axis.kernel == 3 && axis.stride <= 2 && axis.dilation == 1 && axis.lo <= 1 &&
           axis.start(axis.output - 1) + 2 <= axis.input &&
           (C::kind != Combine::sum || axis_.input * job_.rows.inner.extent <= no_row_length);
  }

  /// Rows from the cursor's on, whose windows are whole: of the last vertical axis, and if those are all it has, of
  /// several positions of the axis before.
  RowRun whole_run(const RowCursor& cursor, Index most) const {
    RowRun run{run_length(job_.rows, cursor, most)};
    const int last = job_.rows.vertical_count - 1;
    if (run.count == 1) return run;
    const PooledAxis& axis = job_.rows.vertical[last];
    run.in_step = axis.window.stride * axis.stride.in;
    run.out_step = axis.stride.out;
    if (!rows_ || last == 0 || run.count != axis.window.output) return run;
    const PooledAxis& before = job_.rows.vertical[last - 1];
    run.planes = run_length(before.window, cursor.vertical_position(last - 1), most / run.count);
    run.plane_in = before.window.stride * before.stride.in;
    run.plane_out = before.stride.out;
    return run;
  }
  /// Rows of windows that may be cut, in one plane or in several.
  RowRun cut_run(const RowCursor& cursor, Index count, const E* in, Columns<C>& columns) const {
    const PooledAxis& vertical = job_.rows.vertical[0];
    const Axis& axis = vertical.window;
    const Index row = cursor.vertical_position(0), planes = std::max<Index>(1, count / job_.rows.rows_per_plane);
    RowRun run{count / planes, axis.stride * vertical.stride.in, vertical.stride.out, planes};
    if (planes > 1) run.plane_in = job_.rows.loops[0].stride.in, run.plane_out = job_.rows.loops[0].stride.out;
    run.cut_above = axis.start(row) < 0;
    run.cut_below = axis.start(row + run.count - 1) + 3 > axis.input;
    columns.count = 3;
    columns.rows[0] = nullptr;
    columns.rows[1] = in + (axis.start(row) + 1) * vertical.stride.in;
    columns.rows[2] = columns.rows[1] + vertical.stride.in;
    return run;
  }
  bool make_run(const RowCursor& cursor, Index count) {
    Columns<C> columns;
    const Rows& rows = job_.rows;
    const E* in = static_cast<const E*>(job_.in) + cursor.offset().in;
    E* out = static_cast<E*>(job_.out) + cursor.offset().out;
    RowRun run;
    if (cuts_) {
      run = cut_run(cursor, count, in, columns);
    } else {
      run = whole_run(cursor, count);
      if (!gather_rows<C>(rows, cursor, in, columns)) return false;
    }
    T by_row = T(1);
    return finished(cursor, &by_row, [&](const auto& finish) HWY_ATTR {
      if (rows_) return FusedRow<C>::make(rows, columns, run, out, stream_, finish);
      return FusedLanes<C>::make(rows, columns, run, out, stream_, finish);
    });
  }

  /// Calls make(finish) with what windows of a row are divided by.
  template <class Make>
  bool finished(const RowCursor& cursor, T* by_row, const Make& make) const {
    if constexpr (C::is_common && C::kind == Combine::sum)
      if (quick_) return make(QuickDividing<C>(one_));
    if constexpr (C::stores_two)
      if (one_ == 4) return make(Quartering<C>());
    return make(dividing(cursor, 1, by_row));
  }

  Index row_of(const RowCursor& cursor) const { return job_.rows.vertical_count > 0 ? cursor.vertical_position(0) : 0; }
  /// Rows that are made together, cut windows or not: some of the cursor's plane, or small planes that follow one
  /// another as a whole.
  Index rows_together(const RowCursor& cursor, Index most) const {
    if (!short_ && !cuts_) {
      const RowRun run = whole_run(cursor, most);
      return run.count * run.planes;
    }
    const Index plane = job_.rows.rows_per_plane, row = row_of(cursor);
    if (job_.rows.loop_count == 1 && row == 0 && plane <= most) return most / plane * plane;
    return std::min(most, plane - row);
  }
  bool make_short(const RowCursor& cursor, Index count) const {
    const Index plane = job_.rows.rows_per_plane;
    if constexpr (C::is_common)
      if (row_of(cursor) == 0 && count % plane == 0)
        return finished(cursor, nullptr, [&](const auto& finish) HWY_ATTR {
          return short_->make(cursor.offset().in, count / plane, static_cast<const E*>(job_.in),
                              static_cast<E*>(job_.out), finish);
        });
    return false;
  }

  /// What windows of some rows are divided by; `by_row` has room for what is different in each.
  Dividing<C> dividing(const RowCursor& first, Index count, T* by_row) const {
    if (!divides_) return {};
    if (one_ != 0) return Dividing<C>(one_, quick_.has_value());
    if (one_along_ && count == 1) return Dividing<C>(divisor_of(first));
    if constexpr (is_real<T>) {
      RowCursor cursor(first);
      for (Index r = 0; r < count; ++r, cursor.next())
        by_row[r] = static_cast<T>(one_along_ ? divisor_of(cursor)
                                              : Divisors(job_.rows, job_.choice.average, cursor).vertical());
      return one_along_ ? Dividing<C>(by_row) : Dividing<C>(by_row, divisor_row_);
    }
    return {};
  }
  Index divisor_of(const RowCursor& cursor) const {
    return Divisors(job_.rows, job_.choice.average, cursor).of_output(0);
  }

  const Job& job_;
  const typename C::Flag flag_{};
  std::optional<InexactFlag> quick_;  ///< if averages are divided by a reciprocal
  const Axis& axis_;
  const bool divides_;
  const T* divisor_row_;
  Index one_ = 0;           ///< the divisor of all outputs, if they have the same
  bool one_along_ = false;  ///< the outputs of each row have the same
  /// How rows are made; none if they are not.
  bool rows_ = false, lanes_ = false;
  std::optional<ShortRows<C>> short_;
  bool cuts_ = false;  ///< rows of windows that are cut are made with the others
  bool stream_ = false;
  Caution caution_;
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_INL_H_
