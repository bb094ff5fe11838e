#include "plan/rows.hpp"

#include <ndpool/part.hpp>

#include <utility>

namespace ndpool {

namespace {

/// True if all arrays step through two axes like through one.
bool are_one_loop(const LoopAxis& outer, const LoopAxis& inner) {
  const auto is_one = [&inner](Index outer_stride, Index inner_stride) {
    return outer_stride == inner_stride * inner.extent;
  };
  return is_one(outer.stride.in, inner.stride.in) && is_one(outer.stride.out, inner.stride.out) &&
         is_one(outer.stride.tangent_in, inner.stride.tangent_in) &&
         is_one(outer.stride.tangent_out, inner.stride.tangent_out);
}

/// Adds a loop, as one with an earlier loop where that is possible: loops have no order.
void add_loop(Rows& rows, const LoopAxis& axis) {
  if (axis.extent == 1) return;
  for (int i = rows.loop_count - 1; i >= 0; --i)
    if (merge_loops(rows.loops[i], axis)) return;
  rows.loops[rows.loop_count++] = axis;
}

/// offset += count * stride, for the arrays of output shape and, if the axis is a loop, for those of input shape.
void advance(Strides& offset, Index count, const Strides& stride, bool is_loop) {
  offset.out += count * stride.out;
  offset.tangent_out += count * stride.tangent_out;
  if (!is_loop) return;
  offset.in += count * stride.in;
  offset.tangent_in += count * stride.tangent_in;
}

/// Makes the lanes those of the axis whose elements follow one another in memory, wherever it stands in the shape: a
/// channels-last array may be shaped like a channels-first one, and the other way round.
void choose_inner(Rows& rows) {
  const auto is_contiguous = [](const Strides& stride) { return stride.in == 1 && stride.out == 1; };
  const auto loop_where = [&rows](auto&& accepts) {
    for (int i = 0; i < rows.loop_count; ++i)
      if (accepts(rows.loops[i])) return i;
    return -1;
  };
  const auto make_inner = [&rows](int i) {
    if (rows.inner.extent > 1) return std::swap(rows.inner, rows.loops[i]);
    rows.inner = rows.loops[i];
    for (--rows.loop_count; i < rows.loop_count; ++i) rows.loops[i] = rows.loops[i + 1];
  };
  if (rows.inner.extent > 1 && is_contiguous(rows.inner.stride)) return;
  const bool has_row = is_contiguous(rows.horizontal.stride);
  const int lanes = has_row ? -1 : loop_where([&](const LoopAxis& loop) { return is_contiguous(loop.stride); });
  if (lanes >= 0) return make_inner(lanes);
  if (has_row || rows.horizontal.stride.in == 1) {
    if (rows.inner.extent > 1) add_loop(rows, std::exchange(rows.inner, {}));
    return;
  }
  // An axis that is contiguous in the input alone, as in Fortran order: results are turned round, which are fewer.
  constexpr Index min_lanes = 8;
  if (rows.inner.extent > 1 && rows.inner.stride.in == 1) return;
  const int read = loop_where([](const LoopAxis& loop) { return loop.stride.in == 1 && loop.extent >= min_lanes; });
  if (read >= 0) make_inner(read);
}

void count_rows(Rows& rows) {
  rows.rows_per_plane = 1;
  for (int v = 0; v < rows.vertical_count; ++v) rows.rows_per_plane *= rows.vertical[v].window.output;
  rows.row_count = rows.inner.extent == 0 ? 0 : rows.rows_per_plane;
  for (int i = 0; i < rows.loop_count; ++i) rows.row_count *= rows.loops[i].extent;
}

/// Bins of the same length that do not overlap are windows.
Axis as_window(const Axis& axis) {
  const BinPattern bin = axis.bins();
  if (!axis.adaptive || bin.phase != 0 || bin.cells % bin.bins != 0) return axis;
  const Index length = bin.cells / bin.bins;
  return {axis.input, axis.output, length, length, 1, 0, 0, false, axis.pooled};
}

}  // namespace

bool merge_loops(LoopAxis& loop, const LoopAxis& other) {
  if (are_one_loop(loop, other))
    loop.stride = other.stride;
  else if (!are_one_loop(other, loop))
    return false;
  loop.extent *= other.extent;
  return true;
}

Rows make_rows(const Geometry& geometry, const ArrayStrides& strides) {
  Rows rows;
  int last_pooled = geometry.rank - 1;
  while (last_pooled > 0 && !geometry.axes[last_pooled].pooled) --last_pooled;
  const auto stride_of = [&](int a) -> Strides {
    return {strides.in[a], strides.out[a], strides.tangent_in[a], strides.tangent_out[a]};
  };

  Rows behind;  // the loops behind the last pooled axis: the last of them after merging is `inner`
  for (int a = last_pooled + 1; a < geometry.rank; ++a) add_loop(behind, {geometry.axes[a].output, stride_of(a)});
  if (behind.loop_count > 0) rows.inner = behind.loops[--behind.loop_count];

  for (int a = 0; a <= last_pooled; ++a) {
    const PooledAxis pooled = {as_window(geometry.axes[a]), stride_of(a), geometry.tap_stride[a],
                               geometry.cell_stride[a]};
    if (a == last_pooled)
      rows.horizontal = pooled;
    else if (geometry.axes[a].pooled)
      rows.vertical[rows.vertical_count++] = pooled;
    else
      add_loop(rows, {geometry.axes[a].output, stride_of(a)});
  }
  for (int i = 0; i < behind.loop_count; ++i) add_loop(rows, behind.loops[i]);
  choose_inner(rows);

  count_rows(rows);
  rows.tap_count = geometry.tap_count();
  return rows;
}

PackedPlanes make_packed_planes(const Rows& rows, std::size_t size) {
  constexpr Index most_cells = 1024;
  constexpr std::size_t line = 64, vector = 32;
  const Axis& axis = rows.horizontal.window;
  PackedPlanes packed;
  const Index planes = rows.row_count / rows.rows_per_plane;
  if (size < 2 || rows.inner.extent != 1 || planes < 4) return packed;
  // Rows that fill vectors are as well off by themselves; so are shorter ones that step cell by cell, in bands.
  const bool steps_by_cells = axis.stride == 1 && axis.kernel == 3 && axis.dilation == 1 && rows.vertical_count == 1;
  if (axis.output >= static_cast<Index>((steps_by_cells ? 1 : 2) * vector / size)) return packed;

  const Index side_by_side = static_cast<Index>(line / size);
  Index cells = axis.input, outputs = axis.output, taps = axis.kernel;
  if (rows.horizontal.stride.in != 1 || rows.horizontal.stride.out != 1 || cells > most_cells) return packed;
  packed.rows.horizontal = rows.horizontal;
  packed.rows.horizontal.stride = {side_by_side, side_by_side, side_by_side, side_by_side};
  for (int v = rows.vertical_count - 1; v >= 0; --v) {
    PooledAxis& vertical = packed.rows.vertical[v];
    vertical = rows.vertical[v];
    if (vertical.stride.in != cells || vertical.stride.out != outputs) return packed;
    vertical.stride = {cells * side_by_side, outputs * side_by_side, cells * side_by_side, outputs * side_by_side};
    if (vertical.window.input > most_cells || vertical.window.output > most_cells) return packed;
    cells *= vertical.window.input;
    outputs *= vertical.window.output;
    if (cells > most_cells || outputs > most_cells) return packed;
    taps *= vertical.window.kernel;
  }
  // Windows are folded tap by tap, which is only cheap while cells are seen a few times.
  if (taps > 16 * cells / outputs) return packed;
  packed.rows.vertical_count = rows.vertical_count;
  packed.rows.inner = {side_by_side, {1, 1, 1, 1}};
  packed.rows.row_count = packed.rows.rows_per_plane = rows.rows_per_plane;
  packed.rows.tap_count = rows.tap_count;
  packed.rows.accumulator_bytes = rows.accumulator_bytes;
  packed.planes = side_by_side;
  packed.cells = cells;
  packed.outputs = outputs;
  packed.bytes = (static_cast<std::size_t>((cells + outputs) * side_by_side) * size + line - 1) / line * line;
  return packed;
}

Rows Rows::of_tangents() const {
  Rows tangents = *this;
  const auto exchange = [](Strides& stride) {
    stride.in = stride.tangent_in;
    stride.out = stride.tangent_out;
  };
  for (int i = 0; i < loop_count; ++i) exchange(tangents.loops[i].stride);
  for (int v = 0; v < vertical_count; ++v) exchange(tangents.vertical[v].stride);
  exchange(tangents.horizontal.stride);
  exchange(tangents.inner.stride);
  return tangents;
}

bool Rows::transpose(Rows& transposed) const {
  const auto turn_axis = [](const PooledAxis& axis, PooledAxis& turned) {
    const Axis& window = axis.window;
    const Index reach = (window.kernel - 1) * window.dilation;
    if (window.adaptive || window.stride != 1 || window.lo > reach || window.hi > reach) return false;
    if (window.kernel > 2 * window.output) return false;
    turned.window = {window.output,     window.input, window.kernel, 1, window.dilation, reach - window.lo,
                     reach - window.hi, false,        window.pooled};
    turned.stride = {axis.stride.tangent_out, axis.stride.tangent_in, 0, 0};
    return turned.window.first_empty_output() < 0;
  };
  transposed.vertical_count = vertical_count;
  transposed.rows_per_plane = 1;
  for (int v = 0; v < vertical_count; ++v) {
    if (!turn_axis(vertical[v], transposed.vertical[v])) return false;
    transposed.rows_per_plane *= vertical[v].window.input;
  }
  if (!turn_axis(horizontal, transposed.horizontal)) return false;
  transposed.loop_count = loop_count;
  transposed.row_count = transposed.rows_per_plane;
  for (int i = 0; i < loop_count; ++i) {
    transposed.loops[i] = {loops[i].extent, {loops[i].stride.tangent_out, loops[i].stride.tangent_in, 0, 0}};
    transposed.row_count *= loops[i].extent;
  }
  transposed.inner = {inner.extent, {inner.stride.tangent_out, inner.stride.tangent_in, 0, 0}};
  transposed.tap_count = tap_count;
  return true;
}

Rows Rows::part(Range outputs, Range& cells) const {
  Rows some = *this;
  const AxisPart part = part_of(horizontal.window, outputs);
  some.horizontal.window = part.axis;
  some.parts = (horizontal.window.output + part.axis.output - 1) / part.axis.output;
  cells = part.cells;
  return some;
}

Rows Rows::with_rows_of_lanes(Index most) const {
  Rows cut = *this;
  const Index lanes = inner.extent;
  if (lanes <= 1) return cut;
  Index kept = lanes < most ? lanes : most;
  while (lanes % kept != 0) --kept;
  const Strides& lane = inner.stride;
  if (kept < lanes)
    cut.loops[cut.loop_count++] = {lanes / kept,
                                   {kept * lane.in, kept * lane.out, kept * lane.tangent_in, kept * lane.tangent_out}};
  cut.inner.extent = kept;
  cut.vertical[cut.vertical_count++] = horizontal;
  cut.horizontal = {};
  cut.horizontal.window = batch_axis(1);
  cut.horizontal.window.pooled = true;
  cut.horizontal.stride = {kept, kept, kept, kept};
  count_rows(cut);
  return cut;
}

Rows Rows::with_whole_axes_merged() const {
  Rows merged = *this;
  while (merged.vertical_count > 0) {
    const PooledAxis& above = merged.vertical[merged.vertical_count - 1];
    PooledAxis& below = merged.horizontal;
    if (!is_whole(above.window) || !is_whole(below.window) ||
        above.stride.tangent_in != below.stride.tangent_in * below.window.input)
      break;
    below.window.input *= above.window.input;
    below.window.kernel = below.window.stride = below.window.input;
    below.window.lo = below.window.hi = 0;
    below.window.adaptive = false;
    --merged.vertical_count;
  }
  return merged;
}

Rows Rows::with_planes_merged() const {
  Rows merged = *this;
  if (vertical_count == 0) return merged;
  PooledAxis& first = merged.vertical[0];
  Axis& window = first.window;
  const bool ends_with_plane = !window.adaptive && window.lo == 0 && window.input % window.output == 0 &&
                               window.input / window.output == window.stride && window.span(1) <= window.stride;
  while (ends_with_plane && merged.loop_count > 0) {
    const LoopAxis& planes = merged.loops[merged.loop_count - 1];
    if (planes.stride.in != window.input * first.stride.in || planes.stride.out != window.output * first.stride.out)
      break;
    window.input *= planes.extent;
    window.output *= planes.extent;
    window.hi = 0;
    merged.rows_per_plane *= planes.extent;
    --merged.loop_count;
  }
  return merged;
}

RowCursor::RowCursor(const Rows& rows, Index row) : rows_(rows) {
  for (int v = rows.vertical_count - 1; v >= 0; --v) {
    const PooledAxis& axis = rows.vertical[v];
    vertical_[v] = row % axis.window.output;
    row /= axis.window.output;
    advance(offset_, vertical_[v], axis.stride, false);
  }
  for (int i = rows.loop_count - 1; i >= 0; --i) {
    const LoopAxis& axis = rows.loops[i];
    loop_[i] = row % axis.extent;
    row /= axis.extent;
    advance(offset_, loop_[i], axis.stride, true);
  }
}

void RowCursor::next_plane() {
  for (int v = rows_.vertical_count - 1; v >= 0; --v) {
    const PooledAxis& axis = rows_.vertical[v];
    advance(offset_, 1, axis.stride, false);
    if (++vertical_[v] < axis.window.output) return;
    advance(offset_, -vertical_[v], axis.stride, false);
    vertical_[v] = 0;
  }
  next_loop();
}

void RowCursor::next_loop() {
  for (int i = rows_.loop_count - 1; i >= 0; --i) {
    const LoopAxis& axis = rows_.loops[i];
    advance(offset_, 1, axis.stride, true);
    if (++loop_[i] < axis.extent) return;
    advance(offset_, -loop_[i], axis.stride, true);
    loop_[i] = 0;
  }
}

}  // namespace ndpool
