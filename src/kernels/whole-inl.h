// Per-target code: small planes that are pooled whole, as global pools do: eight of them at a time, each as one column
// of its rows, which are then turned so that outputs lie side by side. No include guard of the usual kind: see
// rows-inl.h.
#if defined(NDPOOL_WHOLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_WHOLE_INL_H_
#undef NDPOOL_WHOLE_INL_H_
#else
#define NDPOOL_WHOLE_INL_H_
#endif

#include "kernels/columns-inl.h"
#include "kernels/divisors.hpp"
#include "kernels/packed-inl.h"

#include <bit>

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

template <class T, Combine kind>
class WholePlanes {
 public:
  using C = Cells<T, kind>;
  using D = typename C::D;
  using V = typename C::V;
  static constexpr Index lanes = static_cast<Index>(hn::MaxLanes(D()));

  /// One window per plane, of rows that are shorter than a vector; planes follow one another.
  static bool can_make(const Rows& rows) {
    if (sizeof(T) != 4 || rows.vertical_count != 1 || rows.inner.extent != 1 || rows.loop_count != 1) return false;
    const PooledAxis &across = rows.vertical[0], &along = rows.horizontal;
    const Index cells = across.window.input * along.window.input;
    return is_whole(across.window) && is_whole(along.window) && along.window.input <= lanes &&
           across.window.input <= most_fused_rows && cells >= lanes && along.stride.in == 1 &&
           across.stride.in == along.window.input && rows.loops[0].stride.in == cells;
  }

  explicit WholePlanes(const Job& job)
      : width_(job.rows.horizontal.window.input),
        height_(job.rows.vertical[0].window.input),
        cells_(width_ * height_),
        job_(job),
        out_step_(job.rows.loops[0].stride.out) {
    if (kind == Combine::sum && job.choice.averages)
      divisor_ =
          static_cast<T>(Divisors(job.rows, job.choice.average, RowCursor(job.rows, job.first_row)).of_output(0));
  }

  /// As many planes as a vector has lanes, from one on. False if a NaN was seen; one that raises a flag is not.
  bool operator()(Index plane) const {
    if constexpr (lanes >= 7)
      if (width_ == 7 && height_ == 7) return make<7, 7>(plane);  // what most networks end with
    return make<0, 0>(plane);
  }

 private:
  template <int H, int W>
  HWY_NOINLINE bool make(Index plane) const {
    const D d;
    V seen = hn::Zero(d);
    HWY_ALIGN T columns[lanes * lanes], turned[lanes * lanes];
    const T* from = static_cast<const T*>(job_.in) + plane * cells_;
    for (Index i = 0; i < lanes; ++i, from += cells_) {
      const bool is_last = plane + i + 1 == job_.rows.row_count;
      hn::Store(is_last ? last_column(from, seen) : column<H>(from, seen), d, columns + i * lanes);
    }
    if constexpr (C::watches)
      if (!hn::AllFalse(d, hn::MaskFromVec(seen))) return false;
    transpose_square<T>([&](int i) HWY_ATTR { return columns + i * lanes; },
                        [&](int i) HWY_ATTR { return turned + i * lanes; });
    V all = fold<W>(width_, [&](Index i) HWY_ATTR { return hn::Load(d, turned + i * lanes); });
    if (kind == Combine::sum && job_.choice.averages) all = hn::Div(all, hn::Set(d, divisor_));
    T* to = static_cast<T*>(job_.out) + plane * out_step_;
    if (out_step_ == 1) {
      hn::StoreU(all, d, to);
    } else {
      hn::Store(all, d, columns);
      for (Index i = 0; i < lanes; ++i) to[i * out_step_] = columns[i];
    }
    return true;
  }

  /// Folds with the spec's split, of N leaves, or of `count` if N is 0.
  template <int N, class Leaf>
  static HWY_INLINE V fold(Index count, const Leaf& leaf) {
    if constexpr (N > 0) return fold_split<0, N>(leaf, [](V a, V b) HWY_ATTR { return C::combine(a, b); });
    if constexpr (kind == Combine::sum) return fold_split<C>(count, leaf);
    V all = leaf(0);
    for (Index i = 1; i < count; ++i) all = C::combine(all, leaf(i));
    return all;
  }

  /// All rows of a plane combined. Lanes behind the width hold what follows a row; nobody looks at them.
  template <int H>
  HWY_INLINE V column(const T* plane, V& seen) const {
    const Index width = width_;
    V sum = hn::Zero(D());
    const V all = fold<H>(height_, [&](Index row) HWY_ATTR {
      const V v = hn::LoadU(D(), plane + row * width);
      if constexpr (C::watches) sum = hn::Add(sum, v);
      return v;
    });
    if constexpr (C::watches) seen = hn::Or(seen, hn::VecFromMask(D(), hn::IsNaN(sum)));
    return all;
  }

  /// The same for a plane behind which nothing may be read.
  HWY_NOINLINE V last_column(const T* plane, V& seen) const {
    T copy[most_fused_rows * lanes + lanes] = {};
    std::copy_n(plane, cells_, copy);
    return column<0>(copy, seen);
  }

  const Index width_, height_, cells_;
  const Job& job_;
  const Index out_step_;
  T divisor_ = T(1);
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_WHOLE_INL_H_
