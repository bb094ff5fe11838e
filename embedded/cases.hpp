// Every kind of tiny layer under a name, with the same problem as one line of text (src/problem/problem.hpp). The
// firmware, its host build and the test against the reference walk this one list.
#pragma once

#include <ndpool/tiny.hpp>

#include <bit>
#include <cstdint>

namespace embedded {

using namespace ndpool::tiny;
using ndpool::Edges;
using ndpool::Ties;

inline constexpr Settings excluding{.training = true, .count_include_pad = false};
inline constexpr Settings to_ceil{.training = true, .edges = Edges::ceil};
inline constexpr Settings divides{.training = true, .edges = Edges::error};
inline constexpr Settings ties_first{.training = true, .ties = Ties::first};
inline constexpr Settings ties_split{.training = true, .ties = Ties::split};
inline constexpr Settings counting_zeros{.count_include_pad = true, .zero_point = -7};

using Same3 = Window<Kernel<3, 3>, Stride<2, 2>, Padding<1, 1>>;
using Dilated = Window<Kernel<3>, Stride<2>, Pads<2, 3>, Dilation<2>>;
using Long = Window<Kernel<20>, Stride<3>, Padding<5>>;
using Large = Window<Kernel<7, 6>, Stride<2, 3>, Padding<3, 2>>;
using Cube = Window<Kernel<2, 3, 2>, Stride<2, 1, 2>>;

/// Calls `visit.template operator()<Layer>(name, problem)` for every case.
template <class Visit>
void for_each_case(Visit visit) {
#define NDPOOL_CASE(name, problem, ...) visit.template operator()<__VA_ARGS__>(name, problem)
  NDPOOL_CASE("max-1d", "max shape=2,3,8 kernel=2", MaxPool1D<Shape<2, 3, 8>, 2, -1, training>);
  NDPOOL_CASE("max-1d-edges", "max shape=1,2,11 kernel=3", MaxPool1D<Shape<1, 2, 11>, 3, -1, training>);
  NDPOOL_CASE("max-1d-overlap", "max shape=1,3,9 kernel=3 stride=1", MaxPool1D<Shape<1, 3, 9>, 3, 1, training>);
  NDPOOL_CASE("max-1d-ceil", "max shape=1,2,9 kernel=4 stride=4 ceil", MaxPool1D<Shape<1, 2, 9>, 4, 4, to_ceil>);
  NDPOOL_CASE("max-1d-dilated", "max shape=1,2,12 kernel=3 stride=2 padding=2:3 dilation=2",
              MaxPoolND<Shape<1, 2, 12>, Dilated, training>);
  NDPOOL_CASE("max-1d-long", "max shape=1,2,40 kernel=20 stride=3 padding=5",
              MaxPoolND<Shape<1, 2, 40>, Long, training>);
  NDPOOL_CASE("max-1d-many-taps", "max shape=1,1,900 kernel=300", MaxPool1D<Shape<1, 1, 900>, 300, -1, divides>);
  NDPOOL_CASE("max-2d", "max shape=2,2,6,8 kernel=2,2", MaxPool2D<Shape<2, 2, 6, 8>, 2, 2, -1, -1, training>);
  NDPOOL_CASE("max-2d-uneven", "max shape=1,2,7,8 kernel=3,2 stride=2,3",
              MaxPool2D<Shape<1, 2, 7, 8>, 3, 2, 2, 3, training>);
  NDPOOL_CASE("max-2d-padded", "max shape=1,2,7,8 kernel=3,3 stride=2,2 padding=1,1",
              MaxPoolND<Shape<1, 2, 7, 8>, Same3, training>);
  NDPOOL_CASE("max-2d-large", "max shape=1,1,12,13 kernel=7,6 stride=2,3 padding=3,2",
              MaxPoolND<Shape<1, 1, 12, 13>, Large, training>);
  NDPOOL_CASE("max-3d", "max shape=1,2,4,5,6 kernel=2,3,2 stride=2,1,2",
              MaxPoolND<Shape<1, 2, 4, 5, 6>, Cube, training>);
  NDPOOL_CASE("avg-1d", "avg shape=2,3,8 kernel=2", AvgPool1D<Shape<2, 3, 8>, 2, -1, training>);
  NDPOOL_CASE("avg-1d-edges", "avg shape=1,2,11 kernel=3", AvgPool1D<Shape<1, 2, 11>, 3, -1, training>);
  NDPOOL_CASE("avg-1d-overlap", "avg shape=1,3,11 kernel=5 stride=2", AvgPool1D<Shape<1, 3, 11>, 5, 2, training>);
  NDPOOL_CASE("avg-1d-ceil", "avg shape=1,2,9 kernel=4 stride=4 ceil", AvgPool1D<Shape<1, 2, 9>, 4, 4, to_ceil>);
  NDPOOL_CASE("avg-1d-dilated", "avg shape=1,2,12 kernel=3 stride=2 padding=2:3 dilation=2",
              AvgPoolND<Shape<1, 2, 12>, Dilated, training>);
  NDPOOL_CASE("avg-1d-long", "avg shape=1,2,40 kernel=20 stride=3 padding=5 exclude_pad",
              AvgPoolND<Shape<1, 2, 40>, Long, excluding>);
  NDPOOL_CASE("avg-2d", "avg shape=2,2,6,8 kernel=2,2", AvgPool2D<Shape<2, 2, 6, 8>, 2, 2, -1, -1, training>);
  NDPOOL_CASE("avg-2d-uneven", "avg shape=1,2,7,8 kernel=3,2 stride=2,3",
              AvgPool2D<Shape<1, 2, 7, 8>, 3, 2, 2, 3, training>);
  NDPOOL_CASE("avg-2d-padded", "avg shape=1,2,7,8 kernel=3,3 stride=2,2 padding=1,1",
              AvgPoolND<Shape<1, 2, 7, 8>, Same3, training>);
  NDPOOL_CASE("avg-2d-padding-excluded", "avg shape=1,2,7,8 kernel=3,3 stride=2,2 padding=1,1 exclude_pad",
              AvgPoolND<Shape<1, 2, 7, 8>, Same3, excluding>);
  NDPOOL_CASE("avg-2d-large", "avg shape=1,1,12,13 kernel=7,6 stride=2,3 padding=3,2",
              AvgPoolND<Shape<1, 1, 12, 13>, Large, training>);
  NDPOOL_CASE("avg-3d", "avg shape=1,2,4,5,6 kernel=2,3,2 stride=2,1,2",
              AvgPoolND<Shape<1, 2, 4, 5, 6>, Cube, training>);
  NDPOOL_CASE("adaptive-max", "adaptive-max shape=1,2,7,9 output_size=3,4",
              AdaptiveMaxPoolND<Shape<1, 2, 7, 9>, Adaptive<3, 4>, training>);
  NDPOOL_CASE("adaptive-avg", "adaptive-avg shape=1,2,7,9 output_size=3,4",
              AdaptiveAvgPoolND<Shape<1, 2, 7, 9>, Adaptive<3, 4>, training>);
  NDPOOL_CASE("adaptive-avg-more-bins", "adaptive-avg shape=1,2,3 output_size=5",
              AdaptiveAvgPoolND<Shape<1, 2, 3>, Adaptive<5>, training>);
  NDPOOL_CASE("global-max", "global-max shape=2,3,5,6 axes=2,3", GlobalMaxPool<Shape<2, 3, 5, 6>, training>);
  NDPOOL_CASE("global-max-1d", "global-max shape=3,1,3 axes=2", GlobalMaxPool<Shape<3, 1, 3>, training>);
  NDPOOL_CASE("global-max-first", "global-max shape=2,3,5,6 axes=2,3 ties=first",
              GlobalMaxPool<Shape<2, 3, 5, 6>, ties_first>);
  NDPOOL_CASE("global-max-first-many-taps", "global-max shape=1,2,17,16 axes=2,3 ties=first",
              GlobalMaxPool<Shape<1, 2, 17, 16>, ties_first>);
  NDPOOL_CASE("global-max-split", "global-max shape=2,3,5,6 axes=2,3 ties=split",
              GlobalMaxPool<Shape<2, 3, 5, 6>, ties_split>);
  NDPOOL_CASE("global-avg", "global-avg shape=2,3,5,6 axes=2,3", GlobalAvgPool<Shape<2, 3, 5, 6>, training>);
  NDPOOL_CASE("max-1d-int8", "max shape=2,3,9 kernel=2", MaxPool1D<Shape<2, 3, 9>, 2, -1, inference, std::int8_t>);
  NDPOOL_CASE("max-1d-int8-training", "max shape=2,3,9 kernel=3 stride=2",
              MaxPool1D<Shape<2, 3, 9>, 3, 2, training, std::int8_t>);
  NDPOOL_CASE("global-max-int8-training", "global-max shape=2,3,5,6 axes=2,3",
              GlobalMaxPool<Shape<2, 3, 5, 6>, with_training(quantised(4)), std::int8_t>);
  NDPOOL_CASE("avg-2d-int8-training",
              "avg shape=1,2,7,8 kernel=3,3 stride=2,2 padding=1,1 exclude_pad rounding=half_away",
              AvgPoolND<Shape<1, 2, 7, 8>, Same3, with_training(quantised(-3)), std::int8_t>);
  NDPOOL_CASE("global-max-int8", "global-max shape=2,3,5,6 axes=2,3",
              GlobalMaxPool<Shape<2, 3, 5, 6>, quantised(4), std::int8_t>);
  NDPOOL_CASE("max-2d-int8", "max shape=1,2,7,8 kernel=3,3 stride=2,2 padding=1,1",
              MaxPoolND<Shape<1, 2, 7, 8>, Same3, inference, std::int8_t>);
  NDPOOL_CASE("avg-1d-int8", "avg shape=2,3,8 kernel=2 rounding=half_away",
              AvgPool1D<Shape<2, 3, 8>, 2, -1, quantised(5), std::int8_t>);
  NDPOOL_CASE("avg-2d-int8", "avg shape=1,2,7,8 kernel=3,3 stride=2,2 padding=1,1 exclude_pad rounding=half_away",
              AvgPoolND<Shape<1, 2, 7, 8>, Same3, quantised(-3), std::int8_t>);
  NDPOOL_CASE("avg-2d-int8-zero-point", "", AvgPoolND<Shape<1, 2, 7, 8>, Same3, counting_zeros, std::int8_t>);
  NDPOOL_CASE("global-avg-int8", "global-avg shape=2,3,5,6 axes=2,3 rounding=half_away",
              GlobalAvgPool<Shape<2, 3, 5, 6>, quantised(11), std::int8_t>);
#undef NDPOOL_CASE
}

/// Numbers that repeat, so that windows have ties; floats are multiples of 1/8 and have zeros of both signs. With
/// `strange`, for max, some are NaN or infinite.
template <class T>
void fill(T* values, ndpool::Index count, std::uint32_t seed, bool strange = false) {
  for (ndpool::Index i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    const auto number = static_cast<std::int8_t>(seed >> 24);
    if constexpr (std::integral<T>) {
      values[i] = static_cast<T>(number);
    } else {
      values[i] = static_cast<T>(number % 32) / T(8);
      if (number % 16 == -1) values[i] = -T(0);
      if (strange && number % 23 == 5) values[i] = std::numeric_limits<T>::quiet_NaN();
      if (strange && number % 23 == 7) values[i] = -std::numeric_limits<T>::infinity();
    }
  }
}

/// What a layer makes of the numbers of `fill`.
template <class Layer>
struct Results {
  using T = typename Layer::Input::Scalar;
  static constexpr bool trains = Layer::trains;
  static constexpr bool is_max = !std::is_empty_v<typename Layer::Memory>;

  typename Layer::Input x;
  typename Layer::Output y;
  typename Layer::InputGradient gx;
  typename Layer::OutputGradient gy;
  typename Layer::Memory memory;
  typename Layer::Mask mask;

  /// False if the mask says that there was no forward.
  bool run() {
    fill(x.data, x.size(), 1, is_max);
    fill(gy.data, gy.size(), 2);
    if constexpr (trains) {
      Layer::forward(x, y, memory);
      Layer::backward(memory, gy, gx);
      if constexpr (is_max) return Layer::mask(memory, mask);
    } else {
      Layer::forward(x, y);
    }
    return true;
  }
};

}  // namespace embedded
