// Which outputs see a cell, and under which tap: windows, read from the side of the cells.
#pragma once

#include "plan/rows.hpp"

#include <limits>

namespace ndpool {

/// One way in which cells are seen: by the output this far away, under this tap.
struct Sight {
  Index output;
  Index tap;
};

/// Sights of one cell; more of them than this are better scattered.
inline constexpr int most_sights = 16;

struct Sights {
  int count = 0;
  Sight of[most_sights];
};

/// How the cells of a windowed axis are seen, by their remainder modulo the stride: cell c by the outputs
/// c / stride + sight.output. In increasing order of the outputs, which is the order of the spec.
struct SightClasses {
  static constexpr Index most = 4;
  Sights of[most];
  Index nearest = 0, span = 0;  ///< the least sight.output, and from there to the greatest
  Index steps = 0;              ///< c / stride is below it

  static bool fit(const Axis& axis) { return !axis.adaptive && axis.stride <= most && largest(axis) <= most_sights; }
  /// Most sights of a class. Taps of a dilated window may all fall into one.
  static Index largest(const Axis& axis) {
    return axis.dilation == 1 ? (axis.kernel + axis.stride - 1) / axis.stride : axis.kernel;
  }

  void find(const Axis& axis) {
    for (Sights& sights : of) sights.count = 0;
    steps = (axis.input + axis.stride - 1) / axis.stride;
    nearest = std::numeric_limits<Index>::max();
    Index farthest = std::numeric_limits<Index>::min();
    for (Index c = 0; c < axis.stride; ++c)
      for (Index tap = axis.kernel - 1; tap >= 0; --tap) {
        const Index distance = c + axis.lo - tap * axis.dilation;
        if (distance % axis.stride != 0) continue;
        of[c].of[of[c].count++] = {distance / axis.stride, tap};
        nearest = std::min(nearest, distance / axis.stride);
        farthest = std::max(farthest, distance / axis.stride);
      }
    span = farthest - nearest;
  }
};

/// Every sight of a class on an axis from every one on the axes before it.
inline Sights product(const Sights& before, const Sights& in_class, Index pitch, Index nearest, Index tap_stride) {
  Sights all;
  for (int b = 0; b < before.count; ++b)
    for (int s = 0; s < in_class.count; ++s)
      all.of[all.count++] = {before.of[b].output + (in_class.of[s].output - nearest) * pitch,
                             before.of[b].tap + in_class.of[s].tap * tap_stride};
  return all;
}

}  // namespace ndpool
