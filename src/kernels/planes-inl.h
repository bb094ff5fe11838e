// Per-target code: gradients are added up plane by plane, so planes must be zeroed first. No include guard of the usual
// kind: see rows-inl.h.
#if defined(NDPOOL_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_PLANES_INL_H_
#undef NDPOOL_PLANES_INL_H_
#else
#define NDPOOL_PLANES_INL_H_
#endif

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Calls f(offset from the plane) for every input row of a plane, in the array of tangents.
template <class F>
void for_each_input_row(const Rows& rows, int axis, Index offset, F f) {
  if (axis == rows.vertical_count) return f(offset);
  const PooledAxis& vertical = rows.vertical[axis];
  for (Index cell = 0; cell < vertical.window.input; ++cell)
    for_each_input_row(rows, axis + 1, offset + cell * vertical.stride.tangent_in, f);
}

inline bool tangent_in_is_packed(const Rows& rows) {
  return rows.horizontal.stride.tangent_in == rows.inner.extent &&
         (rows.inner.extent == 1 || rows.inner.stride.tangent_in == 1);
}

/// Zeroes the planes of gx that belong to the output rows [first_row, last_row), which are whole planes.
template <class T>
void zero_planes(const Rows& rows, Index first_row, Index last_row, T* gx) {
  const Index pixels = rows.horizontal.window.input, lanes = rows.inner.extent;
  for (Index row = first_row; row < last_row; row += rows.rows_per_plane) {
    const RowCursor cursor(rows, row);
    for_each_input_row(rows, 0, cursor.offset().tangent_in, [&](Index offset) {
      T* to = gx + offset;
      if (tangent_in_is_packed(rows)) return static_cast<void>(std::fill(to, to + pixels * lanes, T(0)));
      for (Index pixel = 0; pixel < pixels; ++pixel)
        for (Index lane = 0; lane < lanes; ++lane)
          to[pixel * rows.horizontal.stride.tangent_in + lane * rows.inner.stride.tangent_in] = T(0);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_PLANES_INL_H_
