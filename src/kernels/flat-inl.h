// Per-target code: planes of short rows, whose 3x3 windows step cell by cell, as one long row each: a vector holds the
// end of a row and the beginning of the next, and neighbours that are none are masked out. No include guard of the
// usual kind: see rows-inl.h.
#if defined(NDPOOL_FLAT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FLAT_INL_H_
#undef NDPOOL_FLAT_INL_H_
#else
#define NDPOOL_FLAT_INL_H_
#endif

#include "kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Makes planes that follow one another in both arrays, with as many outputs as cells.
template <class C>
class FlatPlanes {
 public:
  using E = typename C::Element;
  using D = typename C::D;
  using V = typename C::V;
  static constexpr Index lanes = C::lanes;

  /// True if rows are so short that vectors of their own would mostly be edges.
  static bool can_make(const Rows& rows) {
    if (!C::is_common || rows.vertical_count != 1 || rows.inner.extent != 1 || rows.loop_count > 1) return false;
    const Axis& along = rows.horizontal.window;
    const PooledAxis& across = rows.vertical[0];
    const Index cells = along.input * across.window.input;
    const auto is_packed = [&](Index Strides::*array) {
      return rows.horizontal.stride.*array == 1 && across.stride.*array == along.input &&
             (rows.loop_count == 0 || rows.loops[0].stride.*array == cells);
    };
    return keeps_size(along) && keeps_size(across.window) && along.input < 2 * lanes && along.input >= lanes / 2 &&
           cells <= most_cells && cells >= 2 * (along.input + lanes) && is_packed(&Strides::in) &&
           is_packed(&Strides::out);
  }

  explicit FlatPlanes(const Rows& rows)
      : width_(rows.horizontal.window.input),
        cells_(width_ * rows.vertical[0].window.input),
        planes_(rows.row_count / rows.rows_per_plane) {
    for (Index i = 0; i < most_width + lanes; ++i) {
      above_[i] = i < width_ ? outside : inside;
      beside_[i] = i % width_ == 0 ? outside : inside;
    }
    for (Index i = 0; i < most_width + 3 * lanes; ++i) below_[i] = i < lanes ? inside : outside;
  }

  /// Planes from the one that begins at `offset` on; `in` and `out` are the whole arrays. `finish(vector, output)` is
  /// what is stored. False if there was a NaN: then what was written is not to be used.
  template <class Finish>
  bool make(Index offset, Index count, const E* in, E* out, const Finish& finish) const {
    V seen = hn::Zero(D());
    const Index first = offset / cells_;
    for (Index plane = first; plane < first + count; ++plane) {
      // The array ends with its last plane, and begins with the first: these have no neighbours that could be read.
      const bool is_last = plane == first + count - 1;
      E copy[most_cells + 4 * most_width];
      const E* from = in + plane * cells_;
      if (plane == 0 || plane == planes_ - 1) {
        std::fill(copy, copy + cells_ + 2 * most_width + 2 * lanes, E{});
        std::copy(from, from + cells_, copy + most_width);
        from = copy + most_width;
      }
      make_plane(from, out + plane * cells_, is_last, finish, seen);
    }
    return !C::is_unfit(seen);
  }

 private:
  static constexpr Index most_cells = 512, most_width = 2 * lanes;
  using T = typename C::T;
  /// What a neighbour is limited by: extremes by what changes none, or by what leaves all as they are. Sums take a
  /// sign.
  static constexpr T outside = C::kind == Combine::sum ? T(-1) : Combiner<C::kind, Nan::propagate, T>::identity();
  static constexpr Combine opposite = C::kind == Combine::max ? Combine::min : Combine::max;
  static constexpr T inside = C::kind == Combine::sum ? T(1) : Combiner<opposite, Nan::propagate, T>::identity();

  static bool keeps_size(const Axis& axis) {
    return !axis.adaptive && axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1 && axis.lo == 1 &&
           axis.output == axis.input;
  }

  /// A neighbour, or in its place what changes nothing, not even -0.
  static HWY_INLINE V neighbour(V v, const T* edge) {
    const D d;
    const V limit = hn::LoadU(d, edge);
    if constexpr (C::kind == Combine::sum)
      return hn::IfThenElse(hn::MaskFromVec(limit), hn::Set(d, T(-0.0F)), v);
    else if constexpr (C::kind == Combine::max)
      return hn::Min(v, limit);
    else
      return hn::Max(v, limit);
  }

  template <class Finish>
  HWY_INLINE void make_plane(const E* in, E* out, bool is_last, const Finish& given_finish, V& all_seen) const {
    const D d;
    constexpr int last = static_cast<int>(lanes) - 1;
    const Finish finish = given_finish;  // what the loops need is theirs alone, so that it can live in registers
    const Index width = width_, cells = cells_, row_step = lanes % width;
    const T* const ends = below_ + lanes - (cells - width);
    V seen = all_seen;
    const auto column = [&]<bool top, bool bottom>(Index cell) NDPOOL_HOT {
      const V middle = C::load(in + cell);
      V above = C::load(in + cell - width), below = C::load(in + cell + width);
      if constexpr (top) above = neighbour(above, above_ + cell);
      if constexpr (bottom) below = neighbour(below, ends + cell);
      // Behind the plane is the next one, whose NaNs only cost time.
      if constexpr (C::watches) seen = hn::Add(seen, middle);
      return C::combine(C::combine(above, middle), below);
    };
    V before = C::identity(), here = column.template operator()<true, false>(0), join = between(d, here, before);
    Index cell = 0, place = 0;
    const auto step = [&]<bool top, bool bottom>() NDPOOL_HOT {
      const V next = column.template operator()<top, bottom>(cell + lanes), next_join = between(d, next, here);
      const V left = neighbour(slide<last>(d, here, join, before), beside_ + place);
      const V right = neighbour(slide<1>(d, next, next_join, here), beside_ + place + 1);
      const V all = finish(C::combine(C::combine(left, here), right), 0);
      // What is written behind a plane is the beginning of the next, which comes later.
      if (bottom && is_last && cell + lanes > cells)
        store_first(all, out + cell, cells - cell);
      else
        C::store(all, out + cell);
      before = here;
      here = next;
      join = next_join;
      cell += lanes;
      place += row_step;
      if (place >= width) place -= width;
    };
    while (cell + lanes < width) step.template operator()<true, false>();
    while (cell + 2 * lanes <= cells - width) step.template operator()<false, false>();
    while (cell < cells) step.template operator()<false, true>();
    all_seen = seen;
  }

  static HWY_INLINE void store_first(V v, E* to, Index count) {
    E all[lanes];
    C::store(v, all);
    std::copy_n(all, count, to);
  }

  const Index width_, cells_, planes_;
  /// Limits from a cell of the first row on, from a place in a row on, and from a vector before the last row on.
  T above_[most_width + lanes], beside_[most_width + lanes], below_[most_width + 3 * lanes];
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FLAT_INL_H_
