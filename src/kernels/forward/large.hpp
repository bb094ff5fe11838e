// Large windows that step cell by cell: which they are, and the scratch they need besides that of the passes.
#pragma once

#include "kernels/scratch.hpp"

namespace ndpool {

/// Large windows of floats that step cell by cell, of which each has a cell: see large-inl.h.
inline bool is_large(const Rows& rows) {
  constexpr Index few_taps = 8, most_taps = 256, lanes = 8;
  const auto fits = [](const Axis& axis) {
    return !axis.adaptive && axis.kernel <= most_taps && axis.stride == 1 && axis.dilation == 1 &&
           axis.first_empty_output() < 0;
  };
  const Axis& axis = rows.horizontal.window;
  if (rows.inner.extent != 1 || rows.vertical_count > 1 || !fits(axis)) return false;
  if (axis.output < lanes || axis.input < lanes) return false;
  if (rows.vertical_count == 0) return axis.kernel > few_taps;
  return fits(rows.vertical[0].window) && std::max(axis.kernel, rows.vertical[0].window.kernel) > few_taps;
}
/// What such windows are made in: columns of `rows` output rows, enough that the overlap with the next tile costs
/// little and the second-level cache holds them, and blocks of the columns of a few of these rows.
struct LargeTile {
  static constexpr Index lanes = 8;
  static constexpr int vectors = 4;  ///< of columns whose rows are combined together
  Index outputs, pitch, rows, together, shared;
  explicit LargeTile(const Rows& of) {
    const Axis& axis = of.horizontal.window;
    const Index kernel = of.vertical_count > 0 ? of.vertical[0].window.kernel : 1;
    outputs = std::min(axis.output, std::max<Index>(256, 4 * axis.kernel));
    pitch = (outputs + axis.kernel + 6 * lanes) / lanes * lanes;  // vectors begin up to four behind the last cell
    rows = std::min(std::max(2 * kernel, (Index{1} << 16) / pitch), of.rows_per_plane);
    together = std::max<Index>(1, 2048 / pitch);
    shared = std::max(kernel * vectors, 2 * (rows + kernel + 4 * lanes)) * lanes;
  }
  std::size_t bytes() const {
    return static_cast<std::size_t>((rows + 2 * together) * pitch + shared) * sizeof(float) + 64;
  }
};

/// Behind the scratch of the passes, because windows with NaNs are made again there.
inline std::size_t large_scratch_bytes(const Rows& rows) { return is_large(rows) ? LargeTile(rows).bytes() + 64 : 0; }

}  // namespace ndpool
