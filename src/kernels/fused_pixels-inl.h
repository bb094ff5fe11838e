// Per-target code: every second pixel of three channels, in registers: six vectors of columns hold 16 pixels, of which
// the even and the odd ones are three vectors each. No include guard of the usual kind: see rows-inl.h.
#if defined(NDPOOL_FUSED_PIXELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NDPOOL_FUSED_PIXELS_INL_H_
#undef NDPOOL_FUSED_PIXELS_INL_H_
#else
#define NDPOOL_FUSED_PIXELS_INL_H_
#endif

#include "kernels/columns-inl.h"

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
    return lanes == 8 && axis.kernel == 3 && axis.stride == 2 && axis.lo == 1 && fits && axis.input == 2 * axis.output;
  }

  /// A row of `pixels`; store(vector, place) takes the outputs.
  template <int R, int watched, class Store>
  static HWY_INLINE void make(Index pixels, Columns<C>& columns, const Store& store) {
    constexpr int last = static_cast<int>(lanes) - channels;
    const D d;
    const Pick pick;
    V before = C::identity();  // the odd pixel in front is in its last lanes
    for (Index next = 0; next < pixels; next += most) {
      // The last pixels are made anew from where they still fit.
      const Index pixel = std::min(next, pixels - most), from = channels * pixel, to = from / 2;
      if (pixel < next) before = columns.template stack_at<R, 1, watched>(from - lanes).of[0];
      V cells[6];
      repeat<3>([&](int i) NDPOOL_HOT {
        const auto [low, high] = columns.template two_at<R, 1, watched>(from + 2 * i * lanes);
        cells[2 * i] = low.of[0];
        cells[2 * i + 1] = high.of[0];
      });
      const Three even = pick.even(cells), odd = pick.odd(cells);
      const auto made = [&](V left, V middle, V right)
                            NDPOOL_HOT { return C::combine(C::combine(left, middle), right); };
      store(made(slide<last>(d, odd.first, before), even.first, odd.first), to);
      store(made(slide<last>(d, odd.second, odd.first), even.second, odd.second), to + lanes);
      store(made(slide<last>(d, odd.third, odd.second), even.third, odd.third), to + 2 * lanes);
      before = odd.third;
    }
  }

 private:
  struct Three {
    V first, second, third;
  };

  /// Which lanes of six vectors are those of even pixels (0, 1, 2, 6, 7, 8, 12, ...) and of odd ones (3, 4, 5, 9, ...).
  class Pick {
   public:
    HWY_INLINE Three even(const V* v) const {
      return {join<5>(lanes_of<0, 1, 2, 6, 7, 0, 0, 0>(v[0]), lanes_of<0, 0, 0, 0, 0, 0, 4, 5>(v[1])),
              join<1>(lanes_of<6, 0, 0, 0, 0, 0, 0, 0>(v[1]),
                      join<4>(lanes_of<0, 2, 3, 4, 0, 0, 0, 0>(v[2]), lanes_of<0, 0, 0, 0, 0, 1, 2, 6>(v[3]))),
              join<1>(lanes_of<7, 0, 0, 0, 0, 0, 0, 0>(v[3]),
                      join<5>(lanes_of<0, 0, 4, 5, 6, 0, 0, 0>(v[4]), lanes_of<0, 0, 0, 0, 0, 2, 3, 4>(v[5])))};
    }
    HWY_INLINE Three odd(const V* v) const {
      return {join<3>(lanes_of<3, 4, 5, 0, 0, 0, 0, 0>(v[0]),
                      join<7>(lanes_of<0, 0, 0, 1, 2, 3, 7, 0>(v[1]), lanes_of<0, 0, 0, 0, 0, 0, 0, 0>(v[2]))),
              join<4>(lanes_of<1, 5, 6, 7, 0, 0, 0, 0>(v[2]),
                      join<7>(lanes_of<0, 0, 0, 0, 3, 4, 5, 0>(v[3]), lanes_of<0, 0, 0, 0, 0, 0, 0, 1>(v[4]))),
              join<3>(lanes_of<2, 3, 7, 0, 0, 0, 0, 0>(v[4]), lanes_of<0, 0, 0, 0, 1, 5, 6, 7>(v[5]))};
    }

   private:
    template <int... from>
    static HWY_INLINE V lanes_of(V v) {
      alignas(32) static constexpr std::int32_t indices[] = {from...};
      return hn::TableLookupLanes(v, hn::SetTableIndices(D(), indices));
    }
    template <std::size_t first>
    static HWY_INLINE V join(V low, V high) {
      return hn::IfThenElse(hn::FirstN(D(), first), low, high);
    }
  };
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace ndpool
HWY_AFTER_NAMESPACE();

#endif  // NDPOOL_FUSED_PIXELS_INL_H_
