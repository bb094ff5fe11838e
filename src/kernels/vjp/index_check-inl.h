// Per-target code: whether indices that a caller gives name what they may. No include guard of the usual kind: see
// rows-inl.h.
#if defined(NDPOOL_INDEX_CHECK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_INDEX_CHECK_INL_H_
#undef NDPOOL_INDEX_CHECK_INL_H_
#else
#define NDPOOL_INDEX_CHECK_INL_H_
#endif

#include "kernels/forward/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// All bits set, in every kind of index: no winner.
template <class I>
inline constexpr I no_index = static_cast<I>(-1);

/// True if the packed rows of outputs of a plane, or of all planes, follow one another in an array.
inline bool rows_follow(const Rows& rows, Index Strides::*array, bool in_all_planes = false) {
  Index length = rows.horizontal.window.output * rows.inner.extent;
  bool follow = true;
  for (int v = rows.vertical_count - 1; v >= 0; length *= rows.vertical[v--].window.output)
    follow = follow && rows.vertical[v].stride.*array == length;
  for (int i = rows.loop_count - 1; i >= 0 && in_all_planes; length *= rows.loops[i--].extent)
    follow = follow && rows.loops[i].stride.*array == length;
  return follow;
}

#if HWY_TARGET != HWY_SCALAR
/// The same for flat indices up to one of 31 bits. One more than they is none or a number whose upper half is 0, so the
/// largest of all upper and of all lower halves tell.
inline bool are_cells(const Index* indices, Index count, Index last) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<Index> d;
  const hn::Repartition<std::uint32_t, decltype(d)> halves;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const auto more = [&](Index i) HWY_ATTR {
    return hn::BitCast(halves, hn::Add(hn::LoadU(d, indices + i), hn::Set(d, Index{1})));
  };
  auto largest = hn::Zero(halves), other = hn::Zero(halves);
  Index i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    largest = hn::Max(largest, more(i));
    other = hn::Max(other, more(i + lanes));
  }
  bool fine = true;
  for (; i < count; ++i) fine &= indices[i] >= no_index<Index> && indices[i] <= last;
  std::uint32_t both[hn::MaxLanes(halves)];
  hn::StoreU(hn::Max(largest, other), halves, both);
  for (Index lane = 0; lane < lanes; ++lane)
    fine &= both[2 * lane] <= static_cast<std::uint32_t>(last + 1) && both[2 * lane + 1] == 0;
  return fine;
}
#endif

/// True if `count` neighbouring indices are none or in [first, last].
template <class I>
HWY_NOINLINE bool are_within(const I* indices, Index count, I first, I last) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_signed_v<I>)
    if (first == 0 && last < I{0x7FFFFFFF}) return are_cells(indices, count, last);
#endif
  const I width = static_cast<I>(last - first);
  I outside = 0;
  using U = std::make_unsigned_t<I>;
  for (Index i = 0; i < count; ++i) {
    const U beyond_first = static_cast<U>(static_cast<U>(indices[i]) - static_cast<U>(first));
    outside =
        static_cast<I>(outside | static_cast<I>((beyond_first > static_cast<U>(width)) & (indices[i] != no_index<I>)));
  }
  return outside == 0;
}

/// Checks all indices against the numbers that any output may have, in runs as long as memory gives; then those of
/// windows that reach over an edge, which may have fewer.
template <class I>
class IndexCheck {
 public:
  explicit IndexCheck(const IndexJob& job)
      : rows_(job.rows),
        axis_(rows_.horizontal.window),
        inner_(rows_.inner.extent),
        indices_(static_cast<const I*>(job.indices)),
        last_(rows_.tap_count - 1) {
    if constexpr (std::is_signed_v<I>) {
      last_ = input_rows_per_plane(rows_) * axis_.input - 1;
    } else {
      full_ = full_outputs(axis_);
      for (int v = 0; v < rows_.vertical_count; ++v) full_rows_[v] = full_outputs(rows_.vertical[v].window);
      if (rows_.tap_count > most_table_taps || axis_.adaptive) return;
      Index* along = static_cast<Index*>(job.scratch);
      for (Index tap = 0, on_axis = 0; tap < rows_.tap_count;
           ++tap, on_axis = on_axis + 1 == axis_.kernel ? 0 : on_axis + 1)
        along[tap] = on_axis;
      along_ = along;
    }
  }

  bool operator()(Index first_row, Index last_row) const {
    const Index length = axis_.output * inner_;
    const bool follow = rows_.out_is_packed() && rows_follow(rows_, &Strides::out, true);
    if (follow && !are_within(indices_ + first_row * length, (last_row - first_row) * length, I(0), last()))
      return false;
    if (follow && !has_edges()) return true;
    const bool knows_columns = follow && inner_ == 1 && along_ != nullptr;
    if (knows_columns && !are_columns_fine(first_row, last_row)) return false;
    RowCursor cursor(rows_, first_row);
    for (Index row = first_row; row < last_row; ++row, cursor.next()) {
      if (knows_columns && is_full(cursor)) {
        const Index more = std::min(full_run(cursor), last_row - row) - 1;
        row += more;
        if (more > 0) cursor.skip(more, row);
        continue;
      }
      const I* indices = indices_ + cursor.offset().out;
      if (!follow && !are_outputs_within(indices, {0, axis_.output}, 0, last_)) return false;
      if (std::is_unsigned_v<I> && !are_edges_fine(cursor, indices)) return false;
    }
    return true;
  }

 private:
  /// Outputs that may have the number of any tap.
  static Range full_outputs(const Axis& axis) { return axis.adaptive ? Range{} : axis.full_outputs(); }

  I last() const { return static_cast<I>(last_); }

  bool has_edges() const {
    const auto leaves_some = [](const Range& full, const Axis& axis) {
      return full.begin > 0 || full.end < axis.output;
    };
    bool some = std::is_unsigned_v<I> && leaves_some(full_, axis_);
    for (int v = 0; v < rows_.vertical_count; ++v)
      some = some || (std::is_unsigned_v<I> && leaves_some(full_rows_[v], rows_.vertical[v].window));
    return some;
  }

  /// Whether a row may have the number of any tap of the vertical axes.
  bool is_full(const RowCursor& cursor) const {
    bool full = true;
    for (int v = 0; v < rows_.vertical_count; ++v)
      full &= cursor.vertical_position(v) >= full_rows_[v].begin && cursor.vertical_position(v) < full_rows_[v].end;
    return full;
  }

  /// Rows from a full one on that are.
  Index full_run(const RowCursor& cursor) const {
    const int last = rows_.vertical_count - 1;
    return last < 0 ? 1 : full_rows_[last].end - cursor.vertical_position(last);
  }

  /// Outputs whose windows reach over an end of their row, in rows that follow one another.
  bool are_columns_fine(Index first_row, Index last_row) const {
    const auto is_column_fine = [&](Index output) {
      const Taps taps = axis_.taps(output);
      const I* index = indices_ + first_row * axis_.output + output;
      bool fine = true;
      for (Index row = first_row; row < last_row; ++row, index += axis_.output)
        fine &=
            *index == no_index<I> || (along_[*index] >= taps.first_tap && along_[*index] < taps.first_tap + taps.count);
      return fine;
    };
    bool fine = true;
    for (Index output = 0; output < full_.begin; ++output) fine &= is_column_fine(output);
    for (Index output = full_.end; output < axis_.output; ++output) fine &= is_column_fine(output);
    return fine;
  }

  /// The outputs of a row whose windows reach over an edge; no number is beyond the last tap.
  bool are_edges_fine(const RowCursor& cursor, const I* row) const {
    Index first = 0, last = last_;
    bool is_range = true;
    for (int v = 0; v < rows_.vertical_count; ++v) {
      const Index position = cursor.vertical_position(v);
      if (position >= full_rows_[v].begin && position < full_rows_[v].end) continue;
      // Real taps of the first axis are neighbours in row-major order; those of the others are not.
      const PooledAxis& vertical = rows_.vertical[v];
      const Taps taps = vertical.window.taps(position);
      is_range = is_range && v == 0;
      first = taps.first_tap * vertical.tap_stride;
      last = (taps.first_tap + taps.count) * vertical.tap_stride - 1;
    }
    if (!is_range || along_ == nullptr) return are_real(cursor, row);
    if ((first > 0 || last < last_) && !are_outputs_within(row, full_, first, last)) return false;
    return edges_within(row, {0, full_.begin}, first, last) &&
           edges_within(row, {full_.end, axis_.output}, first, last);
  }

  bool are_outputs_within(const I* row, const Range& outputs, Index first, Index last) const {
    const I low = static_cast<I>(first), high = static_cast<I>(last);
    if (rows_.out_is_packed())
      return are_within(row + outputs.begin * inner_, (outputs.end - outputs.begin) * inner_, low, high);
    bool all = true;
    for (Index output = outputs.begin; output < outputs.end; ++output)
      for (Index lane = 0; lane < inner_; ++lane) all &= are_within(&at(row, output, lane), 1, low, high);
    return all;
  }

  bool edges_within(const I* row, const Range& outputs, Index first, Index last) const {
    bool all = true;
    for (Index output = outputs.begin; output < outputs.end; ++output) {
      const Index start = axis_.start(output);
      for (Index lane = 0; lane < inner_; ++lane) {
        const I index = at(row, output, lane);
        if (index == no_index<I>) continue;
        const auto tap = static_cast<Index>(index);
        const Index cell = start + along_[tap] * axis_.dilation;
        all &= tap >= first && tap <= last && cell >= 0 && cell < axis_.input;
      }
    }
    return all;
  }

  /// Every tap on its own.
  bool are_real(const RowCursor& cursor, const I* row) const {
    for (Index output = 0; output < axis_.output; ++output) {
      const Taps along = axis_.taps(output);
      for (Index lane = 0; lane < inner_; ++lane) {
        if (at(row, output, lane) == no_index<I>) continue;
        const auto tap = static_cast<std::uint32_t>(at(row, output, lane));
        bool real = is_on(along, rows_.horizontal, tap);
        for (int v = 0; v < rows_.vertical_count; ++v)
          real &= is_on(rows_.vertical[v].window.taps(cursor.vertical_position(v)), rows_.vertical[v], tap);
        if (!real) return false;
      }
    }
    return true;
  }
  /// Divides 32-bit numbers, which is much faster than 64; the strides and kernels of taps that exist are as small.
  static bool is_on(const Taps& taps, const PooledAxis& axis, std::uint32_t tap) {
    const Index on_axis =
        tap / static_cast<std::uint32_t>(axis.tap_stride) % static_cast<std::uint32_t>(axis.window.kernel);
    return on_axis >= taps.first_tap && on_axis < taps.first_tap + taps.count;
  }

  const I& at(const I* row, Index output, Index lane) const {
    return row[output * rows_.horizontal.stride.out + lane * rows_.inner.stride.out];
  }

  const Rows& rows_;
  const Axis& axis_;
  const Index inner_;
  const I* indices_;
  Index last_;  ///< the last tap, or the last cell of a plane
  Range full_;  ///< outputs and rows that may have the number of any tap
  Range full_rows_[max_rank];
  const Index* along_ = nullptr;  ///< taps on the last axis by tap numbers
};

template <class I>
bool check(const IndexJob& job) {
  return IndexCheck<I>(job)(job.first_row, job.last_row);
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_INDEX_CHECK_INL_H_
