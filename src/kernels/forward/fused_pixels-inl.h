// Per-target code: every second pixel of three channels, in registers: six vectors of columns hold 16 pixels, of which
// the even and the odd ones are three vectors each. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_PIXELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_PIXELS_INL_H_
#undef NDPOOL_FUSED_PIXELS_INL_H_
#else
#define NDPOOL_FUSED_PIXELS_INL_H_
#endif

#include "kernels/forward/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace ndpool {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Three taps at stride 2 with one pixel of padding in front, of eight lanes.
template <class C>
class FusedPixels {
 public:
  using D = typename C::D;
  using V = typename C::V;
  static constexpr int channels = 3;
  static constexpr Index lanes = C::lanes;
  static constexpr Index most = 16;  ///< pixels at a time

  static bool can_make(const Axis& axis) {
    // The last pixels need a whole vector in front of them.
    const bool fits = axis.input == most || axis.input >= most + 4;
    return HWY_TARGET == HWY_AVX2 && lanes == 8 && axis.kernel == 3 && axis.stride == 2 && axis.lo == 1 && fits &&
           axis.input == 2 * axis.output;
  }

  /// A row of `pixels`; store(vector, place) takes the outputs.
  template <int R, int watched, class Store>
  static HWY_INLINE void make([[maybe_unused]] Index pixels, [[maybe_unused]] Columns<C>& columns,
                              [[maybe_unused]] const Store& store, [[maybe_unused]] Index ahead) {
#if HWY_TARGET == HWY_AVX2
    V before = C::identity();  // the odd pixel in front is in its last lanes
    for (Index next = 0; next < pixels; next += most) {
      // The last pixels are made anew from where they still fit.
      const Index pixel = std::min(next, pixels - most), from = channels * pixel, to = from / 2;
      if (pixel < next) before = columns.template stack_at<R, 1, watched>(from - lanes).of[0];
      V cells[6];
      repeat<3>([&](int i) NDPOOL_HOT {
        if (ahead != 0) columns.template ask<R, 1, 2>(to + i * lanes, ahead);
        const auto [low, high] = columns.template two_at<R, 1, watched>(from + 2 * i * lanes);
        cells[2 * i] = low.of[0];
        cells[2 * i + 1] = high.of[0];
      });
      const Blocks blocks(cells);
      const Three even = blocks.even(), odd = blocks.odd();
      const V left = shifted(odd.first, halves<0x21>(before, odd.third));
      before = odd.third;
      const V first = combine(left, even.first, odd.first);
      const V second = combine(shifted(odd.second, odd.first), even.second, odd.second);
      const V third = combine(shifted(odd.third, odd.second), even.third, odd.third);
      store(halves<0x20>(first, second), to);
      store(halves<0x30>(third, first), to + lanes);
      store(halves<0x31>(second, third), to + 2 * lanes);
    }
#endif
  }

 private:
#if HWY_TARGET == HWY_AVX2
  static HWY_INLINE V combine(V left, V middle, V right) { return C::combine(C::combine(left, middle), right); }

  /// Halves of both, as the instruction names them.
  template <int which>
  static HWY_INLINE V halves(V a, V b) {
    return V{_mm256_permute2f128_ps(a.raw, b.raw, which)};
  }
  /// In each half, the last three lanes of `low` and the first of `high`: one pixel further to the left.
  static HWY_INLINE V shifted(V high, V low) { return hn::CombineShiftRightBytes<4>(D(), high, low); }

  struct Three {
    V first, second, third;
  };

  /// The first eight pixels of 16 are in the lower halves of six vectors, the others in the upper ones, so that all
  /// that is left to do is moving lanes within halves, which is fast.
  class Blocks {
   public:
    HWY_INLINE explicit Blocks(const V* cells) {
      repeat<3>([&](int i) NDPOOL_HOT {
        of_[2 * i] = halves<0x20>(cells[i], cells[i + 3]);
        of_[2 * i + 1] = halves<0x31>(cells[i], cells[i + 3]);
      });
    }
    /// Lanes 0, 1, 2, 6, 7, 8, 12, ... of each half, 12 of them.
    HWY_INLINE Three even() const {
      const V third = hn::CombineShiftRightBytes<8>(D(), of_[5], of_[4]);
      return {last_from<2>(of_[0], of_[1]), pairs<0x44>(hn::CombineShiftRightBytes<12>(D(), of_[2], of_[1]), of_[3]),
              hn::CombineShiftRightBytes<12>(D(), third, lane_as_last<2>(of_[3]))};
    }
    /// Lanes 3, 4, 5, 9, 10, 11, 15, ... of each half.
    HWY_INLINE Three odd() const {
      const V third{_mm256_blend_ps(of_[5].raw, _mm256_permute_ps(of_[4].raw, 1), 0x11)};
      return {last_from<1>(hn::CombineShiftRightBytes<12>(D(), of_[1], of_[0]), of_[2]),
              pairs<0x4E>(of_[2], hn::CombineShiftRightBytes<12>(D(), of_[4], of_[3])), third};
    }

   private:
    /// A lane of each half in all of its lanes.
    template <int lane>
    static HWY_INLINE V lane_as_last(V v) {
      return V{_mm256_permute_ps(v.raw, 0x55 * lane)};
    }
    /// The first three lanes of each half of `v`, then a lane of the same half of `other`.
    template <int lane>
    static HWY_INLINE V last_from(V v, V other) {
      return V{_mm256_blend_ps(v.raw, lane_as_last<lane>(other).raw, 0x88)};
    }
    /// Two lanes of each half of `a`, and two of `b`.
    template <int which>
    static HWY_INLINE V pairs(V a, V b) {
      return V{_mm256_shuffle_ps(a.raw, b.raw, which)};
    }
    V of_[6];
  };
#endif
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_PIXELS_INL_H_
