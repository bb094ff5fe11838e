// Canonical form: any pool on any strided array as a set of output rows.
//
// An output row runs along the last pooled axis, together with the contiguous lanes behind it (`inner`): channels-first
// is inner == 1, channels-last inner == channels. The other pooled axes are `vertical`: their taps choose whole input
// rows. Everything else is a loop. A row is the unit of work that tiles and threads share out.
#pragma once

#include <ndpool/geometry.hpp>
#include <ndpool/reducer.hpp>

namespace ndpool {

/// An axis that is only looped over; strides in elements of the input-shaped and of the output-shaped array.
struct LoopAxis {
  Index extent = 1;
  Index in_stride = 0;
  Index out_stride = 0;
};

struct PooledAxis {
  Axis window;
  Index in_stride = 0;
  Index out_stride = 0;
  Index tap_stride = 1;   ///< weight in a tap number
  Index cell_stride = 1;  ///< weight in a flat index
};

struct Rows {
  int loop_count = 0;
  int vertical_count = 0;
  LoopAxis loops[max_rank];
  PooledAxis vertical[max_rank];
  PooledAxis horizontal;
  LoopAxis inner;  ///< lanes behind the last pooled axis; extent 1 if there are none

  Index row_count = 0;        ///< output rows in all
  Index rows_per_plane = 1;   ///< output rows that share the same loop position
  Index tap_count = 1;        ///< taps of the largest window

  bool in_is_packed() const {
    return horizontal.in_stride == inner.extent && (inner.extent == 1 || inner.in_stride == 1);
  }
  bool out_is_packed() const {
    return horizontal.out_stride == inner.extent && (inner.extent == 1 || inner.out_stride == 1);
  }
};

/// `in_strides` belong to the array with geometry.input_shape(), `out_strides` to the one with geometry.output_shape().
Rows make_rows(const Geometry& geometry, const Shape& in_strides, const Shape& out_strides);

/// Where a row stands: its loop and vertical positions, and the offsets they add up to. Steps from row to row without
/// divisions.
class RowCursor {
 public:
  RowCursor(const Rows& rows, Index row);

  Index vertical_position(int axis) const { return vertical_[axis]; }
  Index in_offset() const { return in_offset_; }    ///< of the loops alone: vertical taps add theirs
  Index out_offset() const { return out_offset_; }  ///< of loops and vertical positions
  void next();

 private:
  const Rows& rows_;
  Index in_offset_ = 0;
  Index out_offset_ = 0;
  Index loop_[max_rank];
  Index vertical_[max_rank];
};

}  // namespace ndpool
