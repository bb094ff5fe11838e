// Temporary rows of one thread: as many as the deepest fold of a window needs at once.
#pragma once

#include "plan/rows.hpp"

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
  for (int v = 0; v < rows.vertical_count; ++v) count += tree_rows(rows.vertical[v].window.kernel) + 1;
  return count;
}

/// Bytes of one temporary row: room for the widest accumulator, and for vectors that start anywhere in it.
inline std::size_t scratch_row_bytes(const Rows& rows) {
  const auto elements = static_cast<std::size_t>(row_pixels(rows) * rows.inner.extent);
  return (elements * rows.accumulator_bytes + 63) / 64 * 64 + 64;
}

/// All the scratch that values need.
inline std::size_t fold_scratch_bytes(const Rows& rows) {
  return static_cast<std::size_t>(scratch_rows(rows)) * scratch_row_bytes(rows);
}

/// The VJP of sums keeps whole rows: sums of outputs with zeros around them, divisors, cells, and which outputs see
/// them.
struct SpreadRows {
  Index margin;  ///< zeros before the first output, in outputs
  Index behind;  ///< and behind the last
  std::size_t sums_bytes, divisor_bytes, cell_bytes, run_bytes;
  std::size_t bytes() const { return sums_bytes + divisor_bytes + cell_bytes + run_bytes; }
};
inline SpreadRows spread_rows(const Rows& rows) {
  const Axis& axis = rows.horizontal.window;
  const auto row_bytes = [](Index elements, std::size_t size) {
    return (static_cast<std::size_t>(elements) * size + 63) / 64 * 64 + 64;
  };
  const Index lanes = rows.inner.extent;
  const Index reach = axis.adaptive ? 0 : (axis.kernel - 1) / axis.stride + 1;
  const Index behind = axis.adaptive ? 0 : std::max<Index>(0, (axis.input + axis.lo) / axis.stride - axis.output + 1);
  return {reach,
          behind,
          row_bytes((reach + axis.output + behind) * lanes, 8),
          row_bytes(axis.output, 8),
          row_bytes(axis.input * lanes, 8),
          row_bytes(axis.input, sizeof(Index) * 4)};
}

/// Input rows that share the same loop position.
inline Index input_rows_per_plane(const Rows& rows) {
  Index count = 1;
  for (int v = 0; v < rows.vertical_count; ++v) count *= rows.vertical[v].window.input;
  return count;
}

/// Cells of one plane, lanes included.
inline Index plane_cells(const Rows& rows) {
  return input_rows_per_plane(rows) * rows.horizontal.window.input * rows.inner.extent;
}

/// Results of one plane, lanes included.
inline Index plane_outputs(const Rows& rows) {
  return rows.rows_per_plane * rows.horizontal.window.output * rows.inner.extent;
}

/// Arrays beyond this many bytes leave the cache anyway, so what is written to them need not pass through it.
inline bool leaves_cache(const Rows& rows, std::size_t scalar_bytes) {
  constexpr double cache_bytes = 16e6;
  const double planes =
      static_cast<double>(rows.parts) * static_cast<double>(rows.row_count) / static_cast<double>(rows.rows_per_plane);
  const double cells = static_cast<double>(plane_cells(rows)) + static_cast<double>(plane_outputs(rows));
  return planes * cells * static_cast<double>(scalar_bytes) > cache_bytes;
}

/// Winners come with a table of taps, if that is small.
inline constexpr Index most_table_taps = 0xFFFF;
inline std::size_t index_table_bytes(const Rows& rows) {
  const Index taps = rows.tap_count <= most_table_taps ? rows.tap_count : 0;
  return (static_cast<std::size_t>(taps) * sizeof(Index) + 63) / 64 * 64;
}
/// Winners keep four strips, columns and outputs of values and taps, with room behind them for whatever a vector adds.
inline std::size_t winner_strip_bytes(const Rows& rows) { return scratch_row_bytes(rows) + 256; }
inline std::size_t winner_rows_bytes(const Rows& rows) { return 4 * winner_strip_bytes(rows); }

/// Winners of tall windows also keep those of whole rows: as many as a window has, and one more. None (0 bytes) where
/// windows are not that tall, or too large.
inline Index tall_winners_pitch(const Rows& rows) {
  constexpr Index beyond = 64;  // what vectors add
  return (rows.horizontal.window.input * rows.inner.extent + beyond) / 16 * 16;
}
inline std::size_t tall_winners_bytes(const Rows& rows) {
  constexpr double most = 1 << 20;
  if (rows.vertical_count != 1) return 0;
  const Axis& axis = rows.vertical[0].window;
  if (axis.adaptive || axis.dilation != 1 || axis.kernel < 8 || axis.kernel < 4 * axis.stride) return 0;
  const double bytes = static_cast<double>(axis.kernel + 1) * static_cast<double>(rows.horizontal.window.input + 64) *
                       static_cast<double>(rows.inner.extent) * 16;
  if (bytes > most) return 0;
  return static_cast<std::size_t>((axis.kernel + 1) * tall_winners_pitch(rows)) * 16;
}
inline std::size_t winners_bytes(const Rows& rows) {
  return winner_rows_bytes(rows) + index_table_bytes(rows) + tall_winners_bytes(rows);
}

}  // namespace ndpool
