// Indices that a caller gives: their check, both derivatives of max and min by them, and max unpooling.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vjp/indices.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/vjp/index_check-inl.h"
#include "kernels/argmax/names-inl.h"
#include "kernels/forward/planes-inl.h"
#include "kernels/vjp/scatter-inl.h"
#include "kernels/vjp/separate-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

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

/// Adds gradients up in the planes themselves.
template <class T, class I>
void vjp_by_scatter(const IndexJob& job) {
  const Rows& rows = job.rows;
  bool knows_cells = std::is_signed_v<I> ||
                     (rows.inner.extent == 1 && rows.tap_count <= most_table_taps && !rows.horizontal.window.adaptive);
  for (int v = 0; v < rows.vertical_count; ++v)
    knows_cells = knows_cells && (std::is_signed_v<I> || !rows.vertical[v].window.adaptive);
  if (knows_cells && is_plain_scatter(rows)) return PlainPlanes<T, I>(job)(job.first_row, job.last_row);
  const NamedCells<I> named(job);
  T* gx = static_cast<T*>(job.like_in);
  const T* gy = static_cast<const T*>(job.like_out);
  RowCursor cursor(rows, job.first_row);
  for (Index row = job.first_row; row < job.last_row; ++row, cursor.next()) {
    if ((row - job.first_row) % rows.rows_per_plane == 0) zero_planes(rows, row, row + rows.rows_per_plane, gx);
    named(cursor, [&](Index cell, Index output, bool names_one) {
      if (names_one) gx[cell] += gy[output];
    });
  }
}

/// One plane, where other ways found an index that they do not expect.
template <class T, class I>
void scatter_plane(const IndexJob& job, Index row) {
  vjp_by_scatter<T, I>({job.rows, job.use, job.index_kind, job.indices, job.like_in, job.like_out, row,
                        row + job.rows.rows_per_plane, job.scratch});
}

/// Gradients of windows that share no cell. False if there are others, or wide tap numbers.
template <class T, class I>
bool vjp_of_separate(const IndexJob& job) {
  if constexpr (sizeof(I) == 1 || std::is_signed_v<I>) {
    const Rows& rows = job.rows;
    if (!rows.out_is_packed() || !windows_are_separate(rows)) return false;
    using Shares = NamedShares<T, I>;
    SeparateWindows<T, Shares> windows(
        rows, static_cast<T*>(job.like_in),
        Shares(rows, static_cast<const T*>(job.like_out), static_cast<const I*>(job.indices)));
    for (Index row = job.first_row; row < job.last_row; row += rows.rows_per_plane) {
      if (!windows(row, row + rows.rows_per_plane)) scatter_plane<T, I>(job, row);
    }
    return true;
  }
  return false;
}

/// Gradients of planes by tap numbers, cell by cell. False if another way is better.
template <class T>
bool vjp_by_matches(const IndexJob& job) {
  const Rows& rows = job.rows;
  if (!MatchedPlanes<T>::may_make(rows) || !NamedRows<T>::fit(job)) return false;
  const bool stream = leaves_cache(rows, sizeof(T));
  MatchedPlanes<T> planes(rows, static_cast<T*>(job.like_in), static_cast<char*>(job.scratch) + index_table_bytes(rows),
                          stream);
  if (!planes) return false;
  NamedRows<T> named(job);
  const T* gy = static_cast<const T*>(job.like_out);
  const bool follow = tangent_out_is_packed(rows) && rows_follow(rows, &Strides::tangent_out, true);
  const Index all = rows.row_count * rows.horizontal.window.output;
  RowCursor cursor(rows, job.first_row);
  for (Index row = job.first_row; row < job.last_row; row += rows.rows_per_plane, cursor.next_loop()) {
    named.to_plane(cursor.offset());
    const Index at = cursor.offset().tangent_out;
    planes.make(cursor.offset().tangent_in, named.load(),
                {.at = follow && rows.inner.extent == 1 ? gy + at : nullptr, .before = at, .behind = all - at});
    if (named.saw_strays()) scatter_plane<T, Index>(job, row);
  }
  if (stream) hwy::FlushStream();
  return true;
}

template <class T, class I>
void vjp_by(const IndexJob& job) {
  if (vjp_of_separate<T, I>(job) || vjp_by_matches<T>(job)) return;
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

template <class T>
bool indices(const IndexJob& job) {
  bool fine = true;
  switch (job.use) {
    case IndexUse::check: with_index(job, [&]<class I>(I) { fine = check<I>(job); }); break;
    case IndexUse::jvp:
      if constexpr (is_real<T>) with_index(job, [&]<class I>(I) { jvp_by<T, I>(job); });
      break;
    case IndexUse::vjp:
      if constexpr (std::is_floating_point_v<T>) with_index(job, [&]<class I>(I) { vjp_by<T, I>(job); });
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
