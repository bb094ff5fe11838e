// The layers of the table, each as a tiny layer and as the plain loop of the same sizes. The functions are defined in
// table_object.cpp, one layer per object file, so that the linker map tells what each costs.
#pragma once

#include <ndpool/tiny.hpp>

#include "loops.hpp"

namespace embedded {

using namespace ndpool::tiny;

struct max_1d {
  template <Settings s>
  using Tiny = MaxPool1D<Shape<1, 8, 64>, 2, -1, s>;
  static constexpr loops::MaxPool1D loop{{2, 2, {1, 8, 64}}};
  static constexpr int mask_numbers = 1;
};
struct avg_1d {
  template <Settings s>
  using Tiny = AvgPool1D<Shape<1, 8, 64>, 2, -1, s>;
  static constexpr loops::AvgPool1D loop{{2, 2, {1, 8, 64}}};
};
struct max_1d_overlapping {
  template <Settings s>
  using Tiny = MaxPool1D<Shape<1, 8, 65>, 3, 2, s>;
  static constexpr loops::MaxPool1D loop{{3, 2, {1, 8, 65}}};
  static constexpr int mask_numbers = 1;
};
struct avg_1d_overlapping {
  template <Settings s>
  using Tiny = AvgPool1D<Shape<1, 8, 65>, 3, 2, s>;
  static constexpr loops::AvgPool1D loop{{3, 2, {1, 8, 65}}};
};
struct max_2d {
  template <Settings s>
  using Tiny = MaxPool2D<Shape<1, 8, 16, 16>, 2, 2, -1, -1, s>;
  static constexpr loops::MaxPool2D loop{{2, 2, 2, 2, {1, 8, 16, 16}}};
  static constexpr int mask_numbers = 2;
};
struct avg_2d {
  template <Settings s>
  using Tiny = AvgPool2D<Shape<1, 8, 16, 16>, 2, 2, -1, -1, s>;
  static constexpr loops::AvgPool2D loop{{2, 2, 2, 2, {1, 8, 16, 16}}};
};
struct max_2d_overlapping {
  template <Settings s>
  using Tiny = MaxPool2D<Shape<1, 8, 17, 17>, 3, 3, 2, 2, s>;
  static constexpr loops::MaxPool2D loop{{3, 3, 2, 2, {1, 8, 17, 17}}};
  static constexpr int mask_numbers = 2;
};
struct avg_2d_overlapping {
  template <Settings s>
  using Tiny = AvgPool2D<Shape<1, 8, 17, 17>, 3, 3, 2, 2, s>;
  static constexpr loops::AvgPool2D loop{{3, 3, 2, 2, {1, 8, 17, 17}}};
};

struct global_avg {
  template <Settings s>
  using Tiny = GlobalAvgPool<Shape<1, 8, 16, 16>, s>;
  static constexpr loops::AvgPool2D loop{{16, 16, 16, 16, {1, 8, 16, 16}}};
};

// What the notes do not have, and so no loop has.
struct max_2d_padded {
  template <Settings s>
  using Tiny = MaxPoolND<Shape<1, 8, 16, 16>, Window<Kernel<3, 3>, Stride<2, 2>, Padding<1, 1>>, s>;
};
struct avg_2d_padded {
  template <Settings s>
  using Tiny = AvgPoolND<Shape<1, 8, 16, 16>, Window<Kernel<3, 3>, Stride<2, 2>, Padding<1, 1>>, s>;
};
struct adaptive_max {
  template <Settings s>
  using Tiny = AdaptiveMaxPoolND<Shape<1, 8, 9, 9>, Adaptive<4, 4>, s>;
};
struct adaptive_avg {
  template <Settings s>
  using Tiny = AdaptiveAvgPoolND<Shape<1, 8, 9, 9>, Adaptive<4, 4>, s>;
};
struct max_2d_int8 {
  template <Settings s>
  using Tiny = MaxPool2D<Shape<1, 8, 16, 16>, 2, 2, -1, -1, s, std::int8_t>;
};
struct avg_2d_int8 {
  template <Settings s>
  using Tiny = AvgPool2D<Shape<1, 8, 16, 16>, 2, 2, -1, -1, s, std::int8_t>;
};

template <class Row>
using InputOf = typename Row::template Tiny<inference>::Input;
template <class Row>
using OutputOf = typename Row::template Tiny<inference>::Output;

template <class Row>
inline constexpr bool has_loop = requires {
  Row::loop;
};
template <class Row>
inline constexpr bool trains = std::same_as<typename InputOf<Row>::Scalar, float>;

/// The numbers that the loop of a max layer keeps in its mask.
template <class Row>
inline constexpr bool has_mask = requires {
  Row::mask_numbers;
};
template <class Row>
constexpr unsigned mask_size() {
  if constexpr (has_mask<Row>) return static_cast<unsigned>(OutputOf<Row>::size() * Row::mask_numbers);
  return 1;
}

/// forward for inference, forward for training, and backward; these two share what is kept.
template <class Row>
struct Tiny {
  static void infer(const InputOf<Row>& x, OutputOf<Row>& y);
  static void train(const InputOf<Row>& x, OutputOf<Row>& y);
  static void back(const OutputOf<Row>& gy, InputOf<Row>& gx);
  static typename Row::template Tiny<training>::Memory memory;
};

template <class Row>
struct Loop {
  static void infer(const InputOf<Row>& x, OutputOf<Row>& y);
  static void train(const InputOf<Row>& x, OutputOf<Row>& y);
  static void back(const OutputOf<Row>& gy, InputOf<Row>& gx);
  static float mask[mask_size<Row>()];
  /// Set at run time, as in a program that reads its sizes.
  static std::remove_const_t<decltype(Row::loop)> pool;
};

/// The loop again, with sizes that the compiler knows.
template <class Row>
struct Known {
  static void infer(const InputOf<Row>& x, OutputOf<Row>& y);
  static void train(const InputOf<Row>& x, OutputOf<Row>& y);
  static void back(const OutputOf<Row>& gy, InputOf<Row>& gx);
  static float mask[mask_size<Row>()];
};

}  // namespace embedded
