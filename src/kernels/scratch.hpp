// Temporary rows of one thread: as many as the deepest fold of a window needs at once.
#pragma once

#include "rows.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace ndpool {

/// Levels of the tree that folds `taps` taps, and one more row for the result.
inline int tree_rows(Index taps) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(taps))) + 2; }

/// Outputs of a row that are folded together, so that temporary rows stay in the first-level cache.
inline Index strip_outputs(const Rows& rows) {
  constexpr Index elements = 2048;
  const Axis& axis = rows.horizontal.window;
  const Index pixels = std::max<Index>(elements / rows.inner.extent / axis.stride, 1);
  const Index for_kernel = 8 * std::min<Index>(axis.kernel, 1 << 20) / axis.stride;  // overlaps cost little then
  return std::min(axis.output, std::max(pixels, for_kernel));
}

/// Pixels of the longest temporary row: the columns of a strip, with padding, or its outputs.
inline Index row_pixels(const Rows& rows) {
  const Axis& axis = rows.horizontal.window;
  const Index outputs = strip_outputs(rows);
  if (axis.adaptive) return std::max(axis.input, outputs);
  return axis.span(outputs);
}

inline int scratch_rows(const Rows& rows) {
  int count = 7 + tree_rows(rows.horizontal.window.kernel);
  for (int v = 0; v < rows.vertical_count; ++v) count += tree_rows(rows.vertical[v].window.kernel);
  return count;
}

/// Bytes of one temporary row: room for the widest accumulator, and for vectors that start anywhere in it.
inline std::size_t scratch_row_bytes(const Rows& rows) {
  const auto elements = static_cast<std::size_t>(row_pixels(rows) * rows.inner.extent);
  return (elements * 8 + 63) / 64 * 64 + 64;
}

/// Winners keep four whole rows, columns and outputs of values and taps, and a table of the taps of a window.
inline std::size_t winner_row_bytes(const Rows& rows) {
  const Axis& axis = rows.horizontal.window;
  const auto elements = static_cast<std::size_t>(std::max(axis.input, axis.output) * rows.inner.extent);
  return (elements * 8 + 63) / 64 * 64 + 64;
}

inline std::size_t winner_scratch_bytes(const Rows& rows) {
  return 4 * winner_row_bytes(rows) + static_cast<std::size_t>(rows.tap_count) * sizeof(Index);
}

}  // namespace ndpool
