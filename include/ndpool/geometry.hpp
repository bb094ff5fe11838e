// The N-D window of a pool: how a caller describes it, how it is resolved for an array, and what it answers.
// Validation lives here and reports plain values; nothing allocates, throws or needs an operating system.
//
// Every axis of the array has a window. The axes that are not pooled have windows of one cell, so channels-first,
// channels-last, batch and rank are no cases of their own.
#pragma once

#include <ndpool/axis.hpp>
#include <ndpool/extents.hpp>

namespace ndpool {

/// Padding of one axis: cells before and after the input. Converts from one number for both sides.
struct Pad {
  Index lo = 0;  ///< cells before the input
  Index hi = 0;  ///< cells after the input
  /// No padding.
  constexpr Pad() = default;
  /// The same on both sides.
  constexpr Pad(Index both) : lo(both), hi(both) {}
  /// Before and after the input.
  constexpr Pad(Index before, Index after) : lo(before), hi(after) {}
};

/// Padding of all pooled axes: `{1, 1}`, `{{0, 1}, {2, 2}}`, `PaddingRule::same_upper`; empty means none.
template <int Capacity>
class BasicPadding {
 public:
  /// No padding.
  constexpr BasicPadding() = default;
  /// Padding that follows from shape and window.
  constexpr BasicPadding(PaddingRule rule) : rule_(rule) {}
  /// One entry per pooled axis.
  constexpr BasicPadding(std::initializer_list<Pad> pads) {
    for (const Pad& pad : pads) push_back(pad);
  }
  /// Where the padding comes from: `given` if it is the list of this object.
  [[nodiscard]] constexpr PaddingRule rule() const { return rule_; }
  /// The number of axes that have an entry; 0 means no padding, or that of `rule()`.
  [[nodiscard]] constexpr int size() const { return pads_.size(); }
  /// Padding of the i-th pooled axis. Not checked.
  constexpr const Pad& operator[](int i) const { return pads_.data()[i]; }
  /// Appends the padding of one more axis.
  constexpr void push_back(Pad pad) {
    const int last = size();
    pads_.grow(last + 1);
    if (last < Capacity) pads_.data()[last] = pad;
  }

 private:
  PaddingRule rule_ = PaddingRule::given;
  detail::Entries<Pad, Capacity> pads_;
};

/// A sliding window. `kernel` has one entry per pooled axis and so has every other list that is not empty. An empty
/// stride means the kernel, an empty dilation 1, empty padding 0, empty axes the last ones of the array. Entries of
/// `axes` may count from the end (-1 is the last axis); entry i of the lists belongs to entry i of `axes`.
template <int Capacity>
struct BasicWindow {
  Extents<Capacity> kernel = {};        ///< taps on each axis
  Extents<Capacity> stride = {};        ///< cells from window to window
  BasicPadding<Capacity> padding = {};  ///< cells around the input
  Extents<Capacity> dilation = {};      ///< cells from tap to tap
  Extents<Capacity> axes = {};          ///< the pooled axes
  bool ceil_mode = false;               ///< rounds the number of windows up
};

/// Bins of nearly equal length that cover each pooled axis; `output_size` has one entry per pooled axis.
template <int Capacity>
struct BasicAdaptive {
  Extents<Capacity> output_size = {};  ///< bins on each axis
  Extents<Capacity> axes = {};         ///< the pooled axes; the last ones if empty
};

/// One bin per pooled axis. Empty axes mean all of them. `keepdims` keeps the pooled axes with length 1.
template <int Capacity>
struct BasicGlobal {
  Extents<Capacity> axes = {};  ///< the pooled axes; all of them if empty
  bool keepdims = false;        ///< keeps the pooled axes with length 1 instead of dropping them
};

/// Padding of shapes of run-time rank; the others below likewise.
using Padding = BasicPadding<max_rank>;
using Window = BasicWindow<max_rank>;
using Adaptive = BasicAdaptive<max_rank>;
using Global = BasicGlobal<max_rank>;

/// How many taps of one window fall on input cells, and how many on input cells or padding.
struct TapCounts {
  Index real = 1;     ///< taps on input cells
  Index counted = 1;  ///< taps on input cells or padding
};

/// A window resolved for an array, axis by axis in the array's order.
template <int Capacity>
struct BasicGeometry {
  /// One position per axis of the array; shapes, too.
  using Position = Extents<Capacity>;

  int rank = 0;                      ///< axes of the array
  Axis axes[Capacity] = {};          ///< the window of each axis
  Index cell_stride[Capacity] = {};  ///< weight of an input position in a flat index; 0 on axes that are not pooled
  Index tap_stride[Capacity] = {};   ///< weight of a tap in a tap number; 0 on axes that are not pooled

  /// Shape of the input.
  [[nodiscard]] constexpr Position input_shape() const {
    return collect([](const Axis& axis) { return axis.input; });
  }
  /// Shape of the output, with all axes.
  [[nodiscard]] constexpr Position output_shape() const {
    return collect([](const Axis& axis) { return axis.output; });
  }

  /// Product of f over the pooled axes; resolving has made sure that kernels and input lengths do not overflow.
  template <class F>
  constexpr Index pooled_product(F f) const {
    Index product = 1;
    for (int a = 0; a < rank; ++a)
      if (axes[a].pooled) product *= f(axes[a]);
    return product;
  }
  /// Cells of the pooled axes: flat indices are below it.
  constexpr Index cell_count() const {
    return pooled_product([](const Axis& axis) { return axis.input; });
  }
  /// Taps of the largest window: tap numbers are below it.
  constexpr Index tap_count() const {
    return pooled_product([](const Axis& axis) { return axis.kernel; });
  }

  /// True if the tap of an output falls on an input cell.
  constexpr bool is_real_tap(const Position& output, Index tap) const {
    if (tap < 0 || tap >= tap_count()) return false;
    for (int a = 0; a < rank; ++a) {
      if (!axes[a].pooled) continue;
      const Taps taps = axes[a].taps(output[a]);
      const Index on_axis = tap / tap_stride[a] % axes[a].kernel;
      if (on_axis < taps.first_tap || on_axis >= taps.first_tap + taps.count) return false;
    }
    return true;
  }

  /// The flat index, row-major over the unpadded pooled axes, of the input cell under a real tap of an output.
  constexpr Index flat_from_tap(const Position& output, Index tap) const {
    Index flat = 0;
    for (int a = 0; a < rank; ++a) {
      if (!axes[a].pooled) continue;
      const Index on_axis = tap / tap_stride[a] % axes[a].kernel;
      flat += cell_stride[a] * (axes[a].start(output[a]) + on_axis * axes[a].dilation);
    }
    return flat;
  }

  /// The tap of an output that reads the cell with this flat index, or -1 if the window does not see the cell.
  constexpr Index tap_from_flat(const Position& output, Index flat) const {
    if (flat < 0 || flat >= cell_count()) return -1;
    Index tap = 0;
    for (int a = 0; a < rank; ++a) {
      if (!axes[a].pooled) continue;
      const Taps taps = axes[a].taps(output[a]);
      const Index beyond_first = flat / cell_stride[a] % axes[a].input - taps.first;
      if (beyond_first < 0 || beyond_first % taps.step != 0 || beyond_first / taps.step >= taps.count) return -1;
      tap += tap_stride[a] * (taps.first_tap + beyond_first / taps.step);
    }
    return tap;
  }

  /// The input position of the cell with this flat index, in the batch of an output.
  constexpr Position cell_from_flat(const Position& output, Index flat) const {
    Position cell = output;
    for (int a = 0; a < rank; ++a)
      if (axes[a].pooled) cell[a] = flat / cell_stride[a] % axes[a].input;
    return cell;
  }

  /// A fault that names the first axis and output whose window holds no input cell, if there is one.
  constexpr Fault empty_window() const {
    for (int a = 0; a < rank; ++a) {
      const Index output = axes[a].first_empty_output();
      if (output < 0) continue;
      const Axis& axis = axes[a];
      const Index pad = axis.start(output) < 0 ? axis.lo : axis.hi;
      return {Code::empty_window, Argument::padding, a, {pad, output, axis.kernel, axis.stride, axis.input}};
    }
    return {};
  }

 private:
  template <class F>
  constexpr Position collect(F f) const {
    Position values;
    for (int a = 0; a < rank; ++a) values.push_back(f(axes[a]));
    return values;
  }
};

using Geometry = BasicGeometry<max_rank>;

namespace detail {

/// Turns `axes` (or the last `count` axes if it is empty) into axis numbers from 0.
template <int Capacity>
constexpr Fault pooled_axes(const Extents<Capacity>& axes, int count, int rank, Extents<Capacity>& numbers) {
  numbers = {};
  if (count == 0) return {Code::nothing_to_pool, Argument::axes, -1, {rank}};
  if (count > rank) return {Code::too_many_axes, Argument::axes, -1, {count, rank}};
  for (int i = 0; i < count; ++i) {
    const Index given = axes.empty() ? rank - count + i : axes[i];
    const Index number = given < 0 ? given + rank : given;
    if (number < 0 || number >= rank) return {Code::axis_out_of_range, Argument::axes, -1, {given, rank}};
    for (Index earlier : numbers)
      if (earlier == number) return {Code::axis_repeated, Argument::axes, static_cast<int>(number), {number}};
    numbers.push_back(number);
  }
  return {};
}

/// A list that may be left empty must otherwise have one entry per pooled axis.
constexpr Fault check_count(Argument argument, int given, int expected) {
  if (given == 0 || given == expected) return {};
  return {Code::wrong_count, argument, -1, {given, expected}};
}

/// The common part of all geometries: batch axes, then `resolve_axis(entry, axis number, length, axis)` for every entry
/// of `axes`, then the products that must not overflow.
template <int Capacity, class ResolveAxis>
constexpr Fault resolve_axes(const Extents<Capacity>& axes, int count, const Extents<Capacity>& shape,
                             BasicGeometry<Capacity>& geometry, ResolveAxis resolve_axis) {
  if (shape.size() > Capacity) return {Code::rank_too_large, Argument::shape, -1, {shape.size(), Capacity}};
  geometry = {};
  geometry.rank = shape.size();
  for (int a = 0; a < geometry.rank; ++a) {
    if (shape[a] < 0) return {Code::negative, Argument::shape, a, {shape[a]}};
    geometry.axes[a] = batch_axis(shape[a]);
  }
  Extents<Capacity> numbers;
  if (Fault fault = pooled_axes(axes, count, geometry.rank, numbers)) return fault;
  for (int i = 0; i < count; ++i) {
    const int number = static_cast<int>(numbers[i]);
    if (Fault fault = resolve_axis(i, number, shape[number], geometry.axes[number])) return fault;
  }

  Index cells = 1, taps = 1;
  for (int a = geometry.rank - 1; a >= 0; --a) {
    const Axis& axis = geometry.axes[a];
    if (!axis.pooled) continue;
    geometry.cell_stride[a] = cells;
    geometry.tap_stride[a] = taps;
    if (__builtin_mul_overflow(cells, axis.input, &cells)) return {Code::overflow, Argument::shape, a, {axis.input}};
    if (__builtin_mul_overflow(taps, axis.kernel, &taps)) return {Code::overflow, Argument::kernel, a, {axis.kernel}};
  }
  if (element_count(shape) < 0) return {Code::overflow, Argument::shape, -1, {}};
  if (element_count(geometry.output_shape()) < 0) return {Code::overflow, Argument::output_size, -1, {}};
  return {};
}

}  // namespace detail

/// Resolves a description for an array of `shape`: checks it and fills `geometry`. Allocates nothing for up to eight
/// axes, throws nothing: the answer says what is wrong. If the answer is a fault, `geometry` is not to be used.
template <int Capacity>
[[nodiscard]] constexpr Fault resolve(const BasicWindow<Capacity>& window, const Extents<Capacity>& shape,
                                      BasicGeometry<Capacity>& geometry) {
  const int count = window.kernel.size();
  if (count > Capacity) return {Code::rank_too_large, Argument::kernel, -1, {count, Capacity}};
  if (Fault fault = detail::check_count(Argument::stride, window.stride.size(), count)) return fault;
  if (Fault fault = detail::check_count(Argument::padding, window.padding.size(), count)) return fault;
  if (Fault fault = detail::check_count(Argument::dilation, window.dilation.size(), count)) return fault;
  if (Fault fault = detail::check_count(Argument::axes, window.axes.size(), count)) return fault;
  Fault largest_padding{Code::overflow, Argument::padding, -1, {0}};
  const auto resolve_axis = [&](int i, int number, Index length, Axis& axis) {
    AxisWindow one;
    one.kernel = window.kernel[i];
    one.stride = window.stride.empty() ? window.kernel[i] : window.stride[i];
    one.dilation = window.dilation.empty() ? 1 : window.dilation[i];
    if (window.padding.size() > 0) one.lo = window.padding[i].lo, one.hi = window.padding[i].hi;
    one.ceil_mode = window.ceil_mode;
    one.rule = window.padding.rule();
    for (Index pad : {one.lo, one.hi})
      if (pad > largest_padding.values[0]) largest_padding.axis = number, largest_padding.values[0] = pad;
    return windowed_axis(length, one, number, axis);
  };
  const Fault fault = detail::resolve_axes(window.axes, count, shape, geometry, resolve_axis);
  // Without padding there are no more outputs than inputs.
  return fault.code == Code::overflow && fault.argument == Argument::output_size ? largest_padding : fault;
}

/// The same for bins.
template <int Capacity>
[[nodiscard]] constexpr Fault resolve(const BasicAdaptive<Capacity>& adaptive, const Extents<Capacity>& shape,
                                      BasicGeometry<Capacity>& geometry) {
  const int count = adaptive.output_size.size();
  if (count > Capacity) return {Code::rank_too_large, Argument::output_size, -1, {count, Capacity}};
  if (Fault fault = detail::check_count(Argument::axes, adaptive.axes.size(), count)) return fault;
  return detail::resolve_axes(adaptive.axes, count, shape, geometry, [&](int i, int number, Index length, Axis& axis) {
    return adaptive_axis(length, adaptive.output_size[i], number, axis);
  });
}

/// The same for one bin.
template <int Capacity>
[[nodiscard]] constexpr Fault resolve(const BasicGlobal<Capacity>& global, const Extents<Capacity>& shape,
                                      BasicGeometry<Capacity>& geometry) {
  const int count = global.axes.empty() ? shape.size() : global.axes.size();
  return detail::resolve_axes(global.axes, count, shape, geometry, [](int, int number, Index length, Axis& axis) {
    return adaptive_axis(length, 1, number, axis);
  });
}

/// The shape a caller gets back: the pooled axes of a global pool without keepdims are dropped.
template <int Capacity>
constexpr Extents<Capacity> drop_pooled_axes(const BasicGeometry<Capacity>& geometry) {
  Extents<Capacity> kept;
  for (int a = 0; a < geometry.rank; ++a)
    if (!geometry.axes[a].pooled) kept.push_back(geometry.axes[a].output);
  return kept;
}

}  // namespace ndpool
