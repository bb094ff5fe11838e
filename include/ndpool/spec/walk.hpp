// The loops of the spec: over the outputs of a pool, over the taps of one window, and the fold of one window.
// They ask the geometry for every bound and know nothing of reducers.
#pragma once

#include <ndpool/geometry.hpp>

namespace ndpool::spec {

/// Calls `visit(position)` for every position of `shape` in row-major order.
template <int Capacity, class Visit>
constexpr void for_each_position(const Extents<Capacity>& shape, Visit visit) {
  if (element_count(shape) == 0) return;
  Extents<Capacity> position = Extents<Capacity>::filled(shape.size(), 0);
  for (;;) {
    visit(position);
    int axis = shape.size() - 1;
    while (axis >= 0 && ++position[axis] == shape[axis]) position[axis--] = 0;
    if (axis < 0) return;
  }
}

/// The window of one output: its taps on every axis.
template <int Capacity>
struct WindowAt {
  /// The geometry that the window is part of.
  const BasicGeometry<Capacity>& geometry;
  /// The taps on each axis.
  Taps taps[Capacity] = {};

  /// The window of an output.
  constexpr WindowAt(const BasicGeometry<Capacity>& of, const Extents<Capacity>& output) : geometry(of) {
    for (int a = 0; a < geometry.rank; ++a) taps[a] = geometry.axes[a].taps(output[a]);
  }

  /// Taps on input cells, and taps that are counted.
  constexpr TapCounts counts() const {
    TapCounts counts;
    for (int a = 0; a < geometry.rank; ++a) {
      counts.real *= taps[a].count;
      counts.counted *= taps[a].count + taps[a].padded;
    }
    return counts;
  }
};

/// A tap on an input cell: where the cell is in the array, and the number of the tap inside the window.
template <int Capacity>
struct Tap {
  /// Where the cell is in the array.
  Extents<Capacity> position;
  /// The number of the tap in the window.
  Index number = 0;
};

/// Calls `visit(tap)` for every real tap of a window in row-major order.
template <int Capacity, class Visit>
constexpr void for_each_tap(const WindowAt<Capacity>& window, Visit visit) {
  const int rank = window.geometry.rank;
  Extents<Capacity> counts;
  for (int a = 0; a < rank; ++a) counts.push_back(window.taps[a].count);
  Tap<Capacity> tap;
  tap.position = counts;
  for_each_position(counts, [&](const Extents<Capacity>& real) {
    tap.number = 0;
    for (int a = 0; a < rank; ++a) {
      const Taps& taps = window.taps[a];
      tap.position[a] = taps.first + real[a] * taps.step;
      tap.number += (taps.first_tap + real[a]) * window.geometry.tap_stride[a];
    }
    visit(static_cast<const Tap<Capacity>&>(tap));
  });
}

/// Where a fold splits `count` taps: at the largest power of two below.
constexpr Index first_half(Index count) {
  Index half = 1;
  while (half < count - half) half *= 2;
  return half;
}

/// Folds the real taps of one window: `leaf(tap)` makes a state of each, `combine(earlier, later)` joins two.
///
/// The order of the combines is part of the meaning, because float sums round: the first axis is folded first and the
/// last axis last, and `n` taps of an axis are split at the largest power of two below n. The split counts taps, not
/// cells, so it is the same at every position of the array; taps that fall on no cell contribute `identity`.
template <class State, int Capacity, class Leaf, class Combine>
class WindowFold {
 public:
  /// Prepares a fold; nothing runs yet.
  constexpr WindowFold(const WindowAt<Capacity>& window, State identity, Leaf leaf, Combine combine)
      : window_(window), identity_(identity), leaf_(leaf), combine_(combine) {}

  /// Folds the window.
  constexpr State operator()() {
    tap_.position = Extents<Capacity>::filled(window_.geometry.rank, 0);
    return fold_axis(window_.geometry.rank - 1, 0);
  }

 private:
  constexpr State fold_axis(int axis, Index tap_number) {
    if (axis >= 0) return fold_taps(axis, tap_number, 0, window_.taps[axis].length);
    tap_.number = tap_number;
    return leaf_(static_cast<const Tap<Capacity>&>(tap_));
  }

  constexpr State fold_taps(int axis, Index tap_number, Index first, Index count) {
    const Taps& taps = window_.taps[axis];
    if (first + count <= taps.first_tap || first >= taps.first_tap + taps.count) return identity_;
    if (count == 1) {
      tap_.position[axis] = taps.first + (first - taps.first_tap) * taps.step;
      return fold_axis(axis - 1, tap_number + first * window_.geometry.tap_stride[axis]);
    }
    const Index half = first_half(count);
    const State earlier = fold_taps(axis, tap_number, first, half);
    const State later = fold_taps(axis, tap_number, first + half, count - half);
    return combine_(earlier, later);
  }

  const WindowAt<Capacity>& window_;
  State identity_;
  Leaf leaf_;
  Combine combine_;
  Tap<Capacity> tap_;
};

template <class State, int Capacity, class Leaf, class Combine>
constexpr State fold_window(const WindowAt<Capacity>& window, State identity, Leaf leaf, Combine combine) {
  return WindowFold<State, Capacity, Leaf, Combine>(window, identity, leaf, combine)();
}

}  // namespace ndpool::spec
