// Some outputs of a geometry as a geometry of their own: how an array that is too large to be pooled at once is pooled
// piece by piece, each piece with just the cells that its windows see. Window arithmetic, like axis.hpp and
// geometry.hpp.
#pragma once

#include <ndpool/geometry.hpp>

namespace ndpool {

/// Outputs of one axis that are taken alone, over `cells` of its input.
struct AxisPart {
  Range cells;  ///< of the input, that the outputs need
  Axis axis;    ///< the axis of just these outputs over just these cells
};

/// Outputs that begin before the end of the input: 0 up to this. The windows of the others are on padding alone.
constexpr Index part_begins(const Axis& axis) {
  if (axis.adaptive || !axis.pooled) return axis.output;
  return detail::smaller(axis.output, detail::ceil_divide(axis.input + axis.lo, axis.stride));
}

/// The bins from `first` on: where the pattern of an axis is when they begin.
constexpr BinPattern pattern_from(const BinPattern& whole, Index first) {
  const Index divisor = detail::common_divisor(whole.cells, whole.bins);  // of every phase, too
  const BinPattern least{whole.cells / divisor, whole.bins / divisor, whole.phase / divisor};
  const Index at = detail::multiply_divide(first, least.cells, least.bins).rest + least.phase;
  return {least.cells, least.bins, at - detail::floor_divide(at, least.bins) * least.bins};
}

/// Needs a range that is not empty.
constexpr AxisPart part_of(const Axis& axis, Range outputs) {
  AxisPart part{outputs, axis};
  const Index count = outputs.end - outputs.begin;
  part.axis.output = count;
  if (axis.adaptive) {
    const Taps last = axis.taps(outputs.end - 1);
    part.cells = {axis.start(outputs.begin), last.first + last.count};
    const Index length = part.cells.end - part.cells.begin;
    part.axis.kernel = count == 1 ? length : detail::smaller(axis.kernel, length);
    part.axis.pattern = pattern_from(axis.bins(), outputs.begin);
    const BinPattern& pattern = part.axis.pattern;
    // Alone, or whole periods of the pattern: bins of an axis of their own.
    const bool is_period = pattern.phase == 0 && detail::multiply_divide(count, pattern.cells, pattern.bins).rest == 0;
    if (count == 1 || is_period) part.axis.pattern = {};
  } else if (axis.pooled) {
    const Index begin = axis.start(outputs.begin);
    part.cells.begin = detail::larger(0, begin);
    part.cells.end = detail::smaller(axis.input, begin + axis.span(count));
    // Windows on padding alone see no cell, but an array has some.
    part.cells.end = detail::larger(part.cells.end, part.cells.begin + 1);
    part.axis.lo = part.cells.begin - begin;
    if (begin >= axis.input) {  // all taps of all outputs are padding: they may as well be before a cell
      part.cells = {axis.input - 1, axis.input};
      part.axis.lo = axis.span(count);
    }
  }
  part.axis.input = part.cells.end - part.cells.begin;
  return part;
}

/// The input cells of some outputs of an axis, and the padding that their windows reach over.
struct PaddedCells {
  Range cells;   ///< of the input; one that no tap falls on where all windows are on padding
  Index lo = 0;  ///< padded cells before the input
  Index hi = 0;  ///< padded cells behind it
};

/// What a range of outputs that is not empty reads.
constexpr PaddedCells cells_under(const Axis& axis, Range outputs) {
  PaddedCells under{part_of(axis, outputs).cells};
  if (axis.adaptive || !axis.pooled) return under;
  const Index begin = axis.start(outputs.begin), end = begin + axis.span(outputs.end - outputs.begin);
  under.lo = detail::larger(0, detail::smaller(end, 0) - begin);
  under.hi = detail::larger(0, detail::smaller(end, axis.input + axis.hi) - detail::larger(begin, axis.input));
  return under;
}

/// The outputs whose windows reach over some cells of an axis, whether or not a tap falls on them.
constexpr Range outputs_over(const Axis& axis, Range cells) {
  if (axis.adaptive) {
    const Progression last = axis.outputs_seeing(cells.end - 1);
    return {axis.outputs_seeing(cells.begin).first, last.first + last.count};
  }
  if (!axis.pooled) return cells;
  const Index reach = (axis.kernel - 1) * axis.dilation;
  const Index begin = detail::ceil_divide(detail::larger(0, cells.begin + axis.lo - reach), axis.stride);
  const Index end = detail::floor_divide(cells.end - 1 + axis.lo, axis.stride) + 1;
  return {begin, detail::smaller(end, axis.output)};
}

/// The same for many ranges at a time.
constexpr void cells_under(const Axis& axis, const Range* outputs, Index count, PaddedCells* cells) {
  for (Index i = 0; i < count; ++i) cells[i] = cells_under(axis, outputs[i]);
}
constexpr void outputs_over(const Axis& axis, const Range* cells, Index count, Range* outputs) {
  for (Index i = 0; i < count; ++i) outputs[i] = outputs_over(axis, cells[i]);
}

/// The most cells that so many neighbouring outputs of an axis reach over.
constexpr Index most_cells_under(const Axis& axis, Index outputs) {
  if (!axis.pooled) return outputs;
  if (axis.adaptive && outputs == 1) return axis.kernel;
  const BinPattern bin = axis.bins();
  if (axis.adaptive) return detail::smaller(axis.input, adaptive_end(bin.cells, bin.bins, outputs - 1) + 1);
  return detail::smaller(axis.input, axis.span(outputs));
}

/// The most outputs that reach over so many neighbouring cells of an axis.
constexpr Index most_outputs_over(const Axis& axis, Index cells) {
  if (cells == axis.input) return axis.output;
  if (!axis.pooled) return cells;
  const BinPattern bin = axis.bins();
  if (axis.adaptive) return detail::smaller(axis.output, adaptive_end(bin.bins, bin.cells, cells - 1) + 1);
  return detail::smaller(axis.output, (cells - 1 + (axis.kernel - 1) * axis.dilation) / axis.stride + 1);
}

/// True if a cell may be in two windows of an axis.
constexpr bool windows_overlap(const Axis& axis) {
  if (!axis.pooled || axis.output == 1) return false;
  return axis.adaptive ? axis.bins().cells % axis.bins().bins != 0 : axis.span(1) > axis.stride;
}

/// The cells of a range that an output sees, counted from the begin of the range.
constexpr Progression cells_seen(const Axis& axis, Index output, Range cells) {
  const Taps taps = axis.taps(output);
  const Index before = detail::larger(0, detail::ceil_divide(cells.begin - taps.first, taps.step));
  const Index end = detail::smaller(taps.count, detail::floor_divide(cells.end - 1 - taps.first, taps.step) + 1);
  return {taps.first + before * taps.step - cells.begin, detail::larger(0, end - before), taps.step};
}

/// The only window of an axis, which has a tap on the input, as windows of `taps` taps, one behind the other.
constexpr Axis pieces_of(const Axis& axis, Index taps) {
  Axis pieces = axis;
  pieces.adaptive = false;
  pieces.output = detail::ceil_divide(axis.kernel, taps);
  pieces.kernel = taps;
  pieces.stride = taps * axis.dilation;
  return pieces;
}

/// Leaves the only window of an axis, which has a tap on the input, just its taps there; the answer is their cells.
constexpr Range drop_padding(Axis& axis) {
  const Taps taps = axis.taps(0);
  const Range cells{taps.first, taps.first + (taps.count - 1) * taps.step + 1};
  axis = {cells.end - cells.begin, 1, taps.count, 1, taps.step, 0, 0, false, true};
  return cells;
}

/// The outputs `outputs` of one axis, which `cells` are needed for. Flat indices of the part count cells as those of
/// the whole do: they are less by `cells.begin * cell_stride[axis]`.
template <int Capacity>
constexpr Range take_part(BasicGeometry<Capacity>& geometry, int axis, Range outputs) {
  const AxisPart part = part_of(geometry.axes[axis], outputs);
  geometry.axes[axis] = part.axis;
  Index taps = 1;
  for (int a = geometry.rank - 1; a >= 0; --a) {
    if (!geometry.axes[a].pooled) continue;
    geometry.tap_stride[a] = taps;
    taps *= geometry.axes[a].kernel;
  }
  return part.cells;
}

/// A geometry serves as its own description, for arrays of exactly its shape.
template <int Capacity>
constexpr Fault resolve(const BasicGeometry<Capacity>& given, const Extents<Capacity>& shape,
                        BasicGeometry<Capacity>& geometry) {
  if (shape.size() != given.rank) return {Code::rank_mismatch, Argument::shape, -1, {shape.size(), given.rank}};
  for (int a = 0; a < given.rank; ++a)
    if (shape[a] != given.axes[a].input)
      return {Code::shape_mismatch, Argument::shape, a, {shape[a], given.axes[a].input}};
  geometry = given;
  return {};
}

}  // namespace ndpool
