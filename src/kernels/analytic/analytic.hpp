// How smooth max and Lp cut their rows into blocks, and the scratch that takes.
#pragma once

#include "kernels/scratch.hpp"

namespace ndpool {

/// A block is some output rows that differ in the last vertical axis only, times a strip of their outputs. The powers
/// of the input rows it sees are made once and kept, unless they are too many or the rows are not shared anyway. They
/// are kept with their padding and close to one another, so that they can be summed as if they were one long row.
struct AnalyticBlocks {
  Index strip = 1;      ///< outputs of a row
  Index rows = 1;       ///< output rows
  Index kept_rows = 0;  ///< input rows; 0 if each is made when it is needed
  Index step = 1;       ///< pixels from output to output of such a long row
  Index row = 1;        ///< elements from row to row, a whole number of steps
  Index sums_row = 1;   ///< elements from row to row of the sums
  std::size_t row_bytes = 0;
  int spare_rows = 0;  ///< for trees of sums over the vertical taps
};

inline AnalyticBlocks analytic_blocks(const Rows& rows) {
  AnalyticBlocks blocks;
  const Axis& axis = rows.horizontal.window;
  blocks.strip = axis.adaptive ? axis.output : strip_outputs(rows);
  const Index pixels = axis.adaptive ? std::max(axis.input, axis.output) : axis.span(blocks.strip);
  if (!axis.adaptive) blocks.step = blocks.strip > 1 ? axis.stride : pixels;  // strides that nothing takes may be huge
  blocks.sums_row = std::max<Index>(1, detail::ceil_divide(pixels, blocks.step) * rows.inner.extent);
  blocks.row = blocks.sums_row * blocks.step;
  const Index elements = blocks.row;
  blocks.row_bytes = (static_cast<std::size_t>(elements) * 8 + 63) / 64 * 64 + 128;
  blocks.spare_rows = 14;
  for (int v = 0; v < rows.vertical_count; ++v) blocks.spare_rows += tree_rows(rows.vertical[v].window.kernel) + 4;
  if (rows.vertical_count == 0) {
    blocks.kept_rows = 1;
    return blocks;
  }
  const Axis& vertical = rows.vertical[rows.vertical_count - 1].window;
  if (vertical.adaptive) return blocks;
  // Enough rows to make the ones that two blocks share few, yet little enough for the nearest caches.
  constexpr Index near = 4096, far = 32768, farthest = Index{1} << 17;
  const Index taps = vertical.span(1);
  Index kept = std::min(std::max(near / elements, taps + 15), far / elements);
  if (kept < taps && vertical.stride < taps) kept = std::min(2 * taps, farthest / elements);
  if (kept < taps) return blocks;
  blocks.rows = std::min((kept - taps) / vertical.stride + 1, vertical.output);
  blocks.kept_rows = vertical.span(blocks.rows);
  return blocks;
}

/// The kept rows twice, with exponents of their own, the sums of all output rows, spare rows, and what the pass along a
/// row needs.
inline std::size_t analytic_scratch_bytes(const Rows& rows) {
  const AnalyticBlocks blocks = analytic_blocks(rows);
  const auto count = static_cast<std::size_t>(2 * blocks.kept_rows + blocks.rows + blocks.spare_rows);
  return count * blocks.row_bytes + static_cast<std::size_t>(scratch_rows(rows)) * scratch_row_bytes(rows);
}

}  // namespace ndpool
