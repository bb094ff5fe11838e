// What layers for microcontrollers can be told, and the shapes that they are described with.
#pragma once

#include <ndpool/edges.hpp>
#include <ndpool/reducer.hpp>
#include <ndpool/typed.hpp>

#include <cstdint>

namespace ndpool::tiny {

using typed::Adaptive;
using typed::CeilMode;
using typed::Dilation;
using typed::Global;
using typed::Kernel;
using typed::Padding;
using typed::Pads;
using typed::SameLower;
using typed::SameUpper;
using typed::Shape;
using typed::Stride;
using typed::Tensor;
using typed::Window;

/// What a layer can be told beyond its shapes.
struct Settings {
  /// The output zero point of layers whose output is stored as their input is.
  static constexpr int as_input = INT32_MIN;

  /// Keeps what `backward` needs.
  bool training = false;
  /// What happens to cells behind the last window.
  Edges edges = Edges::drop;
  bool count_include_pad = true;     ///< averages divide by the taps on input and padding, else by those on input
  int zero_point = 0;                ///< what the number 0 is stored as, in layers of integers
  int output_zero_point = as_input;  ///< the same of the output; that of a pool is always its input's
  Ties ties = Ties::standard;        ///< which of equal maxima get the gradient of GlobalMaxPool: `all` unless given

  /// The zero point of the output.
  constexpr int zero_of_output() const { return output_zero_point == as_input ? zero_point : output_zero_point; }
};
inline constexpr Settings inference{};
inline constexpr Settings training{.training = true};
/// Layers of integers as TensorFlow Lite has them: padding is not counted. Pools need no scale, since their input and
/// output share it.
constexpr Settings quantised(int zero_point, int output_zero_point = Settings::as_input) {
  return {.count_include_pad = false, .zero_point = zero_point, .output_zero_point = output_zero_point};
}

/// The same layer in training mode: `with_training(quantised(-3))`.
constexpr Settings with_training(Settings settings) {
  settings.training = true;
  return settings;
}

/// What gradients of a layer of T are made of. Those of integers are floats, per step of the stored numbers: rounding
/// and clamping count as having the derivative 1 (straight-through), so that what rounds can learn.
template <class T>
using GradientOf = std::conditional_t<std::integral<T>, float, T>;

namespace detail {

template <class In, int spatial_axes>
struct CheckedRank {
  static_assert(In::rank == 2 + spatial_axes,
                "ndpool: the input of a layer has a batch axis, a channel axis and the pooled axes");
  using type = In;
};
template <class In, int spatial_axes>
using Ranked = typename CheckedRank<In, spatial_axes>::type;

/// The window with one more at the end if the edges ask for it.
template <class W, Settings settings>
struct Edged;
template <class... Parts, Settings settings>
struct Edged<Window<Parts...>, settings> {
  using type = std::conditional_t<settings.edges == Edges::ceil, Window<Parts..., CeilMode<true>>, Window<Parts...>>;
};

template <class T>
constexpr bool is_number(int value) {
  return static_cast<int>(static_cast<T>(value)) == value;
}

/// What must hold for a layer to have a way back.
template <class T, Settings settings>
constexpr void check_training() {
  static_assert(settings.training, "ndpool: a layer for inference has no way back: give it the setting `training`");
  static_assert(std::integral<T> || (std::same_as<spec::Accumulator<T>, T> && spec::Differentiable<T>),
                "ndpool: layers of this scalar have no backward");
}

/// What holds for every layer, whatever it computes.
template <class In, class T, Settings settings>
constexpr void check_layer() {
  static_assert(In::count > 0, "ndpool: the input of a tiny layer has no elements");
  static_assert(std::integral<T> || (settings.zero_point == 0 && settings.zero_of_output() == 0),
                "ndpool: zero points are for layers of integers");
  static_assert(!std::integral<T> || (is_number<T>(settings.zero_point) && is_number<T>(settings.zero_of_output())),
                "ndpool: a zero point must be a number that the layer's scalar can hold");
}

}  // namespace detail

}  // namespace ndpool::tiny
