// Per-target code: bands of output rows whose 3x3 windows step cell by cell. A vector of outputs walks down the rows,
// and what it has read stays in registers for the next two. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_BAND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_BAND_INL_H_
#undef NDPOOL_BAND_INL_H_
#else
#define NDPOOL_BAND_INL_H_
#endif

#include "kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Makes up to `most_rows` rows of a plane at a time, so that the vectors next to one another find their cells in the
/// first-level cache; and several planes, where they are small.
template <class C>
class FusedBand {
 public:
  using E = typename C::Element;
  using D = typename C::D;
  using V = typename C::V;
  static constexpr Index lanes = C::lanes;
  static constexpr Index most_rows = 16;

  static bool can_make(const Rows& rows) {
    return rows.vertical_count == 1 && rows.inner.extent == 1 && is_small(rows.vertical[0].window) &&
           is_small(rows.horizontal.window) &&
           (is_narrow(rows) || std::min(rows.horizontal.window.output, rows.horizontal.window.input) >= lanes);
  }
  /// Planes with rows of one vector with room in it, that follow one another in both arrays. They are made whole.
  static bool is_narrow(const Rows& rows) {
    const Axis& along = rows.horizontal.window;
    const PooledAxis& across = rows.vertical[0];
    return C::is_common && along.input == along.output && along.lo == 1 && along.output < lanes &&
           along.output >= lanes / 2 && across.stride.in == along.input && across.stride.out == along.output &&
           across.window.input == across.window.output && across.window.lo == 1 && across.window.input > 1 &&
           across.window.input <= most_rows;
  }

  /// Output rows from one on, the same ones of some planes. `plane` is the input of the first, `out` the first output;
  /// `finish(vector, output, row)` is what is stored. False if there was a NaN: then what was written is not to be
  /// used.
  template <class Finish>
  static HWY_NOINLINE bool make(const Rows& rows, Index first_row, Index count, Index planes, const E* plane, E* out,
                                const Finish& finish) {
    const Axis& along = rows.horizontal.window;
    Walk<Finish> walk{plane,
                      rows.vertical[0].stride.in,
                      first_row - rows.vertical[0].window.lo,
                      rows.vertical[0].window.input,
                      count,
                      out,
                      rows.vertical[0].stride.out,
                      finish};
    const Ends ends(along.output);
    V seen = hn::Zero(D());
    for (Index p = 0;;) {
      if (along.output < lanes)
        walk.narrow(along.output, ends, seen);
      else
        make_plane(along, walk, seen);
      if (++p == planes) return !C::has_nan(seen);
      walk.plane += rows.loops[0].stride.in;
      walk.out += rows.loops[0].stride.out;
    }
  }

 private:
  /// At most one cell of a window is on padding.
  static bool is_small(const Axis& axis) {
    const Index beyond = axis.start(axis.output - 1) + axis.kernel - axis.input;
    return !axis.adaptive && axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1 && axis.lo <= 1 && beyond <= 1;
  }

  template <class Walk>
  static HWY_INLINE void make_plane(const Axis& along, const Walk& walk, V& seen) {
    for (Index output = 0; output < along.output; output += lanes) {
      output = std::min(output, along.output - lanes);  // the last vector may make some outputs again
      const Index cell = output - along.lo;
      const bool left = output < along.lo;
      const bool right = cell + 2 + lanes > along.input;
      if (left && right)
        walk.template down<true, true>(cell, output, seen);
      else if (left)
        walk.template down<true, false>(cell, output, seen);
      else if (right)
        walk.template down<false, true>(cell, output, seen);
      else
        walk.template down<false, false>(cell, output, seen);
    }
  }

  static HWY_INLINE V combine(V a, V b) { return C::combine(a, b); }

  /// The lanes of vectors that end where a row of less than a vector does: of all of it, and of half a vector.
  struct Ends {
    std::int32_t of_rest[lanes], of_half[lanes];
    explicit Ends(Index width) {
      for (Index i = 0; i < lanes; ++i) {
        of_rest[i] = static_cast<std::int32_t>((i - width) & (lanes - 1));
        of_half[i] = static_cast<std::int32_t>((i + width - lanes / 2) & (lanes - 1));
      }
    }
  };

  /// What an input row gives to a vector of outputs. Maxima and minima are combined at once; sums wait, because those
  /// of columns come first.
  struct Row {
    V before, middle, behind;
  };

  template <class Finish>
  struct Walk {
    const E* plane;
    Index pitch, first, height;  ///< of input rows; `first` is the one under tap 0
    Index count;
    E* out;
    Index out_pitch;
    const Finish& finish;

    template <bool left, bool right>
    HWY_INLINE Row row(Index y, Index cell, V& seen) const {
      const D d;
      const E* from = plane + y * pitch + cell;
      hwy::Prefetch(from + most_rows * pitch);  // where the next band is, in this plane or behind it
      const V middle = C::load(from + 1);
      return taps(left ? slide<static_cast<int>(lanes) - 1>(d, middle, C::identity()) : C::load(left ? from + 1 : from),
                  middle, right ? slide<1>(d, C::identity(), middle) : C::load(right ? from + 1 : from + 2), seen);
    }
    static HWY_INLINE Row taps(V before, V middle, V behind, V& seen) {
      // Infinities of both signs add up to a NaN as well; that only costs time.
      if constexpr (C::watches) seen = hn::Add(seen, hn::Add(before, behind));
      if constexpr (C::kind == Combine::sum) return {before, middle, behind};
      const V all = combine(combine(before, middle), behind);
      return {all, all, all};
    }
    /// A row that may be one above or below the plane.
    template <bool left, bool right>
    HWY_INLINE Row row_or_padding(Index y, Index cell, V& seen) const {
      if (y < 0 || y >= height) return {C::identity(), C::identity(), C::identity()};
      return row<left, right>(y, cell, seen);
    }

    HWY_INLINE V made(const Row& above, const Row& here, const Row& below, Index output, Index r) const {
      V all = combine(combine(above.before, here.before), below.before);
      if constexpr (C::kind == Combine::sum) {
        all = combine(all, combine(combine(above.middle, here.middle), below.middle));
        all = combine(all, combine(combine(above.behind, here.behind), below.behind));
      }
      return finish(all, output, r);
    }
    HWY_INLINE void make(const Row& above, const Row& here, const Row& below, Index output, Index r) const {
      C::store(made(above, here, below, output, r), out + r * out_pitch + output);
    }

    template <bool left, bool right>
    HWY_INLINE void down(Index cell, Index output, V& all_seen) const {
      const Walk walk = *this;  // what the loop needs is its alone, so that it can live in registers
      V seen = all_seen;
      Row above = walk.template row_or_padding<left, right>(walk.first, cell, seen);
      Row here = walk.template row_or_padding<left, right>(walk.first + 1, cell, seen);
      Index r = 0;
      for (; r < walk.count - 1; ++r) {  // only the last row can reach below the plane
        const Row below = walk.template row<left, right>(walk.first + 2 + r, cell, seen);
        walk.make(above, here, below, output, r);
        above = here;
        here = below;
      }
      walk.make(above, here, walk.template row_or_padding<left, right>(walk.first + 2 + r, cell, seen), output, r);
      all_seen = seen;
    }

    /// A whole plane whose rows are one vector each, of which `width` lanes are used. What is behind a row in the
    /// vector is the beginning of the next, which is not looked at, and is written again; the last row is read with the
    /// end of the one before it.
    HWY_INLINE void narrow(Index width, const Ends& ends, V& all_seen) const {
      if constexpr (C::is_common) {
        const D d;
        const Walk walk = *this;
        V seen = all_seen;
        const auto used = hn::FirstN(d, static_cast<std::size_t>(width));
        const V nothing = C::identity();
        Row above{nothing, nothing, nothing}, here = spread(C::load(walk.plane), used, seen);
        Index r = 0;
        for (; r < walk.count - 2; ++r) {
          const Row below = spread(C::load(walk.plane + (r + 1) * walk.pitch), used, seen);
          walk.make(above, here, below, 0, r);
          above = here;
          here = below;
        }
        const V end = C::load(walk.plane + (r + 1) * walk.pitch + width - lanes);
        const Row below = spread(hn::TableLookupLanes(end, hn::SetTableIndices(d, ends.of_rest)), used, seen);
        walk.make(above, here, below, 0, r);
        const V last = walk.made(here, below, {nothing, nothing, nothing}, 0, r + 1);
        const hn::Half<D> half;
        E* const to = walk.out + (r + 1) * walk.out_pitch;
        hn::StoreU(hn::LowerHalf(half, last), half, to);
        hn::StoreU(hn::LowerHalf(half, hn::TableLookupLanes(last, hn::SetTableIndices(d, ends.of_half))), half,
                   to + width - lanes / 2);
        all_seen = seen;
      }
    }
    template <class Mask>
    static HWY_INLINE Row spread(V cells, Mask used, V& seen) {
      const V middle = hn::IfThenElse(used, cells, C::identity());
      return taps(slide<static_cast<int>(lanes) - 1>(D(), middle, C::identity()), middle,
                  slide<1>(D(), C::identity(), middle), seen);
    }
  };
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_BAND_INL_H_
