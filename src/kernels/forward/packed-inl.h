// Per-target code: narrow planes, many at a time. A row of a small plane does not fill a vector, so the cells of
// several planes are laid side by side; the planes become lanes behind the last pooled axis, which every pass is fast
// on. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_PACKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_PACKED_INL_H_
#undef NDPOOL_PACKED_INL_H_
#else
#define NDPOOL_PACKED_INL_H_
#endif

#include "kernels/forward/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

/// Where the planes of a group begin.
template <class T>
struct PlanePointers {
  T* of[most_planes];
};

#if HWY_TARGET != HWY_SCALAR
/// A square of four-byte elements, turned: `in(i)` is where row i is read, `out(i)` where column i is written.
template <class T, class In, class Out>
HWY_INLINE void transpose_square(const In& in, const Out& out) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<T> d;
  const hn::Repartition<std::uint64_t, decltype(d)> wide;
  using V = hn::Vec<decltype(d)>;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(d));
  V columns[lanes];  // columns[4 b + c]: columns c, 4 + c, ... of rows 4 b to 4 b + 3, one in each block
  for (int b = 0; b < lanes / 4; ++b) {
    const V r0 = hn::LoadU(d, in(4 * b)), r1 = hn::LoadU(d, in(4 * b + 1));
    const V r2 = hn::LoadU(d, in(4 * b + 2)), r3 = hn::LoadU(d, in(4 * b + 3));
    const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, r0, r1));
    const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, r2, r3));
    const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, r0, r1));
    const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, r2, r3));
    columns[4 * b] = hn::BitCast(d, hn::InterleaveLower(wide, low01, low23));
    columns[4 * b + 1] = hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23));
    columns[4 * b + 2] = hn::BitCast(d, hn::InterleaveLower(wide, high01, high23));
    columns[4 * b + 3] = hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23));
  }
  for (int c = 0; c < 4; ++c) {
    if constexpr (lanes == 4) {
      hn::StoreU(columns[c], d, out(c));
    } else {
      hn::StoreU(hn::ConcatLowerLower(d, columns[4 + c], columns[c]), d, out(c));
      hn::StoreU(hn::ConcatUpperUpper(d, columns[4 + c], columns[c]), d, out(4 + c));
    }
  }
}
#endif

/// Calls square(plane, cell) for squares of a group of planes where there are enough of both, and single(plane, cell)
/// for the cells that are left.
template <class T, class Square, class Single>
HWY_INLINE void for_each_square(Index planes, Index cells, [[maybe_unused]] const Square& square,
                                const Single& single) {
  Index cell = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {
    constexpr Index lanes = static_cast<Index>(hwy::HWY_NAMESPACE::MaxLanes(hwy::HWY_NAMESPACE::ScalableTag<T>()));
    if (planes % lanes == 0)
      for (; cell + lanes <= cells; cell += lanes)
        for (Index plane = 0; plane < planes; plane += lanes) square(plane, cell);
  }
#endif
  for (; cell < cells; ++cell)
    for (Index plane = 0; plane < planes; ++plane) single(plane, cell);
}

/// Planes, each packed, to cells with all planes side by side.
template <class T>
HWY_NOINLINE void pack_planes(const PlanePointers<const T>& from, Index planes, Index cells, T* to) {
  for_each_square<T>(
      planes, cells,
      [&]([[maybe_unused]] Index plane, [[maybe_unused]] Index cell) HWY_ATTR {
#if HWY_TARGET != HWY_SCALAR
        if constexpr (sizeof(T) == 4)
          transpose_square<T>([&](int i) HWY_ATTR { return from.of[plane + i] + cell; },
                              [&](int i) HWY_ATTR { return to + (cell + i) * planes + plane; });
#endif
      },
      [&](Index plane, Index cell) { to[cell * planes + plane] = from.of[plane][cell]; });
}

/// The way back.
template <class T>
HWY_NOINLINE void unpack_planes(const T* from, Index planes, Index cells, const PlanePointers<T>& to) {
  for_each_square<T>(
      planes, cells,
      [&]([[maybe_unused]] Index plane, [[maybe_unused]] Index cell) HWY_ATTR {
#if HWY_TARGET != HWY_SCALAR
        if constexpr (sizeof(T) == 4)
          transpose_square<T>([&](int i) HWY_ATTR { return from + (cell + i) * planes + plane; },
                              [&](int i) HWY_ATTR { return to.of[plane + i] + cell; });
#endif
      },
      [&](Index plane, Index cell) { to.of[plane][cell] = from[cell * planes + plane]; });
}

/// Runs `pool(packed job)` for groups of planes. The last group may be short: its last plane then stands for the ones
/// that are missing, and is written once for each of them.
template <class T, class PoolPlanes>
void pool_packed(const Job& job, const PoolPlanes& pool) {
  const Rows& rows = job.rows;
  const PackedPlanes& packed = *job.packed;
  T* in = static_cast<T*>(job.scratch);
  T* out = in + packed.cells * packed.planes;
  char* rest = static_cast<char*>(job.scratch) + packed.bytes;
  RowCursor cursor(rows, job.first_row);
  for (Index left = (job.last_row - job.first_row) / rows.rows_per_plane; left > 0; left -= packed.planes) {
    PlanePointers<const T> from;
    PlanePointers<T> to;
    for (Index plane = 0; plane < packed.planes; ++plane) {
      from.of[plane] = static_cast<const T*>(job.in) + cursor.offset().in;
      to.of[plane] = static_cast<T*>(job.out) + cursor.offset().out;
      if (plane + 1 < left) cursor.next_loop();
    }
    pack_planes(from, packed.planes, packed.cells, in);
    pool(Job{packed.rows, job.choice, in, out, 0, rows.rows_per_plane, rest, nullptr});
    unpack_planes(out, packed.planes, packed.outputs, to);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_PACKED_INL_H_
