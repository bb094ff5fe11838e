// The walk with geometry known to the compiler against the walk that asks it at run time: the same bits for every
// combination of kernel, stride, padding, dilation and rounding up, and for bins of equal and of unequal length.
#include <gtest/gtest.h>
#include <ndpool/typed.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace ndpool::spec {
namespace {

constexpr Extents<3> shape{2, 3, 8};

/// Window number 7 N of 288 on the last axis, or on the last two: every seventh has every value of every parameter.
template <int N>
struct Windowed {
  static constexpr auto made = [] {
    constexpr Index kernels[] = {1, 2, 3, 5};
    constexpr Pad pads[] = {{0, 0}, {1, 1}, {0, 2}};
    constexpr int number = 7 * N;
    std::pair<Fault, BasicGeometry<3>> result;
    BasicWindow<3> window;
    const int tall = number / 144;
    if (tall > 0) window.kernel = {2}, window.stride = {1}, window.dilation = {1}, window.padding.push_back({1, 0});
    window.kernel.push_back(kernels[number % 4]);
    window.stride.push_back(number / 4 % 3 + 1);
    window.padding.push_back(pads[number / 12 % 3]);
    window.dilation.push_back(number / 36 % 2 + 1);
    window.ceil_mode = number / 72 % 2 == 1;
    result.first = resolve(window, shape, result.second);
    return result;
  }();
  static constexpr bool valid = !made.first;
  static constexpr BasicGeometry<3> geometry = made.second;
};

/// N + 1 bins on the last axis of 8, and two on the one before it of 3.
template <int N>
struct Binned {
  static constexpr bool valid = true;
  static constexpr BasicGeometry<3> geometry = [] {
    BasicGeometry<3> result;
    static_cast<void>(resolve(BasicAdaptive<3>{.output_size = {2, N + 1}}, shape, result));
    return result;
  }();
};

struct Arrays {
  float x[48], y[2][200] = {}, gy[200], gx[2][48] = {};
  Arrays() {
    std::uint32_t seed = 7;
    for (float* array : {x, gy})
      for (int i = 0; i < (array == x ? 48 : 200); ++i) {
        seed = seed * 1664525U + 1013904223U;
        array[i] = static_cast<float>(static_cast<std::int32_t>(seed) >> 20) / 7;
        if (seed % 16 == 3) array[i] = -0.0F;
      }
  }
  bool same() const {
    return std::memcmp(y[0], y[1], sizeof y[0]) == 0 && std::memcmp(gx[0], gx[1], sizeof gx[0]) == 0;
  }
};

template <class G, class Reducer>
void expect_same(const Reducer& reducer, int& compared) {
  Arrays a;
  const View<const float, 3> x(a.x, shape), gy(a.gy, G::geometry.output_shape());
  ASSERT_LE(element_count(G::geometry.output_shape()), 200);
  core::forward(G::geometry, reducer, x, View<float, 3>(a.y[0], G::geometry.output_shape()),
                [](const auto&, const auto&) {});
  core::add_vjp(G::geometry, reducer, x, gy, View<float, 3>(a.gx[0], shape));
  if constexpr (detail::fixed::Selects<Reducer, float>) {
    std::uint8_t winners[200];
    detail::fixed::forward<G>(reducer, a.x, a.y[1], winners);
    detail::fixed::vjp_from_winners<G>(winners, a.gy, a.gx[1]);
  } else {
    detail::fixed::forward<G>(reducer, a.x, a.y[1]);
    detail::fixed::vjp_of_sum<G>(reducer, a.gy, a.gx[1]);
  }
  EXPECT_TRUE(a.same());
  ++compared;
}

template <template <int> class Family, int... N>
int compare(std::integer_sequence<int, N...>) {
  int compared = 0;
  const auto one = [&]<int number>(std::integral_constant<int, number>) {
    using G = Family<number>;
    if constexpr (G::valid)
      if constexpr (detail::fixed::can_walk(G::geometry)) {
        SCOPED_TRACE(number);
        expect_same<G>(Max<float>{}, compared);
        expect_same<G>(Average<float>{{}, {.count_include_pad = number % 2 == 0}}, compared);
      }
  };
  (one(std::integral_constant<int, N>{}), ...);
  return compared;
}

TEST(FixedWalk, StaticAndDynamicWindowsAreBitIdentical) {
  EXPECT_GT(compare<Windowed>(std::make_integer_sequence<int, 42>{}), 60);
}

TEST(FixedWalk, StaticAndDynamicBinsAreBitIdentical) {
  EXPECT_EQ(compare<Binned>(std::make_integer_sequence<int, 11>{}), 2 * 11);
}

TEST(FixedWalk, LeavesWindowsWithoutACellToTheOther) {
  BasicGeometry<3> geometry;
  ASSERT_FALSE(resolve(BasicWindow<3>{.kernel = {1}, .stride = {1}, .padding = {{1, 0}}}, shape, geometry));
  EXPECT_FALSE(detail::fixed::can_walk(geometry));
}

}  // namespace
}  // namespace ndpool::spec
