// What one axis answers when the geometry is known to the compiler: constants, and a table of the windows at padded
// edges.
#pragma once

#include <ndpool/geometry.hpp>
#include <ndpool/view.hpp>

#include <utility>

namespace ndpool::spec::detail::fixed {

/// Windows of up to this many taps are unrolled.
inline constexpr int unrolled_taps = 16;

/// The real taps of a window on one axis, and how many of its taps are on cells or padding.
struct Clip {
  short first = 0;
  short end = 1;
  short counted = 1;
};

/// True if all windows of an axis have all their taps on cells, at equal steps.
constexpr bool is_full(const Axis& axis) {
  if (axis.adaptive) return axis.input % axis.output == 0;
  const Range full = axis.full_outputs();
  return full.begin == 0 && full.end == axis.output;
}

/// True if the cells and taps of a geometry can be counted in the few bits of the loops of fixed.hpp.
template <int Capacity>
constexpr bool can_count(const BasicGeometry<Capacity>& geometry) {
  constexpr Index most_cells = INT32_MAX / 2, most_taps = INT16_MAX;
  if (element_count(geometry.input_shape()) > most_cells) return false;
  for (int a = 0; a < geometry.rank; ++a) {
    const Axis& axis = geometry.axes[a];
    if (axis.input == 0 || axis.kernel > most_taps || axis.output > most_cells) return false;
    if (!axis.adaptive && axis.span(axis.output + 1) > most_cells) return false;
    if (!is_full(axis) && axis.output > most_taps) return false;
  }
  return element_count(geometry.output_shape()) <= most_cells;
}

/// True if the loops of fixed.hpp can pool a geometry: every window must have a cell.
template <int Capacity>
constexpr bool can_walk(const BasicGeometry<Capacity>& geometry) {
  return can_count(geometry) && !geometry.empty_window();
}

template <class G>
inline constexpr int cells = static_cast<int>(element_count(G::geometry.input_shape()));

/// Axis `A` of `G::geometry`. Steps count elements of the packed input.
template <class G, int A>
struct AxisOf {
  static constexpr const Axis& axis = G::geometry.axes[A];
  static constexpr int cell_stride = static_cast<int>(packed_strides(G::geometry.input_shape())[A]);
  static constexpr int kernel = static_cast<int>(axis.kernel);
  static constexpr int tap_step = static_cast<int>(axis.dilation) * cell_stride;
  static constexpr int tap_stride = static_cast<int>(G::geometry.tap_stride[A]);
  static constexpr bool is_full = fixed::is_full(axis);
  static constexpr bool has_unequal_bins = axis.adaptive && !is_full;

  /// Neighbouring axes that are not pooled are walked as one: all but the last of them make a single trip.
  static constexpr int trips = [] {
    const auto merges = [](int a) { return !G::geometry.axes[a].pooled; };
    if (A + 1 < G::geometry.rank && merges(A) && merges(A + 1)) return 1;
    Index product = axis.output;
    for (int a = A - 1; merges(A) && a >= 0 && merges(a); --a) product *= G::geometry.axes[a].output;
    return static_cast<int>(product);
  }();

  /// Offset of the cell under tap 0 of an output; negative where that is padding.
  [[gnu::always_inline]] static constexpr int start(int output) {
    if constexpr (has_unequal_bins)
      return starts.of[output] * cell_stride;
    else
      return static_cast<int>(axis.start(0)) * cell_stride + output * output_step;
  }

  /// The real taps of an output's window.
  [[gnu::always_inline]] static constexpr Clip clip(int output) { return clips.of[entry(output)]; }

 private:
  static constexpr int output_step = static_cast<int>(axis.start(1) - axis.start(0)) * cell_stride;

  // One entry serves all full windows; it stands between those for the windows at either edge.
  static constexpr Range full = axis.adaptive ? Range{} : axis.full_outputs();
  static constexpr int first_full = static_cast<int>(full.begin), end_full = static_cast<int>(full.end);
  static constexpr int entry(int output) {
    return output < first_full ? output : output < end_full ? first_full : output - end_full + first_full + 1;
  }

  template <bool exists, class Entry>
  struct Table {
    Entry of[exists ? static_cast<unsigned long>(entry(static_cast<int>(axis.output) - 1) + 1) : 1UL] = {};
  };
  static constexpr auto clips = [] {
    Table<!is_full, Clip> table;
    for (int output = 0; !is_full && output < axis.output; ++output) {
      const Taps taps = axis.taps(output);
      table.of[entry(output)] = {static_cast<short>(taps.first_tap), static_cast<short>(taps.first_tap + taps.count),
                                 static_cast<short>(taps.count + taps.padded)};
    }
    return table;
  }();
  static constexpr auto starts = [] {
    Table<has_unequal_bins, int> table;
    for (int output = 0; has_unequal_bins && output < axis.output; ++output)
      table.of[output] = static_cast<int>(axis.start(output));
    return table;
  }();
};

/// Taps of a window on the axes from `A` on, and on those before it.
template <class G, int A>
inline constexpr Index taps_from = [] {
  Index taps = 1;
  for (int a = A; a < G::geometry.rank; ++a) taps *= G::geometry.axes[a].kernel;
  return taps;
}();
template <class G, int A>
inline constexpr Index taps_below = taps_from<G, 0> / taps_from<G, A>;

/// Cells from tap 0 of a window to another of its taps.
template <class G>
[[gnu::always_inline]] constexpr int tap_offset(unsigned tap) {
  const auto on_axis = [&]<int A>(std::integral_constant<int, A>) __attribute__((always_inline)) {
    using On = AxisOf<G, A>;
    if constexpr (On::kernel == 1)
      return 0;
    else if constexpr (taps_below<G, A> == 1)  // the first axis with taps
      return static_cast<int>(tap / On::tap_stride) * On::tap_step;
    else
      return static_cast<int>(tap / On::tap_stride % On::kernel) * On::tap_step;
  };
  return [&]<int... A>(std::integer_sequence<int, A...>) __attribute__((always_inline)) {
    return (0 + ... + on_axis(std::integral_constant<int, A>{}));
  }
  (std::make_integer_sequence<int, G::geometry.rank>{});
}

/// True if every cell belongs to one window.
template <class G>
inline constexpr bool tiles = [] {
  for (int a = 0; a < G::geometry.rank; ++a) {
    const Axis& axis = G::geometry.axes[a];
    if (!is_full(axis) || axis.dilation != 1 || axis.start(axis.output) != axis.input ||
        axis.start(1) - axis.start(0) != axis.kernel)
      return false;
  }
  return true;
}();

}  // namespace ndpool::spec::detail::fixed
