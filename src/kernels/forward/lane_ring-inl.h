// Per-target code: rows of windows of many columns, with lanes behind the last pooled axis: columns wait in the
// first-level cache until no window sees them any more. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_LANE_RING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_LANE_RING_INL_H_
#undef NDPOOL_LANE_RING_INL_H_
#else
#define NDPOOL_LANE_RING_INL_H_
#endif

#include "kernels/forward/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

template <class C>
class LaneRing {
 public:
  using E = typename C::Element;
  using T = typename C::T;
  using V = typename C::V;
  static constexpr Index lanes = C::lanes;
  static constexpr Index line = 2 * lanes;           ///< lanes that are made at a time: of floats, a cache line
  static constexpr Index most_in_strip = 16 * line;  ///< lanes that are walked along together
  /// The same where every column is seen once: then it is more important that memory is read in long pieces.
  static constexpr Index most_of_whole_rows = 2048;
  static constexpr Index pixels = 16;  ///< columns that can wait for them

  /// Calls f(range) for strips of lanes that are walked along together; the last may begin inside the one before.
  template <class F>
  static HWY_INLINE void for_each_strip(Index inner, const F& f, Index most = most_in_strip) {
    for (Index lane = 0; lane < inner;) {
      const Index left = inner - lane, begin = left < line ? inner - line : lane;
      const Index end = begin + (left < line ? line : std::min(left / line * line, most));
      f(Range{begin, end});
      lane = end;
    }
  }

  /// Windows with more taps, and bins: columns wait in a ring until no window sees them any more.
  template <class Target>
  static HWY_NOINLINE void make_row(const Axis& axis, Columns<C>& columns, const Target& target) {
    HWY_ALIGN T ring[most_of_whole_rows * 8];
    const Index most = axis.output == 1 && axis.kernel <= 8 ? most_of_whole_rows : most_in_strip;
    const auto make_strip = [&](const Range& range) HWY_ATTR {
      Index next_pixel = 0;  // those before have been in the ring
      for (Index output = 0; output < axis.output; ++output) {
        const Taps taps = axis.taps(output);
        const bool keeps = taps.step == 1;
        Strips<T> window;
        window.add_outside(taps.first_tap);
        for (Index tap = 0; tap < taps.count; ++tap) {
          const Index pixel = taps.first + tap * taps.step;
          T* const slot = ring + (keeps ? pixel : tap) % pixels * most;
          window.add(slot);
          if (keeps && pixel < next_pixel) continue;
          Strips<E> rows;
          rows.add_outside(columns.first_tap);
          for (int r = 0; r < columns.count; ++r) rows.add(columns.rows[r] + pixel * target.inner + range.begin);
          rows.add_outside(columns.padded - columns.first_tap);
          with_strips(rows.count, [&]<int N>() HWY_ATTR {
            columns.take_seen(make_column<N>(rows, range.end - range.begin, slot));
          });
        }
        window.add_outside(taps.length - taps.count - taps.first_tap);
        next_pixel = taps.first + taps.count;
        with_strips(window.count, [&]<int N>() HWY_ATTR { make_pixel<N, Target>(window, range, output, target); });
      }
    };
    for_each_strip(target.inner, make_strip, most);
  }

 private:
  /// Up to as many rows of a strip of lanes, each from the strip's first lane on; in sums, one that changes nothing
  /// stands for each tap outside the input, so that all keep their place in the split.
  template <class Cell>
  struct Strips {
    const Cell* of[most_fused_rows];
    Index count = 0;
    void add(const Cell* strip) { of[count++] = strip; }
    void add_outside(Index taps) {
      if constexpr (C::kind == Combine::sum)
        for (Index t = 0; t < taps; ++t) add(no_row<Cell>());
    }
  };
  static_assert(most_of_whole_rows <= no_row_length && pixels <= most_fused_rows);
  static_assert(pixels * most_in_strip <= most_of_whole_rows * 8);

  /// Calls f.operator()<N>() with the number of strips, or with 0.
  template <class F>
  static HWY_INLINE void with_strips(Index count, const F& f) {
    if constexpr (C::is_common && !NDPOOL_IS_SANITIZED)
      with_count<most_fused_rows>(count, f);
    else
      f.template operator()<0>();
  }
  template <int N, class Leaf>
  static HWY_INLINE V fold(Index count, const Leaf& leaf) {
    if constexpr (N > 0)
      return fold_split<0, N>(leaf, [](V a, V b) NDPOOL_HOT { return C::combine(a, b); });
    else
      return fold_split<C>(count, leaf);
  }

  /// One column, from the rows of its window.
  template <int N>
  static HWY_NOINLINE V make_column(const Strips<E>& given, Index length, T* to) {
    const Strips<E> strips = given;
    V seen = hn::Zero(typename C::D());
    for (Index lane = 0; lane < length; lane += lanes) {
      const V column = fold<N>(strips.count, [&](Index r) NDPOOL_HOT {
        const V v = C::load(strips.of[r] + lane);
        if constexpr (C::watches) seen = C::notice(seen, C::noticed(v));
        return v;
      });
      hn::Store(column, typename C::D(), to + lane);
    }
    return seen;
  }
  /// One pixel of outputs, from the columns of its window.
  template <int N, class Target>
  static HWY_NOINLINE void make_pixel(const Strips<T>& given, const Range& range, Index output,
                                      const Target& given_target) {
    const Strips<T> strips = given;
    const Target target = given_target;
    const Index length = range.end - range.begin;
    for (Index at = 0; at < length; at += line) {
      const auto low = [&](Index t) NDPOOL_HOT { return hn::Load(typename C::D(), strips.of[t] + at); };
      const auto high = [&](Index t) NDPOOL_HOT { return hn::Load(typename C::D(), strips.of[t] + at + lanes); };
      target(typename Columns<C>::template Two<1>{{{fold<N>(strips.count, low)}}, {{fold<N>(strips.count, high)}}},
             output, range.begin + at);
    }
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_LANE_RING_INL_H_
