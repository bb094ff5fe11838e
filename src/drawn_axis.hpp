// An axis as a picture: the positions from the first padded cell to the end of the last window, and what lies at each.
#pragma once

#include <ndpool/axis.hpp>

namespace ndpool {

/// What a position of an axis is; of several axes, the largest of theirs.
enum class Ground : unsigned char { cell, padding, overhang };

/// The positions that are drawn, counted as input cells are: padding before the input is negative.
constexpr Range drawn_positions(const Axis& axis) {
  const Index padded = axis.input + axis.hi;
  if (axis.adaptive || axis.output == 0) return {-axis.lo, padded};
  return {-axis.lo, detail::larger(padded, axis.start(axis.output - 1) + axis.span(1))};
}

constexpr Ground ground_at(const Axis& axis, Index position) {
  if (position >= axis.input + axis.hi) return Ground::overhang;
  return position < 0 || position >= axis.input ? Ground::padding : Ground::cell;
}

/// The position under a tap of an output, whatever it falls on.
constexpr Index position_of_tap(const Axis& axis, Index output, Index tap) {
  return axis.start(output) + tap * axis.taps(output).step;
}

}  // namespace ndpool
