// Per-target code: planes of gradients, and where in them taps and cells are. No include guard of the usual kind: see
// rows-inl.h.
#if defined(NDPOOL_PLANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_PLANES_INL_H_
#undef NDPOOL_PLANES_INL_H_
#else
#define NDPOOL_PLANES_INL_H_
#endif

#include "kernels/forward/rows-inl.h"

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

inline bool tangent_out_is_packed(const Rows& rows) {
  return rows.horizontal.stride.tangent_out == rows.inner.extent &&
         (rows.inner.extent == 1 || rows.inner.stride.tangent_out == 1);
}

/// Copies a row past the cache; `to` must be aligned for vectors.
template <class T>
void copy_streaming(const T* from, T* to, Index count) {
  Index i = 0;
#if HWY_TARGET != HWY_SCALAR
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::uint8_t> d;
  const auto step = static_cast<Index>(hn::Lanes(d) / sizeof(T));
  for (; i + step <= count; i += step)
    hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + i)), d,
               reinterpret_cast<std::uint8_t*>(to + i));
#endif
  for (; i < count; ++i) to[i] = from[i];
}

/// Where tap t of a window lies, relative to tap 0: offsets by tap number.
class TapOffsets {
 public:
  /// `stride(axis)` is the weight of a cell on that axis: an array stride, or the weight in a flat index. `table` has
  /// room for all taps.
  template <class Stride>
  TapOffsets(const Rows& rows, Index* table, Stride stride) : table_(table) {
    table[0] = 0;
    Index known = add_axis(rows.horizontal, 1, stride);
    for (int v = rows.vertical_count - 1; v >= 0; --v) known = add_axis(rows.vertical[v], known, stride);
  }
  Index operator[](Index tap) const { return table_[tap]; }

 private:
  /// Tap numbers are row-major, so each further axis repeats what is known, shifted.
  template <class Stride>
  Index add_axis(const PooledAxis& axis, Index known, Stride stride) {
    const Index step = axis.window.dilation * stride(axis);
    for (Index tap = 1; tap < axis.window.kernel; ++tap)
      for (Index t = 0; t < known; ++t) table_[tap * known + t] = table_[t] + tap * step;
    return known * axis.window.kernel;
  }
  Index* table_;
};

/// Tap 0 of the first window of a row, relative to the loops' offset, without the horizontal axis.
template <class Stride>
Index window_start(const Rows& rows, const RowCursor& cursor, Stride stride) {
  Index start = 0;
  for (int v = 0; v < rows.vertical_count; ++v)
    start += rows.vertical[v].window.start(cursor.vertical_position(v)) * stride(rows.vertical[v]);
  return start;
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
