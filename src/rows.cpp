#include "rows.hpp"

namespace ndpool {

namespace {

/// Adds a loop, merging it with the one before it where both arrays step through the two like through one.
void add_loop(Rows& rows, LoopAxis axis) {
  if (axis.extent == 1) return;
  if (rows.loop_count > 0) {
    LoopAxis& before = rows.loops[rows.loop_count - 1];
    if (before.in_stride == axis.in_stride * axis.extent && before.out_stride == axis.out_stride * axis.extent) {
      before = {before.extent * axis.extent, axis.in_stride, axis.out_stride};
      return;
    }
  }
  rows.loops[rows.loop_count++] = axis;
}

}  // namespace

Rows make_rows(const Geometry& geometry, const Shape& in_strides, const Shape& out_strides) {
  Rows rows;
  int last_pooled = geometry.rank - 1;
  while (last_pooled > 0 && !geometry.axes[last_pooled].pooled) --last_pooled;

  Rows behind;  // the loops behind the last pooled axis: the last of them after merging is `inner`
  for (int a = last_pooled + 1; a < geometry.rank; ++a)
    add_loop(behind, {geometry.axes[a].output, in_strides[a], out_strides[a]});
  if (behind.loop_count > 0) rows.inner = behind.loops[--behind.loop_count];

  for (int a = 0; a <= last_pooled; ++a) {
    const PooledAxis pooled = {geometry.axes[a], in_strides[a], out_strides[a], geometry.tap_stride[a],
                               geometry.cell_stride[a]};
    if (a == last_pooled)
      rows.horizontal = pooled;
    else if (geometry.axes[a].pooled)
      rows.vertical[rows.vertical_count++] = pooled;
    else
      add_loop(rows, {geometry.axes[a].output, in_strides[a], out_strides[a]});
  }
  for (int i = 0; i < behind.loop_count; ++i) add_loop(rows, behind.loops[i]);

  for (int v = 0; v < rows.vertical_count; ++v) rows.rows_per_plane *= rows.vertical[v].window.output;
  rows.row_count = rows.rows_per_plane;
  for (int i = 0; i < rows.loop_count; ++i) rows.row_count *= rows.loops[i].extent;
  if (rows.inner.extent == 0) rows.row_count = 0;
  rows.tap_count = geometry.tap_count();
  return rows;
}

RowCursor::RowCursor(const Rows& rows, Index row) : rows_(rows) {
  for (int v = rows.vertical_count - 1; v >= 0; --v) {
    const PooledAxis& axis = rows.vertical[v];
    vertical_[v] = row % axis.window.output;
    row /= axis.window.output;
    out_offset_ += vertical_[v] * axis.out_stride;
  }
  for (int i = rows.loop_count - 1; i >= 0; --i) {
    const LoopAxis& axis = rows.loops[i];
    loop_[i] = row % axis.extent;
    row /= axis.extent;
    in_offset_ += loop_[i] * axis.in_stride;
    out_offset_ += loop_[i] * axis.out_stride;
  }
}

void RowCursor::next() {
  for (int v = rows_.vertical_count - 1; v >= 0; --v) {
    const PooledAxis& axis = rows_.vertical[v];
    out_offset_ += axis.out_stride;
    if (++vertical_[v] < axis.window.output) return;
    out_offset_ -= vertical_[v] * axis.out_stride;
    vertical_[v] = 0;
  }
  for (int i = rows_.loop_count - 1; i >= 0; --i) {
    const LoopAxis& axis = rows_.loops[i];
    in_offset_ += axis.in_stride;
    out_offset_ += axis.out_stride;
    if (++loop_[i] < axis.extent) return;
    in_offset_ -= loop_[i] * axis.in_stride;
    out_offset_ -= loop_[i] * axis.out_stride;
    loop_[i] = 0;
  }
}

}  // namespace ndpool
