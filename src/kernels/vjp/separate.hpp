// Windows that lie side by side, which have kernels of their own for gradients (separate-inl.h).
#pragma once

#include "kernels/scratch.hpp"

namespace ndpool {

inline constexpr Index most_separate_taps = 16;

/// True if windows lie side by side from the first cell on, and cells behind the last are in none. Rows must be packed,
/// taps few, and the cells of a plane must be countable in 32 bits.
inline bool windows_are_separate(const Rows& rows) {
  const auto is_separate = [](const Axis& axis) {
    return !axis.adaptive && axis.kernel == axis.stride && (axis.dilation == 1 || axis.kernel == 1) && axis.lo == 0 &&
           axis.start(axis.output) <= axis.input;
  };
  const Index lanes = rows.inner.extent;
  const auto is_packed = [&](Index Strides::*array) {
    return rows.horizontal.stride.*array == lanes && (lanes == 1 || rows.inner.stride.*array == 1);
  };
  bool separate = rows.tap_count <= most_separate_taps && (lanes > 1 || rows.horizontal.window.kernel <= 4) &&
                  is_separate(rows.horizontal.window) && is_packed(&Strides::tangent_in) &&
                  is_packed(&Strides::tangent_out) && plane_cells(rows) < Index{1} << 31;
  for (int v = 0; v < rows.vertical_count; ++v) separate = separate && is_separate(rows.vertical[v].window);
  return separate;
}

}  // namespace ndpool
