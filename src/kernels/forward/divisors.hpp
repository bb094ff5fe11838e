// What averages divide by.
#pragma once

#include "plan/rows.hpp"

#include <ndpool/reducer.hpp>

#include <cmath>

namespace ndpool {

/// The factor that the taps on one axis add to the divisor of a window.
inline Index counted_taps(const Taps& taps, const AverageOptions& average) {
  return average.count_include_pad ? taps.count + taps.padded : taps.count;
}

/// What the windows of one output row are divided by.
class Divisors {
 public:
  Divisors(const Rows& rows, const AverageOptions& average, const RowCursor& cursor)
      : axis_(rows.horizontal.window), average_(average) {
    for (int v = 0; v < rows.vertical_count; ++v)
      vertical_taps_ *= counted(rows.vertical[v].window.taps(cursor.vertical_position(v)));
  }
  Index of_output(Index output) const {
    return given() ? average_.divisor : vertical_taps_ * counted(axis_.taps(output));
  }
  /// Taps that count on all axes but the last, and on the last.
  Index vertical() const { return vertical_taps_; }
  Index horizontal(Index output) const { return counted(axis_.taps(output)); }

  /// The first output behind `output` that may have another divisor.
  Index end_of_run(Index output) const {
    if (given()) return axis_.output;
    if (axis_.adaptive) return output + 1;
    const Range full = axis_.full_outputs();
    return output >= full.begin && output < full.end ? full.end : output + 1;
  }

 private:
  bool given() const { return average_.divisor != AverageOptions::no_divisor; }
  Index counted(const Taps& taps) const { return counted_taps(taps, average_); }

  const Axis& axis_;
  const AverageOptions& average_;
  Index vertical_taps_ = 1;
};

/// True if multiplying by the reciprocal is dividing: that of a power of two is exact.
template <class T>
bool has_exact_reciprocal(T divisor) {
  int exponent = 0;
  return std::abs(std::frexp(divisor, &exponent)) == T(0.5);
}

/// True if all outputs along an axis are divided by the same number.
inline bool has_one_divisor(const Axis& axis, const AverageOptions& average) {
  if (average.divisor != AverageOptions::no_divisor) return true;
  if (axis.adaptive) return axis.output == 1;
  if (average.count_include_pad) {  // only the overhang of ceil mode does not count
    const Taps last = axis.taps(axis.output - 1);
    return last.count + last.padded == axis.kernel;
  }
  const Range full = axis.full_outputs();
  return full.begin == 0 && full.end == axis.output;
}

/// True if all outputs of a pool are.
inline bool has_one_divisor(const Rows& rows, const AverageOptions& average) {
  for (int v = 0; v < rows.vertical_count; ++v)
    if (!has_one_divisor(rows.vertical[v].window, average)) return false;
  return has_one_divisor(rows.horizontal.window, average);
}

}  // namespace ndpool
