// Canonical form: any pool on any strided array as a set of output rows.
//
// An output row runs along the last pooled axis, together with the contiguous lanes behind it (`inner`): channels-first
// is inner == 1, channels-last inner == channels. The other pooled axes are `vertical`: their taps choose whole input
// rows. Everything else is a loop. A row is the unit of work that tiles and threads share out.
#pragma once

#include "kernels/kernels.hpp"

namespace ndpool {

/// Strides, in elements, of up to four arrays that one pool walks through together: `in` and `out` are the array of
/// input shape and the one of output shape; `tangent_in` and `tangent_out` are another such pair, tangents or
/// gradients.
struct Strides {
  Index in = 0;
  Index out = 0;
  Index tangent_in = 0;
  Index tangent_out = 0;
};

/// An axis that is only looped over.
struct LoopAxis {
  Index extent = 1;
  Strides stride;
};

/// Makes two loops one where all arrays step through them like through one, whichever of the two is the outer one.
/// False where they do not.
bool merge_loops(LoopAxis& loop, const LoopAxis& other);

struct PooledAxis {
  Axis window;
  Strides stride;
  Index tap_stride = 1;   ///< weight in a tap number
  Index cell_stride = 1;  ///< weight in a flat index
};

/// True if the axis has one window, of exactly its cells.
inline bool is_whole(const Axis& axis) {
  const Taps taps = axis.taps(0);
  return axis.output == 1 && taps.count == axis.input && taps.length == axis.input && taps.step == 1;
}

/// Room for one entry per axis of the largest array; only the entries that are used are ever touched, because clearing
/// and copying all of them would be most of the cost of a plan.
template <class T>
class PerAxis {
 public:
  PerAxis() {}  // NOLINT: nothing to initialise
  T& operator[](int i) { return entries_[i]; }
  const T& operator[](int i) const { return entries_[i]; }
  void copy(const PerAxis& other, int count) {
    for (int i = 0; i < count; ++i) entries_[i] = other.entries_[i];
  }

 private:
  union {
    T entries_[max_rank];
  };
};

struct Rows {
  Rows() = default;
  Rows(const Rows& other) { *this = other; }
  Rows& operator=(const Rows& other) {
    loop_count = other.loop_count;
    vertical_count = other.vertical_count;
    loops.copy(other.loops, loop_count);
    vertical.copy(other.vertical, vertical_count);
    horizontal = other.horizontal;
    inner = other.inner;
    row_count = other.row_count;
    rows_per_plane = other.rows_per_plane;
    tap_count = other.tap_count;
    accumulator_bytes = other.accumulator_bytes;
    parts = other.parts;
    return *this;
  }

  int loop_count = 0;
  int vertical_count = 0;
  PerAxis<LoopAxis> loops;
  PerAxis<PooledAxis> vertical;
  PooledAxis horizontal;
  LoopAxis inner;  ///< lanes behind the last pooled axis; extent 1 if there are none

  Index row_count = 0;                ///< output rows in all
  Index rows_per_plane = 1;           ///< output rows that share the same loop position
  Index tap_count = 1;                ///< taps of the largest window
  Index parts = 1;                    ///< of the rows of a larger pool, if these are a part of them
  std::size_t accumulator_bytes = 8;  ///< of the widest number that temporary rows hold

  /// The same rows with the tangents in place of the values.
  Rows of_tangents() const;

  /// The pool whose values are the VJP of sums over these windows, if it is one: every cell of `tangent_in` sums a
  /// window of `tangent_out`. False where windows step by more than a cell, or would mostly be padding.
  bool transpose(Rows& transposed) const;

  /// The same rows with pooled axes that lie and are pooled as a whole made one axis, for maps that do not ask in which
  /// order taps are added; the arrays must be those of the tangents.
  Rows with_whole_axes_merged() const;

  /// The same rows in the same order, with planes that follow one another made one where no window notices: those of
  /// the first vertical axis end where the plane does. For maps that do not ask in which plane a cell is.
  Rows with_planes_merged() const;

  /// Some outputs of every row, which `cells` of the input rows are needed for.
  Rows part(Range outputs, Range& cells) const;

  /// The same rows, each of lanes alone: the last pooled axis is a vertical one too, and lanes are cut so that at most
  /// `most` of them make a row, where their number has such a divisor. For windows so large that a row of them is too
  /// long to be kept.
  Rows with_rows_of_lanes(Index most) const;

  bool in_is_packed() const {
    return horizontal.stride.in == inner.extent && (inner.extent == 1 || inner.stride.in == 1);
  }
  bool out_is_packed() const {
    return horizontal.stride.out == inner.extent && (inner.extent == 1 || inner.stride.out == 1);
  }
};

/// Planes that are pooled side by side: their cells become the lanes behind the last pooled axis.
inline constexpr Index most_planes = 64;
struct PackedPlanes {
  Rows rows;  ///< of one group, with the planes as lanes
  Index planes = 0;
  Index cells = 0;
  Index outputs = 0;
  std::size_t bytes = 0;  ///< of the packed input and output
};

/// How planes of elements of `size` bytes are packed; none (planes = 0) where that does not pay.
PackedPlanes make_packed_planes(const Rows& rows, std::size_t size);

Rows make_rows(const Geometry& geometry, const ArrayStrides& strides);

/// Where a row stands: its loop and vertical positions, and the offsets they add up to. Steps from row to row without
/// divisions.
class RowCursor {
 public:
  RowCursor(const Rows& rows, Index row);
  RowCursor(const RowCursor& other) : rows_(other.rows_) { *this = other; }  // NOLINT: the rest is not used
  /// Only of a cursor over the same rows.
  RowCursor& operator=(const RowCursor& other) {
    offset_ = other.offset_;
    for (int i = 0; i < rows_.loop_count; ++i) loop_[i] = other.loop_[i];
    for (int v = 0; v < rows_.vertical_count; ++v) vertical_[v] = other.vertical_[v];
    return *this;
  }

  Index vertical_position(int axis) const { return vertical_[axis]; }
  /// Offsets into the arrays: those of input shape by the loops alone, since vertical taps add theirs; those of output
  /// shape by loops and vertical positions.
  const Strides& offset() const { return offset_; }
  void next() {
    // Nearly always the next row of the same plane.
    const int last = rows_.vertical_count - 1;
    if (last >= 0 && vertical_[last] + 1 < rows_.vertical[last].window.output) {
      ++vertical_[last];
      offset_.out += rows_.vertical[last].stride.out;
      offset_.tangent_out += rows_.vertical[last].stride.tangent_out;
    } else {
      next_plane();
    }
  }
  /// Over `count` rows, to one whose number is given.
  void skip(Index count, Index row) {
    const int last = rows_.vertical_count - 1;
    if (count > 1 && (last < 0 || vertical_[last] + count > rows_.vertical[last].window.output)) {
      *this = RowCursor(rows_, row);
      return;
    }
    if (count > 1) {
      vertical_[last] += count - 1;
      offset_.out += (count - 1) * rows_.vertical[last].stride.out;
      offset_.tangent_out += (count - 1) * rows_.vertical[last].stride.tangent_out;
    }
    next();
  }
  /// To the same row of the next plane.
  void next_loop();

 private:
  void next_plane();

  const Rows& rows_;
  Strides offset_;
  Index loop_[max_rank];
  Index vertical_[max_rank];
};

}  // namespace ndpool
