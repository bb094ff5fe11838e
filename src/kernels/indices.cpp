// Indices that a caller gives: their check, both derivatives of max and min by them, and max unpooling.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/indices.cpp"
#include <hwy/foreach_target.h>
// must come after foreach_target.h
#include "kernels/matches-inl.h"
#include "kernels/planes-inl.h"
#include "kernels/separate-inl.h"

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
    RowCursor cursor(rows_, first_row);
    for (Index row = first_row; row < last_row; ++row, cursor.next()) {
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
    if constexpr (std::is_same_v<From, To>)
      std::copy_n(from, outputs * lanes, to);
    else
      for (Index i = 0; i < outputs * lanes; ++i) to[i] = static_cast<To>(from[i]);
    return;
  }
  for (Index output = 0; output < outputs; ++output)
    for (Index lane = 0; lane < lanes; ++lane)
      to[output * lanes + lane] = static_cast<To>(from[output * step + lane * lane_step]);
}

/// True if flat indices count the pixels of a plane as they lie in memory, and outputs follow one another.
inline bool is_plain_scatter(const Rows& rows) {
  bool plain = tangent_in_is_packed(rows) && tangent_out_is_packed(rows) && rows.out_is_packed();
  for (int v = 0; v < rows.vertical_count; ++v)
    plain = plain && rows.vertical[v].stride.tangent_in == rows.vertical[v].cell_stride * rows.inner.extent;
  return plain;
}

/// Adds gradients up in one plane that lies in memory as it is counted. Cells are zeroed only as far as gradients have
/// come, so that they are still in the cache when one is added.
template <class T>
class PlainScatter {
 public:
  PlainScatter(const Rows& rows, T* plane)
      : lanes_(rows.inner.extent),
        pixels_(input_rows_per_plane(rows) * rows.horizontal.window.input),
        is_small_(pixels_ * lanes_ * static_cast<Index>(sizeof(T)) <= few_bytes),
        plane_(plane) {}
  ~PlainScatter() { zero_to(pixels_); }

  /// Outputs that follow one another, by flat indices.
  void add(const Index* indices, const T* gy, Index outputs) {
    const Index some = std::max<Index>(1, few_outputs / lanes_);
    for (Index begin = 0; begin < outputs; begin += some)
      add_some(indices + begin * lanes_, gy + begin * lanes_, std::min(some, outputs - begin));
  }

  /// Rows of outputs without lanes, by tap numbers: how many, where their windows begin, and how far apart they are.
  struct TapRows {
    Index count, outputs;
    Index taps_step = 0, gy_step = 0;
    Index first, step, row_step = 0;  ///< of windows, in cells of the plane
    Index end;                        ///< the first row reaches no cell from here on
    Index last_end;                   ///< nor does any
  };
  template <class Tap>
  HWY_NOINLINE void add(const Tap* taps, const T* gy, const TapRows& rows, const Index* offsets) {
    const Index outputs = rows.outputs, step = rows.step;
    for (Index row = 0; row < rows.count; ++row, taps += rows.taps_step, gy += rows.gy_step) {
      zero_to(is_small_ ? pixels_ : std::min(rows.end + row * rows.row_step, rows.last_end));
      T* window = plane_ + rows.first + row * rows.row_step;
      for (Index i = 0; i < outputs; ++i, window += step)
        if (taps[i] != no_index<Tap>) window[offsets[taps[i]]] += gy[i];
    }
  }

 private:
  /// What is zeroed at once, and what is looked at together: no more than a first-level cache holds well.
  static constexpr Index few_bytes = 8192, few_outputs = 512;

  HWY_NOINLINE void add_some(const Index* indices, const T* gy, Index outputs) {
    zero_for(indices, outputs * lanes_);
    T* const plane = plane_;
    if (lanes_ == 1) {
      for (Index i = 0; i < outputs; ++i)
        if (indices[i] >= 0) plane[indices[i]] += gy[i];
      return;
    }
    const Index lanes = lanes_;
    for (Index output = 0; output < outputs; ++output, indices += lanes, gy += lanes)
      for (Index lane = 0; lane < lanes; ++lane)
        if (indices[lane] >= 0) plane[indices[lane] * lanes + lane] += gy[lane];
  }

  void zero_for(const Index* indices, Index count) {
    if (is_small_) return zero_to(pixels_);
    if (zeroed_ == pixels_) return;
    Index last = -1;
    for (Index i = 0; i < count; ++i) last = std::max(last, indices[i]);
    zero_to(last + 1);
  }
  void zero_to(Index end) {
    if (end <= zeroed_) return;
    std::fill(plane_ + zeroed_ * lanes_, plane_ + end * lanes_, T(0));
    zeroed_ = end;
  }

  const Index lanes_, pixels_;
  const bool is_small_;
  T* const plane_;
  Index zeroed_ = 0;
};

/// Scatters the planes of a job whose cells and outputs lie plainly.
template <class T, class I>
class PlainPlanes {
 public:
  explicit PlainPlanes(const IndexJob& job)
      : job_(job), rows_(job.rows), axis_(rows_.horizontal.window), offsets_(static_cast<Index*>(job.scratch)) {
    if constexpr (std::is_unsigned_v<I>)
      TapOffsets(rows_, offsets_, weight);
    else if (rows_follow(rows_, &Strides::out) && rows_follow(rows_, &Strides::tangent_out))
      together_ = rows_.rows_per_plane;
    if (std::is_unsigned_v<I> && rows_.vertical_count > 0)
      together_ = rows_.vertical[rows_.vertical_count - 1].window.output;
  }

  void operator()(Index first_row, Index last_row) const {
    RowCursor plane(rows_, first_row);
    for (Index row = first_row; row < last_row; row += rows_.rows_per_plane, plane.next_loop()) {
      PlainScatter<T> scatter(rows_, static_cast<T*>(job_.like_in) + plane.offset().tangent_in);
      for (Index in_plane = 0; in_plane < rows_.rows_per_plane; in_plane += together_)
        add_rows(RowCursor(rows_, row + in_plane), scatter);
    }
  }

 private:
  static Index weight(const PooledAxis& axis) { return axis.cell_stride; }

  void add_rows(const RowCursor& cursor, PlainScatter<T>& scatter) const {
    const I* indices = static_cast<const I*>(job_.indices) + cursor.offset().out;
    const T* gy = static_cast<const T*>(job_.like_out) + cursor.offset().tangent_out;
    if constexpr (std::is_signed_v<I>) {
      scatter.add(indices, gy, together_ * axis_.output);
    } else {
      typename PlainScatter<T>::TapRows some{.count = together_,
                                             .outputs = axis_.output,
                                             .first = window_start(rows_, cursor, weight) + axis_.start(0),
                                             .step = axis_.stride,
                                             .end = axis_.input,
                                             .last_end = axis_.input};
      for (int v = 0; v < rows_.vertical_count; ++v) {
        const PooledAxis& vertical = rows_.vertical[v];
        const Axis& window = vertical.window;
        const Index last = window.start(cursor.vertical_position(v)) + (window.kernel - 1) * window.dilation;
        const bool is_last_axis = v + 1 == rows_.vertical_count;
        some.end += (is_last_axis ? last : std::min(last, window.input - 1)) * vertical.cell_stride;
        some.last_end += (is_last_axis ? window.input - 1 : std::min(last, window.input - 1)) * vertical.cell_stride;
        if (!is_last_axis) continue;
        some.taps_step = vertical.stride.out;
        some.gy_step = vertical.stride.tangent_out;
        some.row_step = window.stride * vertical.cell_stride;
      }
      scatter.add(indices, gy, some, offsets_);
    }
  }

  const IndexJob& job_;
  const Rows& rows_;
  const Axis& axis_;
  Index* offsets_;
  Index together_ = 1;  ///< rows that are added together
};

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
      const Index end = row + rows.rows_per_plane;
      if (windows(row, end)) continue;
      vjp_by_scatter<T, I>(
          {rows, job.use, job.index_kind, job.indices, job.like_in, job.like_out, row, end, job.scratch});
    }
    return true;
  }
  return false;
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
  const Strides along = rows.horizontal.stride, behind = rows.inner.stride;
  for (Index row = job.first_row; row < job.last_row; row += rows.rows_per_plane) {
    const Strides at = RowCursor(rows, row).offset();
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
  if (vjp_of_separate<T, I>(job)) return;
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
