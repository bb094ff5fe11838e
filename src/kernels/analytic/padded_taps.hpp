// Which windows of smooth max have padding that takes part in them.
#pragma once

#include "plan/rows.hpp"

namespace ndpool {

class PaddedTaps {
 public:
  PaddedTaps(const Rows& rows, bool adds_zeros, bool single_taps_are_exact)
      : adds_zeros_(adds_zeros),
        is_of_interest_(has_edges(rows) && (adds_zeros || !single_taps_are_exact)),
        full_(rows.horizontal.window.adaptive ? Range{0, 0} : rows.horizontal.window.full_outputs()) {}

  /// Calls f(output, zeros, is single) for the outputs of row j of a block that may have padded taps, or a single one.
  /// The number of zeros is not a product over the axes: it is all taps that count, without the real ones.
  template <class Block, class F>
  void for_each_output(const Block& block, Index j, const F& f) const {
    if (!is_of_interest_) return;
    const Axis& axis = block.axis;
    TapCounts vertical;
    bool is_full = true;
    const auto count = [&](const Taps& taps) {
      vertical.real *= taps.count;
      vertical.counted *= taps.count + taps.padded;
      is_full = is_full && taps.count == taps.length;
    };
    count(block.last.window.taps(block.first + j));
    for (int v = 0; v < block.outer_axes; ++v)
      count(block.rows.vertical[v].window.taps(block.cursor.vertical_position(v)));
    if (axis.adaptive && vertical.counted == vertical.real && vertical.real > 1) return;
    if (!adds_zeros_ && vertical.real > 1) return;
    const bool skips_full = is_full && !axis.adaptive && vertical.real * axis.kernel > 1;
    for (Index output = block.begin; output < block.end; ++output) {
      if (skips_full && output >= full_.begin && output < full_.end) {
        output = full_.end - 1;
        continue;
      }
      const Taps taps = axis.taps(output);
      const Index real = vertical.real * taps.count;
      const Index zeros = adds_zeros_ ? vertical.counted * (taps.count + taps.padded) - real : 0;
      f(output, zeros, real + zeros == 1);
    }
  }

 private:
  /// False if no window has padding, or a single tap.
  static bool has_edges(const Rows& rows) {
    const auto is_full = [](const Axis& axis) {
      return !axis.adaptive && axis.full_outputs().begin == 0 && axis.full_outputs().end == axis.output;
    };
    bool all_full = is_full(rows.horizontal.window) && rows.tap_count > 1;
    for (int v = 0; v < rows.vertical_count; ++v) all_full = all_full && is_full(rows.vertical[v].window);
    return !all_full;
  }

  const bool adds_zeros_, is_of_interest_;
  const Range full_;  ///< outputs of a row without padding
};

}  // namespace ndpool
