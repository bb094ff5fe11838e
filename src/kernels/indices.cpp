// Indices that a caller gives: their check, both derivatives of max and min by them, and max unpooling.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/indices.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/matches-inl.h"
#include "kernels/planes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// All bits set, in every kind of index: no winner.
template <class I>
inline constexpr I no_index = static_cast<I>(-1);

// ---- check ----

/// True if `count` neighbouring indices are none or in [first, last].
template <class I>
HWY_NOINLINE bool are_within(const I* indices, Index count, I first, I last) {
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

/// Rows that may hold the same numbers, and follow one another in memory, are checked in one go.
template <class I>
class IndexCheck {
 public:
  explicit IndexCheck(const IndexJob& job)
      : rows_(job.rows),
        axis_(rows_.horizontal.window),
        inner_(rows_.inner.extent),
        packed_(rows_.out_is_packed()),
        indices_(static_cast<const I*>(job.indices)),
        full_(std::is_signed_v<I> ? Range{0, axis_.output}
              : axis_.adaptive    ? Range{axis_.output, axis_.output}
                                  : axis_.full_outputs()),
        last_(rows_.tap_count - 1) {
    if constexpr (std::is_signed_v<I>) {
      last_ = axis_.input;
      for (int v = 0; v < rows_.vertical_count; ++v) last_ *= rows_.vertical[v].window.input;
      --last_;
    } else if (rows_.tap_count <= most_table_taps) {
      Index* along = static_cast<Index*>(job.scratch);
      for (Index tap = 0, on_axis = 0; tap < rows_.tap_count;
           ++tap, on_axis = on_axis + 1 == axis_.kernel ? 0 : on_axis + 1)
        along[tap] = on_axis;
      along_ = along;
    }
    for (int v = 0; v < rows_.vertical_count; ++v)
      full_rows_[v] = rows_.vertical[v].window.adaptive ? Range{} : rows_.vertical[v].window.full_outputs();
  }

  /// False if a row, or one before it, has a wrong index; `finish` answers for the rest.
  bool operator()(const RowCursor& cursor) {
    const I* row = indices_ + cursor.offset().out;
    Index first = 0, last = last_;
    if constexpr (std::is_unsigned_v<I>) {
      bool is_range = true;
      for (int v = 0; v < rows_.vertical_count; ++v) {
        const PooledAxis& vertical = rows_.vertical[v];
        const Index position = cursor.vertical_position(v);
        if (position >= full_rows_[v].begin && position < full_rows_[v].end) continue;
        const Taps taps = vertical.window.taps(position);
        // Real taps of the first axis are neighbours in row-major order; those of the others are not.
        is_range &= v == 0;
        first = taps.first_tap * vertical.tap_stride;
        last = (taps.first_tap + taps.count) * vertical.tap_stride - 1;
      }
      if (!is_range) return are_real(cursor, row, 0, axis_.output);
      if (along_ == nullptr || axis_.adaptive) return are_real(cursor, row, 0, axis_.output);
      if (!edges_within(row, 0, full_.begin, first, last) || !edges_within(row, full_.end, axis_.output, first, last))
        return false;
    }
    return outputs_within(row, first, last);
  }

  bool finish() {
    const bool fine = are_within(run_, length_, run_first_, run_last_);
    length_ = 0;
    return fine;
  }

 private:
  /// The outputs of `full_`, if they are packed as a part of a run of rows.
  bool outputs_within(const I* row, Index first, Index last) {
    const I low = static_cast<I>(first), high = static_cast<I>(last);
    const I* from = row + full_.begin * inner_;
    const Index count = (full_.end - full_.begin) * inner_;
    if (packed_ && from == run_ + length_ && low == run_first_ && high == run_last_) {
      length_ += count;
      return true;
    }
    if (packed_) {
      const bool fine = finish();
      run_ = from;
      length_ = count;
      run_first_ = low;
      run_last_ = high;
      return fine;
    }
    bool all = true;
    for (Index output = full_.begin; output < full_.end; ++output)
      for (Index lane = 0; lane < inner_; ++lane) all &= are_within(&at(row, output, lane), 1, low, high);
    return all;
  }

  /// Windows that touch an edge of the row.
  bool edges_within(const I* row, Index begin, Index end, Index first, Index last) const {
    bool all = true;
    for (Index output = begin; output < end; ++output) {
      const Taps taps = axis_.taps(output);
      for (Index lane = 0; lane < inner_; ++lane) {
        const I index = at(row, output, lane);
        if (index == no_index<I>) continue;
        const auto tap = static_cast<Index>(index);
        if (tap < first || tap > last) return false;
        all &= along_[tap] >= taps.first_tap && along_[tap] < taps.first_tap + taps.count;
      }
    }
    return all;
  }

  /// Every tap on its own.
  bool are_real(const RowCursor& cursor, const I* row, Index begin, Index end) const {
    for (Index output = begin; output < end; ++output) {
      const Taps along = axis_.taps(output);
      for (Index lane = 0; lane < inner_; ++lane) {
        if (at(row, output, lane) == no_index<I>) continue;
        const auto tap = static_cast<std::uint32_t>(at(row, output, lane));
        bool real = tap < rows_.tap_count && is_on(along, rows_.horizontal, tap);
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
  const bool packed_;
  const I* indices_;
  const Range full_;  ///< outputs that may have the number of any tap of their rows
  Range full_rows_[max_rank];
  Index last_;
  const Index* along_ = nullptr;  ///< taps by tap numbers
  const I* run_ = nullptr;
  Index length_ = 0;
  I run_first_ = 0, run_last_ = 0;
};

template <class I>
bool check(const IndexJob& job) {
  IndexCheck<I> is_fine(job);
  RowCursor cursor(job.rows, job.first_row);
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next())
    if (!is_fine(cursor)) return false;
  return is_fine.finish();
}

// ---- cells by indices ----

/// Calls use(offset in like_in, offset in like_out, whether a cell is named) for all outputs of a row, in order.
template <class I>
class NamedCells {
 public:
  explicit NamedCells(const IndexJob& job)
      : rows_(job.rows),
        axis_(rows_.horizontal.window),
        indices_(static_cast<const I*>(job.indices)),
        cells_(rows_),
        has_table_(!std::is_signed_v<I> && rows_.tap_count <= most_table_taps) {
    if (has_table_) TapOffsets(rows_, static_cast<Index*>(job.scratch), stride);
    table_ = static_cast<const Index*>(job.scratch);
  }

  template <class Use>
  HWY_INLINE void operator()(const RowCursor& cursor, Use use) const {
    const Strides at = cursor.offset();
    const I* row = indices_ + at.out;
    const Index outputs = axis_.output, lanes = rows_.inner.extent;
    const Strides along = rows_.horizontal.stride, behind = rows_.inner.stride;
    Index window = at.tangent_in, step = 0;
    if constexpr (std::is_unsigned_v<I>) {
      window += window_start(rows_, cursor, stride) + axis_.start(0) * along.tangent_in;
      step = axis_.stride * along.tangent_in;
    }
    for (Index output = 0; output < outputs; ++output) {
      const I* from = row + output * along.out;
      const Index to = at.tangent_out + output * along.tangent_out;
      if (std::is_unsigned_v<I> && axis_.adaptive && output > 0)
        step = (axis_.start(output) - axis_.start(output - 1)) * along.tangent_in;
      window += output == 0 ? 0 : step;
      if (lanes == 1) {
        use(window + offset(*from), to, *from != no_index<I>);
        continue;
      }
      for (Index lane = 0; lane < lanes; ++lane) {
        const I index = from[lane * behind.out];
        use(window + lane * behind.tangent_in + offset(index), to + lane * behind.tangent_out, index != no_index<I>);
      }
    }
  }

 private:
  static Index stride(const PooledAxis& axis) { return axis.stride.tangent_in; }

  HWY_INLINE Index offset(I index) const {
    if constexpr (std::is_signed_v<I>) return cells_[index];
    if (index == no_index<I>) return 0;
    if (has_table_) return table_[index];
    const auto tap = static_cast<Index>(index);
    Index sum = on_axis(rows_.horizontal, tap);
    for (int v = 0; v < rows_.vertical_count; ++v) sum += on_axis(rows_.vertical[v], tap);
    return sum;
  }
  static Index on_axis(const PooledAxis& axis, Index tap) {
    return tap / axis.tap_stride % axis.window.kernel * axis.window.dilation * axis.stride.tangent_in;
  }

  const Rows& rows_;
  const Axis& axis_;
  const I* indices_;
  const CellOffsets cells_;
  const bool has_table_;
  const Index* table_;
};

template <class T, class I>
void jvp_by(const IndexJob& job) {
  const NamedCells<I> named(job);
  const T* dx = static_cast<const T*>(job.like_in);
  T* dy = static_cast<T*>(job.like_out);
  RowCursor cursor(job.rows, job.first_row);
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next())
    named(cursor, [&](Index cell, Index output, bool names_one) { dy[output] = names_one ? dx[cell] : T(0); });
}

/// Copies outputs of a row to where they are packed. Tap numbers become bytes: none stays all ones.
template <class From, class To>
void copy_outputs(const From* from, Index step, Index lane_step, Index outputs, Index lanes, To* to) {
  if (step == lanes && (lanes == 1 || lane_step == 1)) {
    for (Index i = 0; i < outputs * lanes; ++i) to[i] = static_cast<To>(from[i]);
    return;
  }
  for (Index output = 0; output < outputs; ++output)
    for (Index lane = 0; lane < lanes; ++lane)
      to[output * lanes + lane] = static_cast<To>(from[output * step + lane * lane_step]);
}

/// True if flat indices count the cells of a plane as they lie in memory, and outputs follow one another.
inline bool is_plain_scatter(const Rows& rows) {
  bool plain = rows.inner.extent == 1 && rows.horizontal.stride.tangent_in == 1 && rows.horizontal.stride.out == 1 &&
               rows.horizontal.stride.tangent_out == 1;
  for (int v = 0; v < rows.vertical_count; ++v)
    plain &= rows.vertical[v].stride.tangent_in == rows.vertical[v].cell_stride;
  return plain;
}

/// Adds gradients up in the planes themselves.
template <class T, class I>
void vjp_by_scatter(const IndexJob& job) {
  if constexpr (std::is_signed_v<I>)
    if (is_plain_scatter(job.rows)) {
      const Index plane_rows = job.rows.rows_per_plane, outputs = job.rows.horizontal.window.output;
      RowCursor cursor(job.rows, job.first_row);
      for (Index row = job.first_row; row < job.last_row; ++row, cursor.next()) {
        if ((row - job.first_row) % plane_rows == 0)
          zero_planes(job.rows, row, row + plane_rows, static_cast<T*>(job.like_in));
        const Strides at = cursor.offset();
        const I* index = static_cast<const I*>(job.indices) + at.out;
        const T* gy = static_cast<const T*>(job.like_out) + at.tangent_out;
        T* plane = static_cast<T*>(job.like_in) + at.tangent_in;
        for (Index i = 0; i < outputs; ++i)
          if (index[i] >= 0) plane[index[i]] += gy[i];
      }
      return;
    }
  const NamedCells<I> named(job);
  T* gx = static_cast<T*>(job.like_in);
  const T* gy = static_cast<const T*>(job.like_out);
  const Index plane = job.rows.rows_per_plane;
  RowCursor cursor(job.rows, job.first_row);
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next()) {
    if ((row - job.first_row) % plane == 0) zero_planes(job.rows, row, row + plane, gx);
    named(cursor, [&](Index cell, Index output, bool names_one) {
      if (names_one) gx[cell] += gy[output];
    });
  }
}

/// Gradients of planes by tap numbers, cell by cell. False if another way is better.
template <class T, class I>
bool vjp_by_matches(const IndexJob& job) {
  const Rows& rows = job.rows;
  if (!MatchedPlanes<T>::may_make(rows)) return false;
  const T* gy = static_cast<const T*>(job.like_out);
  const I* taps = static_cast<const I*>(job.indices);
  const bool stream = leaves_cache(rows, sizeof(T));
  MatchedPlanes<T> planes(rows, static_cast<T*>(job.like_in), static_cast<char*>(job.scratch) + index_table_bytes(rows),
                          stream);
  if (!planes) return false;
  const bool direct = sizeof(I) == 1 && planes.can_be_direct();
  const Strides along = rows.horizontal.stride, behind = rows.inner.stride;
  for (Index row = job.first_row; row < job.last_row; row += rows.rows_per_plane) {
    const Strides at = RowCursor(rows, row).offset();
    if constexpr (sizeof(I) == 1)
      if (direct) {
        planes.make_direct(at.tangent_in, gy + at.tangent_out, taps + at.out);
        continue;
      }
    planes.make(at.tangent_in,
                [&](const Index* positions, Index first, Index outputs, T* to_gy, std::uint8_t* to_taps) {
                  const T* from = gy + at.tangent_out + first * along.tangent_out;
                  const I* from_taps = taps + at.out + first * along.out;
                  for (int v = 0; v < rows.vertical_count; ++v) {
                    from += positions[v] * rows.vertical[v].stride.tangent_out;
                    from_taps += positions[v] * rows.vertical[v].stride.out;
                  }
                  copy_outputs(from, along.tangent_out, behind.tangent_out, outputs, rows.inner.extent, to_gy);
                  copy_outputs(from_taps, along.out, behind.out, outputs, rows.inner.extent, to_taps);
                });
  }
  if (stream) hwy::FlushStream();
  return true;
}

template <class T, class I>
void vjp_by(const IndexJob& job) {
  if constexpr (std::is_unsigned_v<I>)
    if (vjp_by_matches<T, I>(job)) return;
  vjp_by_scatter<T, I>(job);
}

// ---- unpooling ----

template <class T>
void place(const IndexJob& job) {
  const NamedCells<Index> named(job);
  T* x = static_cast<T*>(job.like_in);
  const T* values = static_cast<const T*>(job.like_out);
  const Index plane = job.rows.rows_per_plane;
  RowCursor cursor(job.rows, job.first_row);
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next()) {
    if ((row - job.first_row) % plane == 0) zero_planes(job.rows, row, row + plane, x);
    named(cursor, [&](Index cell, Index output, bool names_one) {
      if (names_one) x[cell] = values[output];
    });
  }
}

/// Backwards, so that the first value that comes to a cell is the one that stayed there: a byte per cell knows whether
/// one came.
template <class T>
void place_vjp(const IndexJob& job) {
  const Rows& rows = job.rows;
  const T* gx = static_cast<const T*>(job.like_in);
  T* gy = static_cast<T*>(job.like_out);
  const Index* indices = static_cast<const Index*>(job.indices);
  const Strides along = rows.horizontal.stride, behind = rows.inner.stride;
  const Index lanes = rows.inner.extent, cells = plane_cells(rows);
  const CellOffsets offsets(rows);
  auto* is_taken = static_cast<std::uint8_t*>(job.scratch);
  for (Index plane = job.first_row; plane < job.last_row; plane += rows.rows_per_plane) {
    std::fill_n(is_taken, cells, std::uint8_t{0});
    for (Index row = plane + rows.rows_per_plane - 1; row >= plane; --row) {
      const Strides at = RowCursor(rows, row).offset();
      for (Index output = rows.horizontal.window.output - 1; output >= 0; --output)
        for (Index lane = 0; lane < lanes; ++lane) {
          const Index index = indices[at.out + output * along.out + lane * behind.out];
          T& to = gy[at.tangent_out + output * along.tangent_out + lane * behind.tangent_out];
          to = T(0);
          if (index < 0 || is_taken[index * lanes + lane] != 0) continue;
          is_taken[index * lanes + lane] = 1;
          to = gx[at.tangent_in + offsets[index] + lane * behind.tangent_in];
        }
    }
  }
}

template <class T, class F>
void with_index(const IndexJob& job, F f) {
  switch (job.index_kind) {
    case IndexKind::u8: return f(std::uint8_t{});
    case IndexKind::u16: return f(std::uint16_t{});
    case IndexKind::u32: return f(std::uint32_t{});
    case IndexKind::flat: return f(Index{});
  }
}

template <class T>
bool indices(const IndexJob& job) {
  bool fine = true;
  switch (job.use) {
    case IndexUse::check: with_index<T>(job, [&]<class I>(I) { fine = check<I>(job); }); break;
    case IndexUse::jvp:
      if constexpr (is_real<T>) with_index<T>(job, [&]<class I>(I) { jvp_by<T, I>(job); });
      break;
    case IndexUse::vjp:
      if constexpr (std::is_floating_point_v<T>) with_index<T>(job, [&]<class I>(I) { vjp_by<T, I>(job); });
      break;
    case IndexUse::place: place<T>(job); break;
    case IndexUse::place_vjp: place_vjp<T>(job); break;
  }
  return fine;
}

#define NDPOOL_ROW(name, type) indices<type>,
NDPOOL_KERNEL_TABLE(IndexKernels, index_kernels)
#undef NDPOOL_ROW

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ndpool {

NDPOOL_EXPORT_KERNELS(index_kernels, add_index_kernels, indices)

}  // namespace ndpool
#endif
