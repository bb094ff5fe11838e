// Per-target code: small planes that are pooled whole, as global pools do: eight of them at a time, each as one column
// of its rows, whose neighbours are combined until each is one output. No include guard of the usual kind: see
// rows-inl.h.
#if defined(NDPOOL_WHOLE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_WHOLE_INL_H_
#undef NDPOOL_WHOLE_INL_H_
#else
#define NDPOOL_WHOLE_INL_H_
#endif

#include "kernels/forward/columns-inl.h"
#include "kernels/forward/divisors.hpp"
#include "kernels/forward/packed-inl.h"

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

  /// One window per plane, of rows that are no longer than a vector; planes follow one another.
  static bool can_make(const Rows& rows) {
    if (HWY_TARGET != HWY_AVX2 || C::watches || rows.vertical_count != 1 || rows.inner.extent != 1) return false;
    if (rows.loop_count != 1) return false;
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

  /// Makes all planes but the last few, and answers which is the first that it did not make.
  Index make() const {
    if (width_ == 7 && height_ == 7) return make<7>();  // what most networks end with
    return make<0>();
  }

 private:
  /// H is the height, or 0 for any.
  template <int H>
  HWY_NOINLINE Index make() const {
    const D d;
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(width_));
    const V outside = C::nothing(), divisor = hn::Set(d, divisor_);
    const bool divides = kind == Combine::sum && job_.choice.averages;
    const Index width = width_, height = height_, cells = cells_, step = out_step_;
    const T* from = static_cast<const T*>(job_.in) + job_.first_row * cells;
    T* to = static_cast<T*>(job_.out) + job_.first_row * step;
    // The last row of a plane is read with the beginning of the next one, which the last plane does not have.
    const Index end = std::min(job_.last_row, job_.rows.row_count - 1);
    Index plane = job_.first_row;
    for (; plane + lanes <= end; plane += lanes, from += lanes * cells, to += lanes * step) {
      const auto column = [&](int i) NDPOOL_HOT {
        const T* cell = from + i * cells;
        return hn::IfThenElse(inside, rows_combined<H>(cell, width, height), outside);
      };
      const auto pairs = [&](int i) NDPOOL_HOT { return combined_in_blocks<C>(column(i + 1), column(i)); };
      const auto fours = [&](int i) NDPOOL_HOT { return combined_in_blocks<C>(pairs(i + 2), pairs(i)); };
      const V low = fours(0), high = fours(4);
      // With identities behind them, all rows of up to eight cells have the split of eight.
      V all = C::combine(hn::ConcatLowerLower(d, high, low), hn::ConcatUpperUpper(d, high, low));
      if (divides) all = hn::Div(all, divisor);
      if (step == 1) {
        hn::StoreU(all, d, to);
      } else {
        T each[lanes];
        hn::StoreU(all, d, each);
        for (Index i = 0; i < lanes; ++i) to[i * step] = each[i];
      }
    }
    return plane;
  }

  /// Lanes behind the width hold what follows a row.
  template <int H>
  static HWY_INLINE V rows_combined(const T* plane, Index width, Index height) {
    const auto row = [&](Index r) NDPOOL_HOT { return hn::LoadU(D(), plane + r * width); };
    if constexpr (H > 0) return fold_split<0, H>(row, [](V a, V b) NDPOOL_HOT { return C::combine(a, b); });
    if constexpr (kind == Combine::sum) return fold_split<C>(height, row);
    V all = row(0);
    for (Index r = 1; r < height; ++r) all = C::combine(all, row(r));
    return all;
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
